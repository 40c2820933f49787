/*
 * session/blocking.c - how long a blocking command may take, and its end.
 */
#include "session/blocking.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "command/keys.h"
#include "command/split.h"
#include "session/deadline.h"
#include "session/stream_race.h"
#include "session/wait.h"

#define NUMBER_MAX 64         /* no number is longer */
#define LONGEST_MS 1e15       /* longer time-outs are for ever */
#define FOR_EVER_MS (-1)

/* Of the command that the session waits for. */
struct blocking {
    struct call id_call; /* CLIENT ID, in front of it */
    struct lane *lane;   /* ... on this one */
    struct timer timer; /* its time-out and request_timeout */
    struct request *request;
    int64_t timeout_ms; /* its own, or FOR_EVER_MS */
    bool is_waiting;    /* it is at the server ... */
    bool is_moving;     /* ... which was asked to let go of it */
    struct extent body; /* of one that may have to race; a ref */
    struct stream_race *race; /* it waits at several shards, or NULL */
};

/* --- what it says -------------------------------------------------------------- */

static bool
is_of_streams(const struct command *command)
{
    return command->id == COMMAND_ID_XREAD ||
        command->id == COMMAND_ID_XREADGROUP;
}

bool
blocking_has_option(const struct incoming *in)
{
    if (in->command->class == CLASS_ROUTE_PIN)
        return true;
    return is_of_streams(in->command) &&
        command_find_block(&in->args, 1) > 0;
}

/* What is no number is answered at once: it needs no time. */
static int64_t
milliseconds(struct view text, double unit_ms)
{
    char number[NUMBER_MAX + 1];
    char *end;

    if (text.len == 0 || text.len > NUMBER_MAX)
        return 0;
    memcpy(number, text.data, text.len);
    number[text.len] = '\0';
    double value = strtod(number, &end);
    if (*end != '\0' || !isfinite(value) || value < 0)
        return 0;
    if (value <= 0 || value * unit_ms > LONGEST_MS)
        return FOR_EVER_MS;
    return (int64_t)ceil(value * unit_ms);
}

static int64_t
timeout_of(const struct command *command, const struct command_args *args)
{
    uint32_t last = args->argc - 1, block;

    switch ((int)command->id) {
    case COMMAND_ID_XREAD:
    case COMMAND_ID_XREADGROUP:
        block = command_find_block(args, 1);
        return block < last ? milliseconds(command_arg(args, block + 1), 1) : 0;
    case COMMAND_ID_WAIT:
    case COMMAND_ID_WAITAOF:
        return milliseconds(command_arg(args, last), 1);
    case COMMAND_ID_BLMPOP:
    case COMMAND_ID_BZMPOP:
        return milliseconds(command_arg(args, 1), 1000);
    case COMMAND_ID_BLMOVE:
    case COMMAND_ID_BLMOVEM:
        return milliseconds(command_arg(args, 5), 1000);
    case COMMAND_ID_LEARNT: /* only its author knows */
        return FOR_EVER_MS;
    default:
        return milliseconds(command_arg(args, last), 1000);
    }
}

/* --- whether it waits ----------------------------------------------------------- */

static void
set_waiting(struct session *session, bool is_waiting)
{
    struct blocking *blocking = session_blocking(session);
    struct cell *count = &session->pool->stats->clients_blocked;

    cell_add(count, (uint64_t)is_waiting);
    cell_sub(count, (uint64_t)blocking->is_waiting);
    blocking->is_waiting = is_waiting;
}

/* --- the id of its connection -------------------------------------------------- */

static void
on_id(struct call *call, const struct reply_piece *piece)
{
    struct blocking *blocking = CONTAINER_OF(call, struct blocking, id_call);
    struct view reply = view_of(piece->chunk->data + piece->off, piece->len);

    if (!piece->last)
        return;
    if (piece->type == ':' && reply.len > 3)
        (void)!view_to_u64(view_of(reply.data + 1, reply.len - 3),
                           &blocking->lane->client_id);
    set_waiting(blocking->request->session, true);
}

static void
on_id_lost(struct call *call UNUSED, enum close_reason why UNUSED,
           bool sent UNUSED)
{
}

static const struct call_ops id_call_ops = {
    .on_reply = on_id,
    .on_lost = on_id_lost,
};

/* Somebody may want to unblock it, which takes the server's name for the
 * connection; it is asked for once.  The answer tells as well that the server
 * has come to what stands behind the question. */
static void
ask_id(struct blocking *blocking, struct lane *lane)
{
    struct view words = VIEW("*2\r\n$6\r\nCLIENT\r\n$2\r\nID\r\n");

    ASSERT(blocking->id_call.state == CALL_IDLE);
    chunk_unref(&blocking->id_call.body.chunk);
    call_init(&blocking->id_call, &id_call_ops);
    blocking->id_call.body =
        extent_copy(loop_chunks(blocking->timer.loop), words);
    blocking->lane = lane;
    lane_submit(lane, &blocking->id_call);
}

/* --- its time ------------------------------------------------------------------ */

static void
on_timeout(struct timer *timer, void *arg)
{
    struct blocking *blocking = arg;

    (void)timer;
    if (blocking->race != NULL)
        stream_race_expire(blocking->race);
    else
        request_expire(blocking->request);
}

void
blocking_prepare(struct request *request, const struct incoming *in)
{
    struct session *session = request->session;
    struct blocking *blocking = MEM_NEW(struct blocking);

    ASSERT(session_blocking(session) == NULL);
    timer_init(&blocking->timer, session->pool->env->loop, on_timeout,
               blocking);
    blocking->request = request;
    blocking->timeout_ms = timeout_of(in->command, &in->args);
    client_info_of(session)->blocking = blocking;
    session->barrier = true;
    request->blocks = true;
    cell_inc(&session->pool->stats->requests_blocking);
}

void
blocking_begin(struct request *request, struct lane *lane)
{
    struct blocking *blocking = session_blocking(request->session);
    const struct pool_settings *settings = request->pool->settings;
    uint64_t now_us = loop_now_us(request->pool->env->loop);

    request_stop_deadline(request);
    request_compact(request); /* it may stay for hours */
    if (lane != NULL && lane->client_id == 0)
        ask_id(blocking, lane);
    else
        set_waiting(request->session, true);
    blocking->is_moving = false;
    if (blocking->timeout_ms == FOR_EVER_MS)
        return;
    int64_t wait_ms = blocking->timeout_ms + settings->request_timeout_ms;
    request->progress_us = now_us;
    request->due_us = now_us + (uint64_t)wait_ms * 1000;
    timer_start(&blocking->timer, wait_ms);
}

void
blocking_withdraw(struct session *session)
{
    struct blocking *blocking = session_blocking(session);

    if (unlikely(blocking != NULL) &&
        blocking->id_call.state == CALL_WAITING)
        (void)!lane_withdraw(&blocking->id_call);
}

/* --- at several shards ---------------------------------------------------------- */

void
blocking_prepare_race(struct request *request, const struct incoming *in,
                      struct split *split)
{
    blocking_prepare(request, in);

    struct blocking *blocking = session_blocking(request->session);
    if (blocking->timeout_ms == 0) {
        split->cut_at = 0; /* any shard says what is wrong with it */
        return;
    }
    blocking->body = in->bytes;
    chunk_ref(blocking->body.chunk);
}

bool
blocking_take_null(struct request *request)
{
    struct blocking *blocking = session_blocking(request->session);

    if (blocking->body.chunk == NULL || request->reply.bytes == 0)
        return false;
    /* An error, or some streams, are longer. */
    if (request->reply.bytes > sizeof("*-1\r\n") - 1)
        return false;
    chain_clear(&request->reply);
    blocking_begin(request, NULL);
    blocking->race = stream_race_new(request, &blocking->body);
    chunk_unref(&blocking->body.chunk);
    stream_race_go(blocking->race);
    return true;
}

bool
blocking_unblock(struct session *session, bool with_error)
{
    struct blocking *blocking = session_blocking(session);

    return blocking != NULL && blocking->race != NULL &&
        stream_race_unblock(blocking->race, with_error);
}

/* --- its end --------------------------------------------------------------------- */

void
blocking_set_moving(struct session *session)
{
    session_blocking(session)->is_moving = true;
}

bool
blocking_is_moving(const struct session *session)
{
    const struct blocking *blocking = session_blocking(session);

    return blocking != NULL && blocking->is_moving;
}

void
blocking_suspend(struct request *request)
{
    struct session *session = request->session;

    timer_stop(&session_blocking(session)->timer);
    set_waiting(session, false);
    if (request->has_deadline)
        return;
    request->start_us = loop_now_us(request->pool->env->loop);
    request_start_deadline(request);
}

void
blocking_end(struct session *session)
{
    struct blocking *blocking = session_blocking(session);

    if (likely(blocking == NULL))
        return;
    wait_end(session);
    set_waiting(session, false);
    session->info->blocking = NULL;
    timer_stop(&blocking->timer);
    ASSERT(blocking->id_call.state == CALL_IDLE);
    chunk_unref(&blocking->id_call.body.chunk);
    chunk_unref(&blocking->body.chunk);
    stream_race_free(&blocking->race);
    mem_free(blocking);
}

void
blocking_stop(struct session *session)
{
    if (likely(!blocking_is_on(session)))
        return;
    request_fail(TAILQ_FIRST(&session->queue),
                 VIEW("UNBLOCKED force unblock from blocking operation, the "
                      "proxy is stopping"));
}
