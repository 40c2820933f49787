/*
 * session/rights.c - asking a server whether its user may.
 */
#include "session/rights.h"

#include <string.h>

#include "base/mem.h"
#include "resp/encode.h"
#include "resp/reply_read.h"
#include "route/hash.h"
#include "session/identity.h"
#include "session/inquiry.h"
#include "session/local.h"
#include "session/server_command.h"

#define MULTI_KNOWN_US 1000000

/* Of a session, from its first question on. */
struct rights {
    uint64_t digest; /* of the command that is asked about, and its words */
    bool has_answer; /* it is here: */
    char *denial;    /* the error; NULL: it may */
    uint64_t multi_until_us; /* MULTI is not asked about again */
};

struct rights_question {
    struct inquiry inquiry;
    bool by_pool;    /* asked as the pool, not as the user itself */
    bool is_lenient; /* without an answer it may */
};

/* --- which commands ------------------------------------------------------------- */

static bool
goes_on(const struct command *command)
{
    return command->id == COMMAND_ID_MONITOR ||
        command->id == COMMAND_ID_CLIENT_TRACKING;
}

/* Does it look at others, or change what they get?  What the proxy tells of itself
 * is for everybody, though servers call it dangerous. */
static bool
concerns_others(const struct command *command)
{
    switch ((int)command->id) {
    case COMMAND_ID_INFO:
    case COMMAND_ID_ROLE:
    case COMMAND_ID_CLIENT_NO_EVICT:
        return false;
    case COMMAND_ID_CONFIG_RESETSTAT: /* our numbers as well */
    case COMMAND_ID_SCRIPT_SHOW:
        return true;
    default:
        return local_is_for(command) &&
            strcmp(command->group, "cluster") != 0 &&
            strstr(command->categories, "@dangerous") != NULL;
    }
}

/* The proxy keeps it to itself until servers are asked for something, and it would
 * be a pity to hear of it then only.  Where nobody can be asked it is taken. */
static bool
is_told_late(const struct command *command)
{
    return command->id == COMMAND_ID_MULTI || command->id == COMMAND_ID_SELECT;
}

/* Whoever had to give the password of the pool has its rights. */
static bool
is_asked_for(const struct session *session, const struct command *command)
{
    if (session->user == LOGIN_POOL &&
        session->pool->settings->redis_auth != NULL)
        return false;
    if (is_told_late(command))
        return session->user != LOGIN_POOL && session->transaction == NULL;
    if (server_command_is(session, command))
        return command->id == COMMAND_ID_CONFIG_RESETSTAT;
    return concerns_others(command);
}

static bool
is_never(const struct session *session, const struct command *command)
{
    return session->user != LOGIN_POOL && goes_on(command);
}

/* --- answers -------------------------------------------------------------------- */

static struct rights *
rights_of(struct session *session)
{
    struct client_info *info = client_info_of(session);

    if (info->rights == NULL)
        info->rights = MEM_NEW(struct rights);
    return info->rights;
}

static void
set_answer(struct rights *rights, char *denial)
{
    mem_free(rights->denial);
    rights->denial = denial;
    rights->has_answer = true;
}

static char *
denial_unasked(bool is_lenient)
{
    if (is_lenient)
        return NULL;
    return mem_printf("CLUSTERDOWN proxy: no server could be asked whether "
                      "this user may, command was not executed");
}

/* In the words of servers, which begin otherwise when they refuse by themselves. */
static char *
denial_of(const struct rights_question *question, struct view reply)
{
    struct reply_item item;

    if (view_equal(reply, VIEW("+OK\r\n")))
        return NULL;
    if (question->inquiry.session->user == LOGIN_POOL &&
        view_begins(reply, VIEW("-NOAUTH ")))
        return mem_printf("NOAUTH Authentication required.");
    if (!reply_next(&reply, &item))
        return denial_unasked(question->is_lenient);
    if (item.type == RESP_BULK && item.text.len > 1)
        return mem_printf("NOPERM %c%.*s", item.text.data[0] | 0x20,
                          (int)item.text.len - 1, item.text.data + 1);
    if (question->is_lenient)
        return NULL;
    struct view line = view_trim_line(item.text);
    return mem_printf("NOPERM proxy: no server could be asked whether this "
                      "user may (%.*s)",
                      (int)MIN(line.len, (size_t)100), line.data);
}

/* May this user, or the pool, not ask that? */
static bool
is_no_answer(struct view reply)
{
    return reply.len > 0 && reply.data[0] == '-';
}

static bool
ask_as_pool(struct rights_question *question)
{
    if (question->by_pool || question->inquiry.session->user == LOGIN_POOL)
        return false;
    question->by_pool = true;
    return inquiry_ask(&question->inquiry, LOGIN_POOL);
}

static bool
on_answer(struct inquiry *inquiry, struct view reply)
{
    struct rights_question *question =
        CONTAINER_OF(inquiry, struct rights_question, inquiry);

    if (inquiry->session == NULL)
        return false;
    if (is_no_answer(reply) && ask_as_pool(question))
        return true;
    set_answer(inquiry->session->info->rights, denial_of(question, reply));
    return false;
}

/* A user whom the server does not take may nothing. */
static void
on_failure(struct inquiry *inquiry, const char *refusal)
{
    struct rights_question *question =
        CONTAINER_OF(inquiry, struct rights_question, inquiry);

    set_answer(inquiry->session->info->rights,
               refusal != NULL && !question->by_pool
                   ? mem_strdup(refusal)
                   : denial_unasked(question->is_lenient));
}

static void
question_free(struct inquiry *inquiry)
{
    mem_free(CONTAINER_OF(inquiry, struct rights_question, inquiry));
}

static const struct inquiry_ops rights_inquiry_ops = {
    .on_answer = on_answer,
    .on_failure = on_failure,
    .free = question_free,
};

/* --- questions ------------------------------------------------------------------ */

static struct extent
words_of(const struct incoming *in)
{
    struct buf words = {0};

    encode_array(&words, in->args.argc + 3);
    encode_bulk_str(&words, "ACL");
    encode_bulk_str(&words, "DRYRUN");
    encode_bulk(&words, identity_name(in->session));
    for (uint32_t i = 0; i < in->args.argc; i++)
        encode_bulk(&words, command_arg(&in->args, i));
    struct extent body = extent_copy(
        loop_chunks(in->session->pool->env->loop), buf_view(&words));
    buf_fini(&words);
    return body;
}

/* The same command is offered again, unless something has come between. */
static uint64_t
digest_of(const struct incoming *in)
{
    return hash_xxh3(view_of(in->bytes.chunk->data + in->bytes.off,
                             in->bytes.len),
                     false);
}

static bool
is_answered(const struct incoming *in)
{
    const struct rights *rights = rights_of(in->session);

    return rights->has_answer && rights->digest == digest_of(in);
}

static uint64_t
now_of(const struct session *session)
{
    return loop_now_us(session->pool->env->loop);
}

/* Of MULTI, since that is said often. */
static bool
is_known(const struct incoming *in)
{
    return in->command->id == COMMAND_ID_MULTI &&
        now_of(in->session) < rights_of(in->session)->multi_until_us;
}

void
rights_forget(struct session *session)
{
    if (session->info == NULL || session->info->rights == NULL)
        return;
    session->info->rights->multi_until_us = 0;
    session->info->rights->has_answer = false;
}

static void
ask(const struct incoming *in)
{
    struct session *session = in->session;
    struct rights *rights = rights_of(session);
    struct rights_question *question = MEM_NEW(struct rights_question);
    bool is_lenient = is_told_late(in->command);

    question->is_lenient = is_lenient;
    rights->digest = digest_of(in);
    rights->has_answer = false; /* one of another may have been left */
    if (!inquiry_begin(&question->inquiry, &rights_inquiry_ops, session,
                       session->user, words_of(in)))
        set_answer(rights, denial_unasked(is_lenient));
}

bool
rights_must_wait(const struct incoming *in)
{
    struct session *session = in->session;

    if (!rights_count(session) || !is_asked_for(session, in->command) ||
        is_never(session, in->command) || is_known(in) || is_answered(in))
        return false;
    if (!TAILQ_EMPTY(&session->queue))
        return true;
    ask(in);
    return !is_answered(in); /* it is, if nobody can be asked */
}

/* --- refusals ------------------------------------------------------------------- */

static void
deny(const struct incoming *in, struct view text)
{
    struct session *session = in->session;
    struct buf *out = &session->pool->env->out;

    out->len = 0;
    encode_error(out, text);
    answer_error(session, in->command, out,
                 &session->pool->stats->errors_noperm);
}

static bool
refuse_never(const struct incoming *in)
{
    /* CLIENT TRACKING OFF */
    if (in->command->id == COMMAND_ID_CLIENT_TRACKING &&
        view_equal_nocase(command_arg(&in->args, 2), VIEW("OFF")))
        return false;
    deny(in, in->command->id == COMMAND_ID_MONITOR
                 ? VIEW("NOPERM proxy: MONITOR is not for clients that have "
                        "logged in as a user of the servers")
                 : VIEW("NOPERM proxy: CLIENT TRACKING is not for clients "
                        "that have logged in as a user of the servers"));
    return true;
}

bool
rights_refuse(const struct incoming *in)
{
    struct session *session = in->session;

    if (!rights_count(session))
        return false;
    if (is_never(session, in->command))
        return refuse_never(in);
    if (!is_asked_for(session, in->command))
        return false;
    if (is_known(in))
        return false;
    struct rights *rights = rights_of(session);
    ASSERT(rights->has_answer);
    rights->has_answer = false;
    if (rights->denial == NULL && in->command->id == COMMAND_ID_MULTI)
        rights->multi_until_us = now_of(session) + MULTI_KNOWN_US;
    if (rights->denial != NULL)
        deny(in, view_str(rights->denial));
    return rights->denial != NULL;
}

void
rights_free(struct session *session)
{
    struct rights *rights =
        session->info == NULL ? NULL : session->info->rights;

    if (likely(rights == NULL))
        return;
    session->info->rights = NULL;
    mem_free(rights->denial);
    mem_free(rights);
}
