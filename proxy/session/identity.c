/*
 * session/identity.c - asking servers who a client is.
 */
#include "session/identity.h"

#include "resp/encode.h"
#include "session/body_words.h"
#include "session/deadline.h"
#include "session/holding.h"
#include "session/local_priv.h"
#include "session/note.h"
#include "session/retry.h"
#include "session/rights.h"
#include "session/sentence.h"
#include "session/trail.h"
#include "session/wait.h"

/* --- who it is ------------------------------------------------------------------ */

uint16_t
identity_number(const struct session *session)
{
    return likely(session->user != LOGIN_ASKING) ? session->user
                                                 : session->info->user_before;
}

struct view
identity_name(const struct session *session)
{
    uint16_t number = identity_number(session);

    return number == LOGIN_POOL
        ? VIEW(LOCAL_DEFAULT_USER)
        : buf_view(&login_get(session->pool->pool, number)->name);
}

void
identity_leave(struct session *session)
{
    uint16_t number = identity_number(session);

    session->user = LOGIN_POOL;
    login_leave(session->pool->pool, number);
}

/* Lanes of its own are those of the one that it was. */
void
identity_set(struct session *session, uint16_t number)
{
    if (number == identity_number(session)) {
        session->user = number;
        login_leave(session->pool->pool, number); /* it is counted already */
        return;
    }
    wait_note_move(session);
    wait_leave_lanes(session);
    trail_note_user(session);
    rights_forget(session);
    identity_leave(session);
    session->user = number;
}

void
identity_note_select(struct session *session)
{
    struct pool *pool = session->pool->pool;

    if (likely(session->user == LOGIN_POOL))
        return;
    const struct login *login = login_get(pool, session->user);
    if (!login->keeps_database)
        return;
    uint16_t number = login_join(pool, buf_view(&login->name),
                                 buf_view(&login->password), false);
    if (number != LOGIN_POOL)
        identity_set(session, number);
}

/* What a server was asked in its place is of no use any more. */
static void
put_words_back(struct request *request)
{
    if (request->refusal.chunk == NULL || request->call.state != CALL_IDLE)
        return;
    chunk_unref(&request->call.body.chunk);
    request->call.body = request->refusal;
    request->refusal = (struct extent){0};
}

void
identity_answered(struct request *request)
{
    struct session *session = request->session;

    if (likely(session->user != LOGIN_ASKING))
        return;
    session->user = session->info->user_before;
    put_words_back(request);
}

/* --- the answer ----------------------------------------------------------------- */

/* An error is counted as one, by its code. */
static void
pass_on(struct request *request, struct view reply)
{
    struct session_stats *stats = request->pool->stats;

    request->reply_type = reply.data[0];
    if (request->reply_type == '-') {
        cell_inc(&stats->errors_noauth);
        request->error = error_stats_find(&stats->errors, reply);
    }
    request_answer(request, reply);
}

/* What was sent is AUTH, maybe without a name. */
static uint16_t
join(const struct request *request)
{
    struct request_scan scan;
    struct command_args args = body_words(&scan, &request->call.body);
    struct view user =
        args.argc == 3 ? command_arg(&args, 1) : VIEW(LOCAL_DEFAULT_USER);
    bool has_database =
        request->pool->settings->redis_db + request->session->db != 0;
    uint16_t number =
        login_join(request->pool->pool, user,
                   command_arg(&args, args.argc - 1), has_database);

    request_scan_fini(&scan);
    return number;
}

/* HELLO has more to say. */
static void
answer_hello(struct request *request)
{
    struct request_scan scan;
    struct buf out = {0};

    put_words_back(request);
    struct command_args args = body_words(&scan, &request->call.body);
    local_hello_known(request->session, request->command, &args, &out);
    request_scan_fini(&scan);
    pass_on(request, buf_view(&out));
    buf_fini(&out);
}

static void
let_in(struct request *request, struct view reply)
{
    struct session *session = request->session;
    uint16_t number = join(request);

    if (number == LOGIN_POOL) {
        request_fail(request, VIEW("ERR proxy: too many users are logged in"));
        return;
    }
    identity_set(session, number);
    session->authenticated = true;
    if (request->command->id == COMMAND_ID_HELLO)
        answer_hello(request);
    else
        pass_on(request, reply);
}

/* --- what lanes say ------------------------------------------------------------- */

static void
on_reply(struct call *call, const struct reply_piece *piece)
{
    struct request *request = CONTAINER_OF(call, struct request, call);
    struct view reply = view_of(piece->chunk->data + piece->off, piece->len);
    bool is_wanted = request->session != NULL && !request->done;

    if (is_wanted &&
        attempt_is_refused(request, &request->attempt, request->shard, piece)) {
        request_unref(&request);
        return;
    }
    /* It is a line; of anything else the first piece is more than enough. */
    if (is_wanted && reply.data[0] == '+' && piece->last)
        let_in(request, reply);
    else if (is_wanted && reply.data[0] == '-')
        pass_on(request, reply);
    else if (is_wanted)
        request_fail(request, VIEW("ERR proxy: odd answer to AUTH"));
    if (piece->last)
        request_unref(&request);
}

static void
on_lost(struct call *call, enum close_reason why, bool sent)
{
    struct request *request = CONTAINER_OF(call, struct request, call);

    if (request->session == NULL || request->done) {
        request_unref(&request);
        return;
    }
    /* To have said it twice does no harm. */
    if (call_was_refused(why)) {
        request_fail(request, request_text_refused(request, request->shard));
    } else if (holding_take_loss(request, &request->attempt, request->shard,
                                 false)) {
        /* it goes again, in its time */
    } else if (retry_may_resend(request, why, false)) {
        note_resend(request, why, sent);
        request->tries++;
        request_submit(request);
    } else {
        request_fail_unreachable(request);
    }
    request_unref(&request);
}

static const struct call_ops identity_call_ops = {
    .on_reply = on_reply,
    .on_lost = on_lost,
};

/* --- the question --------------------------------------------------------------- */

static struct extent
auth_words(const struct incoming *in, struct view user, struct view password)
{
    struct buf words = {0};

    encode_array(&words, 3);
    encode_bulk_str(&words, "AUTH");
    encode_bulk(&words, user);
    encode_bulk(&words, password);
    struct extent body = extent_copy(
        loop_chunks(in->session->pool->env->loop), buf_view(&words));
    buf_fini(&words);
    return body;
}

/* Users are the same everywhere; so whoever is well is asked. */
static uint32_t
choose_shard(const struct generation *generation)
{
    for (uint32_t i = 0; i < generation->shard_count; i++) {
        const struct server *server = generation_server(generation, i);
        if (!server_is_off(server) && server->failures == 0 &&
            !gate_holds(server->gate))
            return i;
    }
    return generation->shard_count > 0 ? 0 : ROUTE_NONE;
}

void
identity_ask(const struct incoming *in, struct view user, struct view password)
{
    struct session *session = in->session;
    struct request *request = request_new(session, in->command);

    client_info_of(session)->user_before = session->user;
    session->user = LOGIN_ASKING;
    session->barrier = true;
    call_init(&request->call, &identity_call_ops);
    if (in->command->id == COMMAND_ID_HELLO) {
        request->call.body = auth_words(in, user, password);
        request->refusal = in->bytes;
    } else {
        request->call.body = in->bytes;
    }
    chunk_ref(in->bytes.chunk);
    request->shard = choose_shard(session->generation);
    request_start_deadline(request);
    if (unlikely(request->shard == ROUTE_NONE))
        holding_take_unserved(request, &request->attempt);
    else
        request_submit(request);
}
