/*
 * session/learning.c - asking servers for commands.
 */
#include "session/learning.h"

#include <string.h>

#include "base/mem.h"
#include "command/learnt.h"
#include "resp/encode.h"

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

struct inquiry {
    struct call call;
    struct session *session; /* NULL: it has gone, or waits no longer */
    struct session_pool *pool;
    struct generation *generation; /* a ref */
    struct server *server;
    struct timer timer;
    bool is_cut; /* the reply was too long for an answer */
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
take_reply(struct inquiry *inquiry, struct view reply)
{
    struct learning *learning = get_learning(inquiry->pool);
    struct entry *entry =
        get_entry(learning, view_of(inquiry->name, inquiry->len));
    const struct command *row = NULL;
    struct learnt *learnt = NULL;

    entry->asked_us = loop_now_us(inquiry->pool->env->loop);
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
take_docs(struct inquiry *inquiry, struct view reply)
{
    struct entry *entry = find_entry(get_learning(inquiry->pool),
                                     view_of(inquiry->name, inquiry->len));

    if (entry == NULL)
        return;
    entry->docs_us = loop_now_us(inquiry->pool->env->loop);
    if (entry->learnt != NULL)
        (void)!learnt_take_docs(entry->learnt, reply);
}

/* What was known of it before is not forgotten. */
static void
take_failure(struct inquiry *inquiry)
{
    if (inquiry->is_docs) {
        take_docs(inquiry, VIEW(""));
        return;
    }
    struct learning *learning = get_learning(inquiry->pool);
    struct entry *entry =
        get_entry(learning, view_of(inquiry->name, inquiry->len));

    entry->asked_us = loop_now_us(inquiry->pool->env->loop);
    entry->is_failed = true;
}

/* Its session goes on, if it is still there. */
static void
let_go(struct inquiry *inquiry)
{
    struct session *session = inquiry->session;

    timer_stop(&inquiry->timer);
    if (session == NULL)
        return;
    inquiry->session = NULL;
    session->info->inquiry = NULL;
    session->in_flight--;
    session_resume_later(session);
}

static void
inquiry_free(struct inquiry *inquiry)
{
    let_go(inquiry);
    chunk_unref(&inquiry->call.body.chunk);
    generation_unref(&inquiry->generation);
    mem_free(inquiry);
}

static void
on_reply(struct call *call, const struct reply_piece *piece)
{
    struct inquiry *inquiry = CONTAINER_OF(call, struct inquiry, call);

    if (!piece->last) {
        inquiry->is_cut = true;
        return;
    }
    struct view reply = inquiry->is_cut
        ? VIEW("")
        : view_of(piece->chunk->data + piece->off, piece->len);
    if (inquiry->is_docs)
        take_docs(inquiry, reply);
    else
        take_reply(inquiry, reply);
    inquiry_free(inquiry);
}

static void
on_lost(struct call *call, enum close_reason why UNUSED, bool sent UNUSED)
{
    struct inquiry *inquiry = CONTAINER_OF(call, struct inquiry, call);

    /* Without a session the pool may be about to end. */
    if (inquiry->session != NULL)
        take_failure(inquiry);
    inquiry_free(inquiry);
}

static const struct call_ops inquiry_call_ops = {
    .on_reply = on_reply,
    .on_lost = on_lost,
};

/* --- questions ------------------------------------------------------------------- */

/* Nobody waits for the answer; if it was not sent, there will be none. */
static void
give_up(struct inquiry *inquiry)
{
    let_go(inquiry);
    if (inquiry->call.state == CALL_WAITING &&
        server_withdraw(inquiry->server, &inquiry->call))
        inquiry_free(inquiry);
}

static void
on_timeout(struct timer *timer UNUSED, void *arg)
{
    struct inquiry *inquiry = arg;

    take_failure(inquiry);
    if (inquiry->call.state == CALL_SENT)
        server_on_expired(inquiry->server, &inquiry->call);
    give_up(inquiry);
}

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

/* Whoever can be reached first. */
static bool
send_question(struct inquiry *inquiry)
{
    const struct generation *generation = inquiry->generation;
    struct session *session = inquiry->session;
    struct lane_key key = {.db = session->db, .resp = session->resp};

    for (uint32_t i = 0; i < generation->shard_count; i++) {
        inquiry->server = generation_server(generation, i);
        if (server_submit(inquiry->server, key, session->lane_number,
                          &inquiry->call))
            return true;
    }
    return false;
}

static bool
ask(struct session *session, struct view name, bool is_docs)
{
    struct session_pool *pool = session->pool;
    struct inquiry *inquiry = MEM_NEW(struct inquiry);

    call_init(&inquiry->call, &inquiry_call_ops);
    inquiry->call.body = question_of(pool, is_docs ? "DOCS" : "INFO", name);
    inquiry->is_docs = is_docs;
    inquiry->session = session;
    inquiry->pool = pool;
    inquiry->generation = generation_ref(session->generation);
    inquiry->len = name.len;
    memcpy(inquiry->name, name.data, name.len);
    timer_init(&inquiry->timer, pool->env->loop, on_timeout, inquiry);
    cell_inc(&pool->stats->command_questions);
    if (!send_question(inquiry)) {
        inquiry->session = NULL;
        inquiry_free(inquiry);
        return false;
    }
    client_info_of(session)->inquiry = inquiry;
    session->in_flight++; /* nothing more is taken meanwhile */
    timer_start(&inquiry->timer, (int64_t)pool->settings->request_timeout_ms);
    return true;
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

/* False: of such a name nobody is asked.  Else it is there in lower case. */
static bool
take_name(const struct session *session, struct view *name,
          char lower[LEARNING_NAME_MAX])
{
    if (name->len == 0 || name->len > LEARNING_NAME_MAX ||
        !session->authenticated || !session->pool->settings->learn_commands)
        return false;
    for (size_t i = 0; i < name->len; i++) {
        char c = name->data[i];
        lower[i] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    *name = view_of(lower, name->len);
    return true;
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

void
learning_abandon(struct session *session)
{
    struct inquiry *inquiry =
        session->info == NULL ? NULL : session->info->inquiry;

    if (likely(inquiry == NULL))
        return;
    session->info->inquiry = NULL;
    session->in_flight--;
    inquiry->session = NULL;
    give_up(inquiry);
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
