/*
 * session/carrying.c - step by step, each over the shared lane of its shard.
 */
#include "session/carrying.h"

#include "base/mem.h"
#include "resp/encode.h"
#include "session/deadline.h"
#include "session/holding.h"
#include "session/note.h"
#include "session/replica_read.h"
#include "session/retry.h"
#include "session/sentence.h"
#include "session/session.h"
#include "session/wait.h"

struct carrying {
    struct carry *carry;
    const struct command *command; /* the client's */
    struct extent words;           /* the client's; a ref */
    struct lane_key lane_key;      /* for who has left */
    struct chain reply;            /* to the step, as far as it is here */
};

static void
drop_reply(struct request *request)
{
    struct chain *reply = &request->carrying->reply;

    request_discharge(request, reply->bytes);
    chain_clear(reply);
}

/* --- a step -------------------------------------------------------------------- */

static const struct call_ops carrying_call_ops;

/* Write it into a chunk; the ref is the call's. */
static void
encode_step(struct request *request)
{
    struct carry *carry = request->carrying->carry;
    size_t size = carry_encoded_max(carry);
    struct chunk *chunk =
        chunk_new_exact(loop_chunks(request->pool->env->loop), size);
    struct buf room = {.data = chunk->data, .cap = size};

    carry_encode(carry, &room);
    ASSERT(room.data == chunk->data);
    chunk->fill = (uint32_t)room.len;
    chunk_unref(&request->call.body.chunk);
    call_init(&request->call, &carrying_call_ops);
    request->call.body = (struct extent){chunk, 0, chunk->fill};
}

static void
send_step(struct request *request)
{
    struct session *session = request->session;
    struct view key = carry_key(request->carrying->carry);
    struct place place = request_place(session, key);

    /* Nothing else of the session is under way. */
    session->db = carry_database(request->carrying->carry);
    request_route_anew(request, session->generation);
    request->command = carry_command(request->carrying->carry);
    request->attempt = (struct attempt){.slot = (uint16_t)place.slot};
    request->shard = place.shard;
    request->tries = 0;
    encode_step(request);
    if (likely(place.shard != ROUTE_NONE))
        request_submit(request);
    else
        holding_take_unserved(request, &request->attempt);
}

/* An error is counted as one, by its code. */
static void
answer_client(struct request *request, struct view answer)
{
    request->reply_type = answer.data[0];
    if (request->reply_type == '-')
        request->error =
            error_stats_find(&request->pool->stats->errors, answer);
    request_answer(request, answer);
}

static void
take_reply(struct request *request)
{
    struct carrying *carrying = request->carrying;
    struct buf answer = {0};

    wait_note_write(request->session, request->command,
                    request_server(request));
    if (request->session->db != carrying->lane_key.db)
        wait_note_elsewhere(request->session, request_server(request)->mark);
    bool is_over = carry_take(carrying->carry, &carrying->reply, &answer);
    drop_reply(request);
    if (is_over)
        answer_client(request, buf_view(&answer));
    else
        send_step(request);
    buf_fini(&answer);
}

/* --- without its client ---------------------------------------------------------- */

/* What has been written is removed where it was. */
static void
remove_alone(struct request *request)
{
    struct carrying *carrying = request->carrying;
    const struct generation *generation = request->generation;
    struct view key = carry_key(carrying->carry);
    uint32_t shard = pool_is_cluster(generation->settings)
        ? generation_slot_server(generation, route_slot(generation->route, key))
        : route_find(generation->route, key, &request->pool->pool->dice);

    if (shard == ROUTE_NONE)
        return;
    request->shard = shard;
    encode_step(request);
    request->refs++; /* the call's */
    if (!server_submit(request_server(request), carrying->lane_key, 0,
                       &request->call))
        request->refs--;
}

/* A reply that nobody waits for; only that to what was written matters. */
static void
take_alone(struct request *request, const struct reply_piece *piece)
{
    struct carrying *carrying = request->carrying;
    struct buf answer = {0};

    note_discard(request, request->shard);
    if (request->done || carry_is_half_done(carrying->carry) ||
        piece->size != piece->len)
        return;
    chain_push(&carrying->reply, piece->chunk, piece->off, piece->len);
    if (!carry_take(carrying->carry, &carrying->reply, &answer) &&
        carry_is_half_done(carrying->carry))
        remove_alone(request);
    chain_clear(&carrying->reply);
    buf_fini(&answer);
}

/* --- what lanes say ------------------------------------------------------------- */

/* False: it is too large, and that has been answered. */
static bool
keep(struct request *request, const struct reply_piece *piece)
{
    chain_push(&request->carrying->reply, piece->chunk, piece->off, piece->len);
    request_charge(request, piece->len);
    if (!session_is_over_limit(request->session)) {
        request_note_progress(request);
        return true;
    }
    request_fail(request,
                 VIEW("ERR proxy: the value is larger than "
                      "client_output_limit allows"));
    return false;
}

static void
on_reply(struct call *call, const struct reply_piece *piece)
{
    struct request *request = CONTAINER_OF(call, struct request, call);

    if (request->session == NULL || request->done) {
        if (piece->last) {
            take_alone(request, piece);
            request_unref(&request);
        }
        return;
    }
    if (attempt_is_refused(request, &request->attempt, request->shard, piece)) {
        request_unref(&request);
        return;
    }
    if (keep(request, piece) && piece->last)
        take_reply(request);
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
    drop_reply(request);
    if (call_was_refused(why))
        request_fail(request, request_text_refused(request, request->shard));
    else
        retry_take_loss(request, why, sent);
    request_unref(&request);
}

static const struct call_ops carrying_call_ops = {
    .on_reply = on_reply,
    .on_lost = on_lost,
};

/* --- its beginning and its end ----------------------------------------------------- */

void
carrying_begin(struct request *request, struct carry *carry,
               struct extent words)
{
    struct session *session = request->session;
    struct carrying *carrying = MEM_NEW(struct carrying);

    carrying->carry = carry;
    carrying->command = request->command;
    carrying->words = words;
    chunk_ref(words.chunk);
    carrying->lane_key = attempt_lane_key(session, &request->attempt);
    login_ref(session->pool->pool, carrying->lane_key.user);
    request->carrying = carrying;
    session->barrier = true;
    cell_inc(&session->pool->stats->requests_carried);
    request->refs++; /* the first step may end it */
    send_step(request);
    request_unref(&request);
}

static void
start(const struct incoming *in, struct carry *carry)
{
    struct request *request = request_new(in->session, in->command);

    request_start_deadline(request);
    carrying_begin(request, carry, in->bytes);
}

static void
say_what_is_wrong(const struct incoming *in, const char *error)
{
    struct buf *out = &in->session->pool->env->out;

    out->len = 0;
    encode_error(out, view_str(error));
    if (!in->session->reply_off)
        request_answer_now(in->session, in->command, buf_view(out));
}

bool
carrying_try(const struct incoming *in)
{
    const struct session *session = in->session;
    const struct pool_settings *settings = session->pool->settings;
    const char *error;

    if (!settings->carry_values || !carry_is_for(in->command))
        return false;
    struct carry *carry = carry_new(in->command, &in->args, session->db,
                                    settings->databases, &error);
    if (carry == NULL)
        say_what_is_wrong(in, error);
    else
        start(in, carry);
    return true;
}

void
carrying_end(struct request *request)
{
    struct carrying *carrying = request->carrying;

    drop_reply(request);
    request->command = carrying->command;
    request->session->db = carrying->lane_key.db;
    if (request->call.state == CALL_WAITING)
        return; /* its lane needs what it is to write */
    chunk_unref(&request->call.body.chunk);
    request->call.body = carrying->words; /* for those who look at it later */
    chunk_ref(carrying->words.chunk);
}

void
carrying_explain(struct request *request, struct buf *line)
{
    struct carrying *carrying = request->carrying;

    line->len -= 2;
    buf_append_str(line, carry_what_stands(carrying->carry));
    buf_append_str(line, "\r\n");
    request->command = carrying->command;
}

void
carrying_free(struct request *request)
{
    struct carrying *carrying = request->carrying;

    if (carrying == NULL)
        return;
    drop_reply(request);
    request->carrying = NULL;
    login_leave(request->pool->pool, carrying->lane_key.user);
    carry_free(&carrying->carry);
    chunk_unref(&carrying->words.chunk);
    mem_free(carrying);
}
