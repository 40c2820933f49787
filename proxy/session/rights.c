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
#include "session/local.h"
#include "session/server_command.h"

#define MULTI_KNOWN_US 1000000

/* Of a session, from its first question on. */
struct rights {
    struct rights_question *question; /* on its way, or NULL */
    bool has_answer; /* ... or here: */
    char *denial;    /* the error; NULL: it may */
    uint64_t digest; /* of the command that was asked about, and its words */
    uint64_t multi_until_us; /* MULTI is not asked about again */
};

struct rights_question {
    struct call call;
    struct session *session; /* NULL: it has gone, or waits no longer */
    struct session_pool *pool;
    struct generation *generation; /* a ref */
    struct server *server;
    struct timer timer;
    bool by_pool; /* asked as the pool, not as the user itself */
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

/* In the words of servers, which begin otherwise when they refuse by themselves. */
static char *
denial_of(const struct rights_question *question, struct view reply)
{
    struct reply_item item;

    if (view_equal(reply, VIEW("+OK\r\n")))
        return NULL;
    if (question->session->user == LOGIN_POOL && reply.len > 8 &&
        memcmp(reply.data, "-NOAUTH ", 8) == 0)
        return mem_printf("NOAUTH Authentication required.");
    if (reply_next(&reply, &item) && item.type == RESP_BULK &&
        item.text.len > 1)
        return mem_printf("NOPERM %c%.*s", item.text.data[0] | 0x20,
                          (int)item.text.len - 1, item.text.data + 1);
    if (question->is_lenient)
        return NULL;
    struct view line = view_trim_line(item.text);
    return mem_printf("NOPERM proxy: no server could be asked whether this "
                      "user may (%.*s)",
                      (int)MIN(line.len, (size_t)100), line.data);
}

static char *
denial_unasked(const struct rights_question *question)
{
    if (question->is_lenient)
        return NULL;
    return mem_printf("CLUSTERDOWN proxy: no server could be asked whether "
                      "this user may, command was not executed");
}

/* Its session goes on, if it is still there. */
static void
let_go(struct rights_question *question, char *denial)
{
    struct session *session = question->session;

    timer_stop(&question->timer);
    if (session == NULL) {
        mem_free(denial);
        return;
    }
    question->session = NULL;
    session->info->rights->question = NULL;
    set_answer(session->info->rights, denial);
    session->in_flight--;
    session_resume_later(session);
}

static void
question_free(struct rights_question *question)
{
    chunk_unref(&question->call.body.chunk);
    generation_unref(&question->generation);
    mem_free(question);
}

/* Of whoever can be reached first. */
static bool
send_question(struct rights_question *question)
{
    const struct generation *generation = question->generation;
    const struct session *session = question->session;
    struct lane_key key = {
        .db = session->db,
        .user = question->by_pool ? LOGIN_POOL : session->user,
        .resp = session->resp,
    };

    for (uint32_t i = 0; i < generation->shard_count; i++) {
        question->server = generation_server(generation, i);
        if (server_submit(question->server, key,
                          question->session->lane_number, &question->call))
            return true;
    }
    return false;
}

/* May this user, or the pool, not ask that? */
static bool
is_no_answer(struct view reply)
{
    return reply.data[0] == '-';
}

static bool
ask_as_pool(struct rights_question *question)
{
    if (question->session == NULL || question->by_pool ||
        question->session->user == LOGIN_POOL)
        return false;
    question->by_pool = true;
    return send_question(question);
}

static void
on_reply(struct call *call, const struct reply_piece *piece)
{
    struct rights_question *question =
        CONTAINER_OF(call, struct rights_question, call);
    struct view reply = view_of(piece->chunk->data + piece->off, piece->len);

    if (piece->last && is_no_answer(reply) && ask_as_pool(question))
        return;
    if (question->session != NULL)
        let_go(question, denial_of(question, reply));
    if (piece->last)
        question_free(question);
}

/* A user whom the server does not take may nothing. */
static void
on_lost(struct call *call, enum close_reason why, bool sent UNUSED)
{
    struct rights_question *question =
        CONTAINER_OF(call, struct rights_question, call);

    if (call_was_refused(why) && !question->by_pool)
        let_go(question, mem_strdup(question->server->refusal));
    else
        let_go(question, denial_unasked(question));
    question_free(question);
}

static const struct call_ops rights_call_ops = {
    .on_reply = on_reply,
    .on_lost = on_lost,
};

/* --- questions ------------------------------------------------------------------ */

/* Nobody waits for the answer; if it was not sent, there will be none. */
static void
give_up(struct rights_question *question)
{
    let_go(question, denial_unasked(question));
    if (question->call.state == CALL_WAITING &&
        server_withdraw(question->server, &question->call))
        question_free(question);
}

static void
on_timeout(struct timer *timer UNUSED, void *arg)
{
    struct rights_question *question = arg;

    if (question->call.state == CALL_SENT)
        server_on_expired(question->server, &question->call);
    give_up(question);
}

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
    struct session_pool *pool = session->pool;
    struct rights_question *question = MEM_NEW(struct rights_question);

    call_init(&question->call, &rights_call_ops);
    question->call.body = words_of(in);
    question->session = session;
    question->pool = pool;
    question->generation = generation_ref(session->generation);
    question->is_lenient = is_told_late(in->command);
    timer_init(&question->timer, pool->env->loop, on_timeout, question);
    rights_of(session)->question = question;
    rights_of(session)->digest = digest_of(in);
    session->in_flight++; /* nothing more is taken meanwhile */
    if (send_question(question)) {
        timer_start(&question->timer,
                    (int64_t)pool->settings->request_timeout_ms);
        return;
    }
    let_go(question, denial_unasked(question));
    question_free(question);
}

bool
rights_must_wait(const struct incoming *in)
{
    struct session *session = in->session;

    if (!rights_count(session) || !is_asked_for(session, in->command) ||
        is_never(session, in->command) || is_known(in) || is_answered(in))
        return false;
    if (TAILQ_EMPTY(&session->queue))
        ask(in);
    return true;
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
    if (rights->question != NULL) {
        struct rights_question *question = rights->question;
        session->in_flight--;
        question->session = NULL;
        give_up(question);
    }
    session->info->rights = NULL;
    mem_free(rights->denial);
    mem_free(rights);
}
