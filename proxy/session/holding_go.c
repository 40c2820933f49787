/*
 * session/holding_go.c - what is held goes out again, in order.
 *
 *   back to front   who may not go any more: a later write on its slot ran
 *   front to back   who has to go again: reads answered behind a held one
 *   front to back   who goes now
 */
#include "command/outcome.h"
#include "session/holding.h"
#include "session/holding_priv.h"
#include "session/replica_read.h"
#include "session/tracker.h"
#include "session/retry.h"
#include "session/sentence.h"
#include "session/session.h"
#include "session/split_job.h"

#define ASK_FRESH_US 5000 /* so long what ASK said is acted upon */

/* One bit a slot. */
struct slot_set {
    uint8_t bits[ROUTE_SLOTS / 8];
};

static bool
slot_set_has(const struct slot_set *set, uint32_t slot)
{
    return (set->bits[slot / 8] >> (slot % 8) & 1) != 0;
}

static void
slot_set_add(struct slot_set *set, uint32_t slot)
{
    set->bits[slot / 8] |= (uint8_t)(1u << (slot % 8));
}

struct holding_pass {
    struct session *session;
    uint64_t now_us;
    uint64_t again_us;      /* the first that has to wait, UINT64_MAX: none */
    struct slot_set routed; /* something goes by the map in this pass */
    struct slot_set closed; /* something in front has to go alone, or waits */
};

/* Does it stand on one slot, and have we its bytes? */
static bool
is_of_slot(const struct request *request)
{
    return request->job == NULL && request->call.body.chunk != NULL;
}

/* A server has answered it, and the answer waits for its turn. */
static bool
has_run(const struct request *request)
{
    return request->done && request->reply_type != 0 &&
        request->command != NULL && request->own_lane != OWN_LANE_DIRECT;
}

/* --- is anything under way? ------------------------------------------------- */

static bool
is_under_way(const struct request *request)
{
    if (request->done)
        return false;
    if (request->job != NULL)
        return !split_job_is_idle(request);
    return request->call.state != CALL_IDLE ||
        request->attempt.hold == HOLD_DOUBT ||
        (is_of_slot(request) && !attempt_is_held(&request->attempt));
}

bool
holding_is_all(const struct session *session)
{
    const struct request *request;

    TAILQ_FOREACH(request, &session->queue, link)
    {
        if (is_under_way(request))
            return false;
    }
    return true;
}

/* --- who may not go any more ------------------------------------------------ */

static void
add_done_part(struct request *request UNUSED, struct attempt *attempt,
              void *arg)
{
    if (split_job_part_is_done(attempt))
        slot_set_add(arg, attempt->slot);
}

/* Parts of a split one count by themselves, and those that only read as well:
 * they are not asked again. */
static void
note_run(struct slot_set *run, struct request *request)
{
    if (request->job != NULL)
        split_job_visit(request, add_done_part, run);
    else if (has_run(request) && is_of_slot(request) &&
             !retry_only_reads(request->command))
        slot_set_add(run, request->attempt.slot);
}

/* Where replicas are read from a read may see what is written behind it anyhow;
 * that is better than none.  What has ended holds nothing, and has no session
 * any more. */
static bool
is_overtaken(const struct request *request, const struct attempt *attempt,
             const struct slot_set *run)
{
    if (!attempt_is_held(attempt) || !slot_set_has(run, attempt->slot))
        return false;
    return !attempt->is_read || request->session->generation->readers == NULL;
}

static void
give_up_part(struct request *request, struct attempt *attempt, void *arg)
{
    if (!is_overtaken(request, attempt, arg))
        return;
    cell_inc(&request->pool->stats->errors_overtaken);
    split_job_give_up(request, attempt,
                      request_text_overtaken(request, attempt));
}

static void
give_up(struct request *request, struct slot_set *run)
{
    struct attempt *attempt = &request->attempt;

    if (request->done)
        return;
    if (request->job != NULL) {
        split_job_visit(request, give_up_part, run);
    } else if (is_overtaken(request, attempt, run)) {
        holding_drop(request, attempt);
        request_undo(request);
        cell_inc(&request->pool->stats->errors_overtaken);
        request_fail(request, request_text_overtaken(request, attempt));
    }
}

/* Answering one lets go of those behind it, which have been looked at. */
static void
give_up_overtaken(struct session *session)
{
    struct slot_set run = {0};
    struct request *request = TAILQ_LAST(&session->queue, request_list);

    while (request != NULL) {
        struct request *before = TAILQ_PREV(request, request_list, link);
        struct request *ref = request;
        ref->refs++; /* giving up may be its end */
        give_up(request, &run);
        note_run(&run, request);
        request_unref(&ref);
        request = before;
    }
}

/* --- who has to go again ---------------------------------------------------- */

static void
add_held_slot(struct request *request UNUSED, struct attempt *attempt,
              void *arg)
{
    if (attempt_is_held(attempt))
        slot_set_add(arg, attempt->slot);
}

/* A write has run for good: what is held in front of it may be overtaken. */
static void
hold_again(struct request *request, const struct slot_set *held)
{
    if (!has_run(request) || !is_of_slot(request) ||
        !retry_only_reads(request->command) ||
        !slot_set_has(held, request->attempt.slot))
        return;
    request_undo(request);
    holding_take_back(request, &request->attempt);
}

static void
hold_overtakers(struct session *session)
{
    struct slot_set held = {0};
    struct request *request;

    TAILQ_FOREACH(request, &session->queue, link)
    {
        hold_again(request, &held);
        if (request->job != NULL)
            split_job_visit(request, add_held_slot, &held);
        else
            add_held_slot(request, &request->attempt, &held);
    }
}

/* --- a new map -------------------------------------------------------------- */

/* Keys on both sides of a move are not helped by a map. */
static void
hurry(struct request *request UNUSED, struct attempt *attempt, void *arg)
{
    const uint64_t *now_us = arg;

    if (attempt->hold == HOLD_WAIT && attempt->outcome != OUTCOME_TRYAGAIN)
        attempt->again_us = *now_us;
}

void
holding_hurry(struct session *session)
{
    uint64_t now_us = loop_now_us(session->pool->env->loop);
    struct request *request;

    TAILQ_FOREACH(request, &session->queue, link)
    {
        if (request->job != NULL)
            split_job_visit(request, hurry, &now_us);
        else
            hurry(request, &request->attempt, &now_us);
    }
    session_resume_later(session);
}

/* --- who goes now ----------------------------------------------------------- */

static bool
wait_for(struct holding_pass *pass, const struct attempt *attempt)
{
    pass->again_us = MIN(pass->again_us, attempt->again_us);
    slot_set_add(&pass->closed, attempt->slot);
    return false;
}

bool
holding_is_due(struct holding_pass *pass, const struct attempt *attempt)
{
    return attempt->hold != HOLD_WAIT || attempt->again_us <= pass->now_us ||
        wait_for(pass, attempt);
}

static uint32_t
owner_of(const struct holding_pass *pass, const struct attempt *attempt)
{
    return generation_slot_server(pass->session->generation, attempt->slot);
}

static bool
go_by_map(struct holding_pass *pass, struct request *request,
          struct attempt *attempt, struct call *call, uint32_t *server)
{
    *server = owner_of(pass, attempt);
    if (*server == ROUTE_NONE) {
        holding_drop(request, attempt);
        holding_take_unserved(request, attempt);
        return wait_for(pass, attempt);
    }
    if (retry_is_held(request->command,
                      generation_server(pass->session->generation, *server))) {
        holding_drop(request, attempt);
        holding_take_held(request, attempt);
        return wait_for(pass, attempt); /* and what only reads, behind it */
    }
    *server = attempt_place(pass->session, attempt, *server);
    call->asking = false;
    slot_set_add(&pass->routed, attempt->slot);
    holding_drop(request, attempt);
    return true;
}

/* ASK tells of a moment: later the key may be anywhere, and the node that was
 * named may take ASKING for another move, to which the key has not come yet. */
static bool
is_fresh(const struct holding_pass *pass, const struct attempt *attempt)
{
    return attempt->map == pass->session->generation->snapshot->epoch &&
        pass->now_us - attempt->since_us <= ASK_FRESH_US;
}

/* After a while the owner is asked first, again. */
static bool
go_alone(struct holding_pass *pass, struct request *request,
         struct attempt *attempt, struct call *call, uint32_t *server)
{
    if (!is_fresh(pass, attempt))
        return go_by_map(pass, request, attempt, call, server);
    if (slot_set_has(&pass->routed, attempt->slot)) {
        slot_set_add(&pass->closed, attempt->slot);
        return false;
    }
    *server = attempt->target;
    attempt->at_replica = false;
    call->asking = true;
    slot_set_add(&pass->closed, attempt->slot);
    holding_drop(request, attempt);
    return true;
}

static bool
release(struct holding_pass *pass, struct request *request,
                struct attempt *attempt, struct call *call, uint32_t *server)
{
    if (slot_set_has(&pass->closed, attempt->slot))
        return false;
    switch ((enum hold)attempt->hold) {
    case HOLD_NONE:
        return false;
    case HOLD_ROUTE:
        return go_by_map(pass, request, attempt, call, server);
    case HOLD_ASK:
        return go_alone(pass, request, attempt, call, server);
    case HOLD_WAIT:
        if (attempt->again_us > pass->now_us)
            return wait_for(pass, attempt);
        return go_by_map(pass, request, attempt, call, server);
    case HOLD_DOUBT:
        return false; /* a question is under way, and its answer ends it */
    }
    return false;
}

bool
holding_release(struct holding_pass *pass, struct request *request,
                struct attempt *attempt, struct call *call, uint32_t *server)
{
    struct session *session = pass->session;

    if (!release(pass, request, attempt, call, server))
        return false;
    /* The lane of its transaction is for those behind it as well. */
    if (request->own_lane == OWN_LANE_DIRECT)
        slot_set_add(&pass->closed, attempt->slot);
    tracker_note_server(session,
                        generation_server(session->generation, *server));
    return true;
}

static void
release_request(struct holding_pass *pass, struct request *request)
{
    uint32_t server = ROUTE_NONE;

    if (request->attempt.outcome == OUTCOME_TRYAGAIN &&
        attempt_is_held(&request->attempt) &&
        request->command->class == CLASS_SPLIT &&
        request->own_lane == OWN_LANE_NONE)
        split_job_adopt(request);
    if (request->job != NULL) {
        split_job_go(request, pass);
        return;
    }
    if (!attempt_is_held(&request->attempt) ||
        !holding_release(pass, request, &request->attempt, &request->call,
                         &server))
        return;
    request_route_anew(request, pass->session->generation);
    request->shard = server;
    request_submit(request);
}

/* Submitting may answer, and even close the session. */
static void
release_all(struct holding_pass *pass)
{
    struct session *session = pass->session;
    struct request *request = TAILQ_FIRST(&session->queue);

    while (request != NULL) {
        struct request *held = request;
        held->refs++;
        if (!request->done)
            release_request(pass, request);
        request = held->session == session ? TAILQ_NEXT(held, link)
                                           : TAILQ_FIRST(&session->queue);
        request_unref(&held);
        if (session->state == SESSION_CLOSED)
            return;
    }
}

void
holding_go(struct session *session)
{
    if (!holding_is_all(session))
        return;
    session_catch_up(session);
    give_up_overtaken(session);
    hold_overtakers(session);
    if (session->holding == NULL)
        return;
    struct holding_pass pass = {
        .session = session,
        .now_us = loop_now_us(session->pool->env->loop),
        .again_us = UINT64_MAX,
    };
    release_all(&pass);
    if (session->holding != NULL && pass.again_us != UINT64_MAX)
        holding_wait_until(session, pass.again_us);
}
