/*
 * session/direct.c - the lane of a transaction, from its first command to EXEC.
 */
#include "session/direct.h"

#include "base/mem.h"
#include "session/deadline.h"
#include "session/direct_priv.h"
#include "session/holding.h"
#include "session/key_watch.h"
#include "session/replica_read.h"

#define DISCARD_WORDS "*1\r\n$7\r\nDISCARD\r\n"

/* --- the lane ------------------------------------------------------------------ */

static struct lane *
lane_of(const struct session *session, const struct direct *direct)
{
    return session->watch != NULL ? key_watch_lane(session)
                                  : direct->lease.lane;
}

bool
direct_is_open(const struct session *session)
{
    const struct direct *direct = session_direct(session);

    return direct != NULL && direct->is_open &&
        lane_of(session, direct) != NULL;
}

static uint32_t
shard_of(const struct session *session, const struct direct *direct)
{
    return session->watch != NULL ? key_watch_shard(session) : direct->shard;
}

/* Calls on it are told. */
void
direct_drop_lane(struct session *session)
{
    struct direct *direct = session_direct(session);

    if (direct == NULL)
        return;
    direct->is_open = false;
    direct->request = NULL;
    if (session->watch != NULL) {
        key_watch_break(session);
        return;
    }
    server_drop_lease(direct->server, &direct->lease, CLOSE_LANE_UNCLEAN);
}

static void
free_buried(struct grave *grave)
{
    mem_free(CONTAINER_OF(grave, struct direct, grave));
}

/* It may be in the middle of telling us something. */
static void
bury(struct direct *direct, struct loop *loop)
{
    chunk_unref(&direct->whole.chunk);
    chunk_unref(&direct->farewell.body.chunk);
    loop_bury(loop, &direct->grave, free_buried);
}

void
direct_forget(struct session *session)
{
    struct direct *direct = session_direct(session);

    session->info->direct = NULL;
    bury(direct, session->pool->env->loop);
}

void
direct_free(struct session *session)
{
    if (likely(session_direct(session) == NULL))
        return;
    if (session->watch == NULL)
        direct_drop_lane(session);
    direct_forget(session);
}

void
direct_suspend(struct session *session)
{
    direct_drop_lane(session);
}

/* --- leaving a transaction ----------------------------------------------------- */

static void
farewell_on_reply(struct call *call, const struct reply_piece *piece)
{
    struct direct *direct = CONTAINER_OF(call, struct direct, farewell);
    struct lane *lane = direct->lease.lane;

    if (!piece->last)
        return;
    timer_stop(&direct->timer);
    if (piece->type == '+')
        server_end_lease(direct->server, &direct->lease);
    else
        lane_close(&lane, CLOSE_LANE_UNCLEAN);
    bury(direct, direct->timer.loop);
}

static void
farewell_on_lost(struct call *call, enum close_reason why UNUSED,
                 bool sent UNUSED)
{
    struct direct *direct = CONTAINER_OF(call, struct direct, farewell);

    timer_stop(&direct->timer);
    bury(direct, direct->timer.loop);
}

static const struct call_ops farewell_ops = {
    .on_reply = farewell_on_reply,
    .on_lost = farewell_on_lost,
};

static void
farewell_on_late(struct timer *timer, void *arg)
{
    struct direct *direct = arg;
    struct lane *lane = direct->lease.lane;

    (void)timer;
    lane_close(&lane, CLOSE_LANE_UNCLEAN); /* which ends the call */
}

void
direct_leave(struct session *session)
{
    struct direct *direct = session_direct(session);
    struct session_env *env = session->pool->env;

    if (direct == NULL)
        return;
    if (session->watch != NULL || !direct->is_open) {
        direct_free(session);
        return;
    }
    session->info->direct = NULL;
    direct->session = NULL;
    call_init(&direct->farewell, &farewell_ops);
    direct->farewell.body =
        extent_copy(loop_chunks(env->loop), VIEW(DISCARD_WORDS));
    timer_init(&direct->timer, env->loop, farewell_on_late, direct);
    timer_start(&direct->timer, session->pool->settings->request_timeout_ms);
    lane_submit(direct->lease.lane, &direct->farewell);
}

/* --- beginning ----------------------------------------------------------------- */

/* So many of the transaction's bytes, instead of the request's own. */
static void
take_body(struct request *request, size_t from, size_t len)
{
    struct buf *bytes = &request->session->transaction->bytes;

    chunk_unref(&request->call.body.chunk);
    request->call.body = extent_copy(loop_chunks(request->pool->env->loop),
                                     view_of(bytes->data + from, len));
}

static void
give_to_lane(struct request *request, struct lane *lane)
{
    request->refs++; /* the call's */
    lane_submit(lane, &request->call);
}

static void
begin_on(struct request *request, struct lane *lane)
{
    session_direct(request->session)->is_open = true;
    give_to_lane(request, lane);
}

/* One that has lost its lane and is to go behind another, which waits for one. */
static struct request *
first_waiting(const struct session *session)
{
    struct request *request;

    TAILQ_FOREACH(request, &session->queue, link)
    {
        if (direct_is_queueing(request) && !request->done &&
            request->call.state == CALL_IDLE &&
            !attempt_is_held(&request->attempt))
            break;
    }
    return request;
}

void
direct_fail_waiting(struct session *session)
{
    struct request *request;

    while ((request = first_waiting(session)) != NULL)
        request_fail_unreachable(request);
}

static void
submit_waiting(struct session *session)
{
    struct request *request;

    while (direct_is_open(session) &&
           (request = first_waiting(session)) != NULL)
        direct_submit(request);
}

static void
unreachable(struct direct *direct)
{
    struct request *request = direct->request;

    direct->request = NULL;
    direct->server = NULL;
    holding_take_unreachable(request);
}

static void
on_lane(struct lane_lease *lease)
{
    struct direct *direct = CONTAINER_OF(lease, struct direct, lease);
    struct request *request = direct->request;

    if (lease->lane == NULL) {
        unreachable(direct);
        return;
    }
    direct->request = NULL;
    begin_on(request, lease->lane);
    submit_waiting(request->session);
}

/* Calls on it are told by themselves. */
static void
on_gone(struct lane_lease *lease)
{
    struct direct *direct = CONTAINER_OF(lease, struct direct, lease);

    direct->is_open = false;
    direct->server = NULL;
}

static struct direct *
direct_of(struct session *session)
{
    struct client_info *info = client_info_of(session);

    if (info->direct == NULL) {
        info->direct = MEM_NEW(struct direct);
        info->direct->session = session;
        info->direct->lease.on_lane = on_lane;
        info->direct->lease.on_gone = on_gone;
    }
    return info->direct;
}

static void
lease_and_begin(struct request *request)
{
    struct session *session = request->session;
    struct direct *direct = direct_of(session);

    direct_drop_lane(session);
    direct->server = request_server(request);
    direct->shard = request->shard;
    direct->request = request;
    direct->lease.key = attempt_lane_key(session, &request->attempt);
    server_lease(direct->server, &direct->lease);
    if (!direct->lease.is_waiting)
        on_lane(&direct->lease);
}

void
direct_answer_queued(struct request *request)
{
    request->reply_type = '+';
    request_answer(request, VIEW("+QUEUED\r\n"));
}

static void
begin_on_watch(struct request *request)
{
    struct session *session = request->session;

    (void)direct_of(session);
    request->shard = key_watch_shard(session);
    request->call.asking = key_watch_is_asked(session);
    begin_on(request, key_watch_lane(session));
}

/* Is what goes with it known? */
static bool
can_begin(const struct request *request)
{
    const struct transaction *transaction = request->session->transaction;
    const struct queued *queued = &request->queued;

    return transaction != NULL &&
        transaction->bytes.len >= (size_t)queued->from + queued->len;
}

static bool
waits_for_lane(const struct session *session)
{
    const struct direct *direct = session_direct(session);

    return direct != NULL && direct->request != NULL;
}

/* It is there, but nothing comes over it any more. */
static bool
is_lane_off(const struct request *request)
{
    const struct session *session = request->session;
    const struct lane *lane = lane_of(session, session_direct(session));

    /* A new one will tell whether it is still. */
    return lane != NULL && lane->state == LANE_READY &&
        server_is_off(lane->server);
}

/* With MULTI and all that was queued before. */
static void
begin(struct request *request)
{
    struct session *session = request->session;
    const struct queued *queued = &request->queued;

    if (key_watch_is_broken(session)) {
        direct_answer_queued(request);
        return;
    }
    if (!can_begin(request)) {
        request_fail_unreachable(request);
        return;
    }
    if (session->watch != NULL && is_lane_off(request)) {
        direct_break_watch(request);
        return;
    }
    if (waits_for_lane(session))
        return; /* so does this one, behind it */
    if (session->transaction->is_begun)
        cell_inc(&request->pool->stats->transactions_again);
    session->transaction->is_begun = true;
    session->barrier = true; /* what follows goes over the same lane */
    take_body(request, 0, (size_t)queued->from + queued->len);
    request->call.leading = queued->before + 1;
    if (session->watch == NULL)
        lease_and_begin(request);
    else
        begin_on_watch(request);
}

/* --- going on ------------------------------------------------------------------ */

static void
go_on(struct request *request)
{
    struct session *session = request->session;
    struct direct *direct = session_direct(session);

    if (request->call.leading > 0)
        take_body(request, request->queued.from, request->queued.len);
    request->call.leading = 0;
    request->call.asking = false; /* inside MULTI it would be a command */
    request->shard = shard_of(session, direct);
    if (!direct_is_queueing(request))
        request_weigh(request, request->call.body.len + direct->whole.len);
    give_to_lane(request, lane_of(session, direct));
}

bool
direct_become_whole(struct request *request)
{
    struct session *session = request->session;
    struct direct *direct = session_direct(session);

    if (direct == NULL || direct->whole.chunk == NULL)
        return false;
    chunk_unref(&request->call.body.chunk);
    request->call.body = direct->whole;
    request->call.leading = direct->leading;
    request->own_lane = OWN_LANE_NONE;
    direct->whole = (struct extent){0};
    direct_free(session);
    cell_inc(&request->pool->stats->transactions_again);
    return true;
}

/* What is on the lane already is told by the loss of that, or goes again. */
static void
queue_nowhere(struct request *request)
{
    if (request->session->watch != NULL)
        direct_break_watch(request);
    else
        holding_take_unreachable(request);
}

void
direct_submit(struct request *request)
{
    bool is_open = direct_is_open(request->session);
    bool is_off = is_open && is_lane_off(request);

    if (is_open && !is_off)
        go_on(request);
    else if (direct_is_queueing(request) && is_off)
        queue_nowhere(request);
    else if (direct_is_queueing(request))
        begin(request);
    else if (direct_become_whole(request))
        request_submit(request);
    else
        request_fail_unreachable(request);
}

void
direct_queue(const struct incoming *in, size_t from)
{
    struct session *session = in->session;
    const struct transaction *transaction = session->transaction;
    struct request *request = request_new(session, in->command);
    struct place place = transaction_place(session);

    request->own_lane = OWN_LANE_DIRECT;
    request->queued = (struct queued){.from = (uint32_t)from,
                                      .len = in->bytes.len,
                                      .before = transaction->count - 1};
    request->attempt.slot = (uint16_t)place.slot;
    request->shard = place.shard;
    request->call.body = in->bytes;
    chunk_ref(in->bytes.chunk);
    request_start_deadline(request);
    if (direct_is_open(session))
        request->shard = shard_of(session, session_direct(session));
    if (unlikely(request->shard == ROUTE_NONE))
        holding_take_unserved(request, &request->attempt);
    else
        request_submit(request);
}

/* In case that the lane is lost before EXEC has left. */
static bool
is_worth_keeping(const struct session *session)
{
    size_t bytes = session->transaction->bytes.len;

    return bytes > 0 &&
        (bytes <= session->pool->settings->large_request_bytes ||
         !session_is_short(session));
}

void
direct_exec(const struct incoming *in)
{
    struct session *session = in->session;
    struct direct *direct = session_direct(session);
    struct transaction *transaction = session->transaction;
    bool is_kept = is_worth_keeping(session);

    if (session->watch != NULL) {
        struct script_wants *wants = transaction->wants;
        transaction->wants = NULL;
        transaction_free(session);
        direct_forget(session);
        chunk_ref(in->bytes.chunk);
        key_watch_exec(in, in->bytes, 0, wants);
        return;
    }
    struct request *request = request_new(session, in->command);
    request->own_lane = OWN_LANE_DIRECT;
    request->shard = direct->shard;
    request->attempt.slot = (uint16_t)transaction->place.slot;
    request->call.body = in->bytes;
    chunk_ref(in->bytes.chunk);
    request->wants = transaction->wants;
    transaction->wants = NULL;
    direct->leading = transaction->count + 1;
    if (is_kept)
        direct->whole = transaction_take_bytes(session);
    session->barrier = true;
    transaction_free(session);
    request_start_deadline(request);
    request_submit(request);
}

void
direct_settle(struct session *session)
{
    struct direct *direct = session_direct(session);
    struct place place = transaction_place(session);

    if (direct == NULL || session->watch != NULL || !direct->is_open)
        return;
    if (session->transaction->is_bound && place.shard != ROUTE_NONE &&
        generation_server(session->generation, place.shard) == direct->server)
        direct->shard = place.shard;
    else
        direct_leave(session);
}
