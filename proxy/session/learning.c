/*
 * session/learning.c - asking servers for commands.
 */
#include "session/learning.h"

#include <string.h>

#include "base/mem.h"
#include "command/learnt.h"
#include "resp/encode.h"
#include "session/inquiry.h"

#define BUCKETS 256

/* One name, in lower case. */
struct entry {
    struct entry *next;             /* of its bucket */
    TAILQ_ENTRY(entry) link;        /* of the unknown ones */
    const struct command *command;  /* NULL: servers do not know it */
    struct learnt *learnt;          /* NULL: it is a row of ours, or unknown */
    uint64_t asked_us;
    uint64_t docs_us;               /* when its documents were asked for, or 0 */
    bool is_failed;                 /* nobody could be asked the last time */
    uint8_t len;
    char name[LEARNING_NAME_MAX];
};

/* A row that a later answer has replaced. */
struct retired {
    struct retired *next;
    struct learnt *learnt;
};

struct learning {
    struct entry *buckets[BUCKETS];
    TAILQ_HEAD(, entry) unknown; /* the oldest first */
    struct retired *retired;
    uint32_t unknown_count;
    uint32_t known_count; /* retired ones included */
};

struct learning_question {
    struct inquiry inquiry;
    bool is_docs; /* it is COMMAND DOCS */
    size_t len;
    char name[LEARNING_NAME_MAX];
};

/* --- names ----------------------------------------------------------------------- */

static struct entry **
bucket_of(struct learning *learning, struct view name)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < name.len; i++)
        hash = (hash ^ (unsigned char)name.data[i]) * 16777619u;
    return &learning->buckets[(hash ^ hash >> 16) % BUCKETS];
}

static struct entry *
find_entry(struct learning *learning, struct view name)
{
    struct entry *entry = *bucket_of(learning, name);

    while (entry != NULL &&
           !view_equal(view_of(entry->name, entry->len), name))
        entry = entry->next;
    return entry;
}

static void
forget_unknown(struct learning *learning, struct entry *entry)
{
    TAILQ_REMOVE(&learning->unknown, entry, link);
    learning->unknown_count--;
}

static void
remember_unknown(struct learning *learning, struct entry *entry)
{
    TAILQ_INSERT_TAIL(&learning->unknown, entry, link);
    learning->unknown_count++;
}

static void
free_entry(struct learning *learning, struct entry *entry)
{
    struct entry **at = bucket_of(learning, view_of(entry->name, entry->len));

    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
    mem_free(entry);
}

/* New ones are unknown. */
static struct entry *
get_entry(struct learning *learning, struct view name)
{
    struct entry *entry = find_entry(learning, name);

    if (entry != NULL)
        return entry;
    if (learning->unknown_count >= LEARNING_UNKNOWN_MAX) {
        entry = TAILQ_FIRST(&learning->unknown);
        forget_unknown(learning, entry);
        free_entry(learning, entry);
    }
    struct entry **bucket = bucket_of(learning, name);
    entry = MEM_NEW(struct entry);
    entry->len = (uint8_t)name.len;
    memcpy(entry->name, name.data, name.len);
    entry->next = *bucket;
    *bucket = entry;
    remember_unknown(learning, entry);
    return entry;
}

/* Requests may point at its row. */
static void
retire(struct learning *learning, struct entry *entry)
{
    if (entry->learnt == NULL)
        return;
    struct retired *retired = MEM_NEW(struct retired);
    retired->learnt = entry->learnt;
    retired->next = learning->retired;
    learning->retired = retired;
    entry->learnt = NULL;
}

static void
set_command(struct learning *learning, struct entry *entry,
            const struct command *command)
{
    if (entry->command == NULL && command != NULL)
        forget_unknown(learning, entry);
    else if (entry->command != NULL && command == NULL)
        remember_unknown(learning, entry);
    entry->command = command;
}

static struct learning *
get_learning(struct session_pool *pool)
{
    if (pool->learning == NULL) {
        pool->learning = MEM_NEW(struct learning);
        TAILQ_INIT(&pool->learning->unknown);
    }
    return pool->learning;
}

void
learning_free(struct learning **learningp)
{
    struct learning *learning = *learningp;

    *learningp = NULL;
    if (learning == NULL)
        return;
    for (size_t i = 0; i < BUCKETS; i++) {
        struct entry *entry;
        while ((entry = learning->buckets[i]) != NULL) {
            learning->buckets[i] = entry->next;
            retire(learning, entry);
            mem_free(entry);
        }
    }
    while (learning->retired != NULL) {
        struct retired *retired = learning->retired;
        learning->retired = retired->next;
        learnt_free(&retired->learnt);
        mem_free(retired);
    }
    mem_free(learning);
}

/* --- answers --------------------------------------------------------------------- */

static void
take_new(struct learning *learning, struct entry *entry, struct learnt *learnt,
         struct view reply)
{
    bool is_same =
        entry->learnt != NULL && learnt_is_of(entry->learnt, reply);

    if (is_same || learning->known_count >= LEARNING_MAX) {
        learnt_free(&learnt);
        return;
    }
    learning->known_count++;
    retire(learning, entry);
    entry->learnt = learnt;
    set_command(learning, entry, &learnt->command);
}

static void
take_reply(struct learning_question *question, struct view reply)
{
    struct session_pool *pool = question->inquiry.pool;
    struct learning *learning = get_learning(pool);
    struct entry *entry =
        get_entry(learning, view_of(question->name, question->len));
    const struct command *row = NULL;
    struct learnt *learnt = NULL;

    entry->asked_us = loop_now_us(pool->env->loop);
    entry->is_failed = false;
    switch (learnt_read(reply, &row, &learnt)) {
    case LEARNT_NEW:
        take_new(learning, entry, learnt, reply);
        break;
    case LEARNT_RENAMED:
        retire(learning, entry);
        set_command(learning, entry, row);
        break;
    case LEARNT_UNKNOWN:
    case LEARNT_BAD:
        retire(learning, entry);
        set_command(learning, entry, NULL);
        break;
    }
}

static void
take_docs(struct learning_question *question, struct view reply)
{
    struct session_pool *pool = question->inquiry.pool;
    struct entry *entry = find_entry(get_learning(pool),
                                     view_of(question->name, question->len));

    if (entry == NULL)
        return;
    entry->docs_us = loop_now_us(pool->env->loop);
    if (entry->learnt != NULL)
        (void)!learnt_take_docs(entry->learnt, reply);
}

/* What was known of it before is not forgotten. */
static void
take_failure(struct learning_question *question)
{
    struct session_pool *pool = question->inquiry.pool;
    struct entry *entry = get_entry(get_learning(pool),
                                    view_of(question->name, question->len));

    entry->asked_us = loop_now_us(pool->env->loop);
    entry->is_failed = true;
}

static bool
on_answer(struct inquiry *inquiry, struct view reply)
{
    struct learning_question *question =
        CONTAINER_OF(inquiry, struct learning_question, inquiry);

    if (question->is_docs)
        take_docs(question, reply);
    else
        take_reply(question, reply);
    return false;
}

static void
on_failure(struct inquiry *inquiry, const char *refusal UNUSED)
{
    struct learning_question *question =
        CONTAINER_OF(inquiry, struct learning_question, inquiry);

    if (question->is_docs)
        take_docs(question, VIEW(""));
    else
        take_failure(question);
}

static void
question_free(struct inquiry *inquiry)
{
    mem_free(CONTAINER_OF(inquiry, struct learning_question, inquiry));
}

static const struct inquiry_ops learning_inquiry_ops = {
    .on_answer = on_answer,
    .on_failure = on_failure,
    .free = question_free,
};

/* --- questions ------------------------------------------------------------------- */

static struct extent
question_of(struct session_pool *pool, const char *word, struct view name)
{
    struct buf text = {0};

    encode_array(&text, 3);
    encode_bulk_str(&text, "COMMAND");
    encode_bulk_str(&text, word);
    encode_bulk(&text, name);
    struct extent body =
        extent_copy_alone(loop_chunks(pool->env->loop), buf_view(&text));
    buf_fini(&text);
    return body;
}

static bool
ask(struct session *session, struct view name, bool is_docs)
{
    struct session_pool *pool = session->pool;
    struct learning_question *question = MEM_NEW(struct learning_question);

    question->is_docs = is_docs;
    question->len = name.len;
    memcpy(question->name, name.data, name.len);
    cell_inc(&pool->stats->command_questions);
    return inquiry_begin(&question->inquiry, &learning_inquiry_ops, session,
                         LOGIN_POOL,
                         question_of(pool, is_docs ? "DOCS" : "INFO", name));
}

static bool
is_fresh(const struct session *session, const struct entry *entry)
{
    uint64_t age_us =
        loop_now_us(session->pool->env->loop) - entry->asked_us;

    if (entry->command == NULL && entry->is_failed)
        return age_us < LEARNING_FAILED_US;
    if (entry->command == NULL || entry->is_failed)
        return age_us < LEARNING_DOUBT_US;
    return age_us < LEARNING_KEEP_US;
}

static enum learning_result
told(const struct entry *entry, const struct command **command)
{
    *command = entry->command;
    if (entry->command != NULL)
        return LEARNING_KNOWN;
    return entry->is_failed ? LEARNING_FAILED : LEARNING_UNKNOWN;
}

/* False: no command has such a name. */
static bool
lower_name(struct view *name, char lower[LEARNING_NAME_MAX])
{
    if (name->len == 0 || name->len > LEARNING_NAME_MAX)
        return false;
    for (size_t i = 0; i < name->len; i++) {
        char c = name->data[i];
        lower[i] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    *name = view_of(lower, name->len);
    return true;
}

/* False: of such a name nobody is asked.  Else it is there in lower case. */
static bool
take_name(const struct session *session, struct view *name,
          char lower[LEARNING_NAME_MAX])
{
    return session->authenticated && session->pool->settings->learn_commands &&
        lower_name(name, lower);
}

enum learning_result
learning_find(struct session *session, struct view name,
              const struct command **command)
{
    char lower[LEARNING_NAME_MAX];

    if (!take_name(session, &name, lower))
        return LEARNING_UNKNOWN;
    struct entry *entry = find_entry(get_learning(session->pool), name);
    if (entry != NULL && is_fresh(session, entry))
        return told(entry, command);
    if (!TAILQ_EMPTY(&session->queue) || ask(session, name, false))
        return LEARNING_ASKED;
    return entry == NULL ? LEARNING_FAILED : told(entry, command);
}

enum learning_result
learning_find_docs(struct session *session, struct view name)
{
    uint64_t now_us = loop_now_us(session->pool->env->loop);
    char lower[LEARNING_NAME_MAX];

    if (!take_name(session, &name, lower))
        return LEARNING_UNKNOWN;
    const struct entry *entry = find_entry(get_learning(session->pool), name);
    if (entry == NULL || entry->learnt == NULL)
        return LEARNING_UNKNOWN;
    if (entry->learnt->docs != NULL ||
        (entry->docs_us != 0 && now_us - entry->docs_us < LEARNING_DOUBT_US))
        return LEARNING_KNOWN;
    if (!TAILQ_EMPTY(&session->queue) || ask(session, name, true))
        return LEARNING_ASKED;
    return LEARNING_FAILED;
}

const struct command *
learning_known(const struct session_pool *pool, const struct command_args *args)
{
    const struct command *command = command_find_words(args);
    struct view name = command_arg(args, 0);
    char lower[LEARNING_NAME_MAX];

    if (likely(command != NULL) || pool->learning == NULL ||
        !lower_name(&name, lower))
        return command;
    const struct entry *entry = find_entry(pool->learning, name);
    return entry == NULL ? NULL : command_of_words(entry->command, args);
}

/* --- all of them ------------------------------------------------------------------ */

static int
by_name(const void *a, const void *b)
{
    const struct learnt *const *x = a, *const *y = b;

    return strcmp((*x)->command.name, (*y)->command.name);
}

const struct learnt **
learning_all(const struct session_pool *pool, size_t *count)
{
    const struct learning *learning = pool->learning;
    const struct learnt **all;

    *count = 0;
    if (learning == NULL)
        return NULL;
    all = mem_array(LEARNING_MAX, sizeof(struct learnt *));
    for (size_t i = 0; i < BUCKETS; i++) {
        const struct entry *entry = learning->buckets[i];
        for (; entry != NULL; entry = entry->next) {
            if (entry->learnt != NULL &&
                entry->learnt->command.class != CLASS_REFUSE)
                all[(*count)++] = entry->learnt;
        }
    }
    if (*count > 1)
        qsort(all, *count, sizeof(struct learnt *), by_name);
    return all;
}
