/*
 * session/ear.c - being connected to a server, and asking it.
 */
#include "session/ear.h"

#include "base/log_limit.h"
#include "base/mem.h"
#include "session/tracking.h"

#define AGAIN_MS 20       /* pause after a failed attempt, doubled each time */
#define AGAIN_DOUBLINGS 6 /* ... so often */
#define US_PER_MS 1000

#define TRACK_WORDS \
    "*4\r\n$6\r\nCLIENT\r\n$8\r\nTRACKING\r\n$2\r\nON\r\n$5\r\nBCAST\r\n"

static uint64_t
now_of(const struct ear *ear)
{
    return loop_now_us(ear->tracking->pool->env->loop);
}

/* --- connecting ------------------------------------------------------------- */

static void
start_timer(struct ear *ear, int64_t ms)
{
    if (!ear->is_closing)
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
    struct lane_lease *lease = &ear->lease;

    if (lease->lane != NULL || lease->is_waiting)
        return;
    server_lease(ear->server, lease);
    if (lease->lane == NULL && !lease->is_waiting)
        note_refused(ear);
}

static void
on_lane(struct lane_lease *lease)
{
    if (lease->lane == NULL)
        note_refused(CONTAINER_OF(lease, struct ear, lease));
}

static void
on_ready(struct lane_lease *lease)
{
    struct ear *ear = CONTAINER_OF(lease, struct ear, lease);

    ear->state = EAR_ASKED;
    ear->is_pinged = false;
    ear->heard_us = now_of(ear);
    lane_say(lease->lane, VIEW(TRACK_WORDS));
}

/* Whoever is told may do anything, so not from in here; but from now on nothing
 * that is read there may stay in a cache. */
static void
on_gone(struct lane_lease *lease)
{
    struct ear *ear = CONTAINER_OF(lease, struct ear, lease);
    bool was_on = ear->state == EAR_ON;

    ear->state = EAR_DEAF;
    ear->was_lost = ear->was_lost || was_on;
    ear->was_refused = ear->was_refused || !was_on;
    ear->is_too_long = false;
    buf_fini(&ear->gathered);
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
    log_info_limited(name, ear->server->name,
                     "connection for CLIENT TRACKING was lost",
                     "pool=%s server=%s", name, ear->server->name);
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
        unsigned doublings = MIN(ear->failures, AGAIN_DOUBLINGS);
        start_timer(ear, AGAIN_MS << doublings);
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
    ear->server = server;
    ear->lease.key = (struct lane_key){.db = 0, .resp = 3};
    ear->lease.listens = true;
    ear->lease.on_lane = on_lane;
    ear->lease.on_gone = on_gone;
    ear->lease.on_ready = on_ready;
    ear->lease.on_frame = ear_on_frame;
    timer_init(&ear->timer, tracking->pool->env->loop, on_timer, ear);
    ear_connect(ear);
    return ear;
}

void
ear_free(struct ear **earp, enum close_reason why)
{
    struct ear *ear = *earp;
    struct lane *lane = ear->lease.lane;

    *earp = NULL;
    ear->is_closing = true;
    if (lane != NULL)
        lane_close(&lane, why);
    else if (ear->lease.is_waiting)
        server_end_lease(ear->server, &ear->lease);
    timer_stop(&ear->timer);
    buf_fini(&ear->gathered);
    mem_free(ear->refusal);
    mem_free(ear);
}

void
ear_tick(struct ear *ear, uint64_t now_us)
{
    const struct pool_settings *settings = ear->tracking->pool->settings;
    uint64_t interval_us = (uint64_t)settings->probe_interval_ms * US_PER_MS;
    uint64_t timeout_us = (uint64_t)settings->probe_timeout_ms * US_PER_MS;
    struct lane *lane = ear->lease.lane;

    if (ear->state == EAR_DEAF || interval_us == 0)
        return;
    if (ear->is_pinged && now_us > ear->pinged_us + timeout_us) {
        lane_close(&lane, CLOSE_SERVER_SILENT);
    } else if (!ear->is_pinged && now_us > ear->heard_us + interval_us) {
        ear->is_pinged = true;
        ear->pinged_us = now_us;
        lane_say(lane, VIEW("*1\r\n$4\r\nPING\r\n"));
    }
}
