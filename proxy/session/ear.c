/*
 * session/ear.c - being connected to a server, and asking it.
 */
#include "session/ear.h"

#include "base/log_limit.h"
#include "base/mem.h"
#include "session/tracking.h"

#define TRACK_WORDS \
    "*4\r\n$6\r\nCLIENT\r\n$8\r\nTRACKING\r\n$2\r\nON\r\n$5\r\nBCAST\r\n"

/* --- connecting ------------------------------------------------------------- */

static void
start_timer(struct ear *ear, int64_t ms)
{
    if (!ear->listening.is_closing)
        timer_start(&ear->timer, ms);
}

static void
note_refused(struct ear *ear)
{
    ear->was_refused = true;
    start_timer(ear, 0);
}

static void
ear_connect(struct ear *ear)
{
    if (!listening_connect(&ear->listening))
        note_refused(ear);
}

static void
on_lane(struct lane_lease *lease)
{
    if (lease->lane == NULL)
        note_refused(CONTAINER_OF(lease, struct ear, listening.lease));
}

static void
on_ready(struct lane_lease *lease)
{
    struct ear *ear = CONTAINER_OF(lease, struct ear, listening.lease);

    listening_on_ready(&ear->listening);
    ear->state = EAR_ASKED;
    lane_say(lease->lane, VIEW(TRACK_WORDS));
}

/* Whoever is told may do anything, so not from in here; but from now on nothing
 * that is read there may stay in a cache. */
static void
on_gone(struct lane_lease *lease)
{
    struct ear *ear = CONTAINER_OF(lease, struct ear, listening.lease);
    bool was_on = ear->state == EAR_ON;

    listening_on_gone(&ear->listening);
    ear->state = EAR_DEAF;
    ear->was_lost = ear->was_lost || was_on;
    ear->was_refused = ear->was_refused || !was_on;
    if (was_on)
        tracking_on_ear(ear->tracking);
    start_timer(ear, 0);
}

/* --- losses ------------------------------------------------------------------- */

static void
take_loss(struct ear *ear)
{
    struct session_pool *pool = ear->tracking->pool;
    const char *name = pool->settings->name;

    ear->was_lost = false;
    session_pool_hint(pool, MAP_CAUSE_LOST);
    cell_inc(&pool->stats->tracking_losses);
    log_info_limited(name, ear->listening.server->name,
                     "connection for CLIENT TRACKING was lost",
                     "pool=%s server=%s", name, ear->listening.server->name);
    tracking_tell_all(ear->tracking);
}

/* Those who wait go on without it: what is read there is not kept. */
static void
take_refusal(struct ear *ear)
{
    struct session_pool *pool = ear->tracking->pool;
    char *refusal = ear->refusal;

    ear->was_refused = false;
    ear->has_failed = true;
    ear->refusal = NULL;
    ear->failures++;
    session_pool_hint(pool, MAP_CAUSE_LOST);
    if (refusal != NULL)
        tracking_refuse(ear->tracking, view_str(refusal));
    else
        tracking_settle(ear->tracking);
    mem_free(refusal);
}

static void
on_timer(struct timer *timer, void *arg)
{
    struct ear *ear = arg;

    (void)timer;
    if (ear->was_lost)
        take_loss(ear);
    if (ear->was_refused) {
        start_timer(ear, listening_pause_ms(ear->failures));
        take_refusal(ear);
        return;
    }
    ear_connect(ear);
}

/* --- life ----------------------------------------------------------------------- */

struct ear *
ear_new(struct tracking *tracking, struct server *server)
{
    struct ear *ear = MEM_NEW(struct ear);

    ear->tracking = tracking;
    listening_init(&ear->listening, server, 3, LOGIN_POOL);
    ear->listening.lease.on_lane = on_lane;
    ear->listening.lease.on_gone = on_gone;
    ear->listening.lease.on_ready = on_ready;
    ear->listening.lease.on_frame = ear_on_frame;
    timer_init(&ear->timer, tracking->pool->env->loop, on_timer, ear);
    ear_connect(ear);
    return ear;
}

void
ear_free(struct ear **earp, enum close_reason why)
{
    struct ear *ear = *earp;

    *earp = NULL;
    listening_end(&ear->listening, why);
    timer_stop(&ear->timer);
    mem_free(ear->refusal);
    mem_free(ear);
}
