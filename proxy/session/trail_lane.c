/*
 * session/trail_lane.c - having and losing a lane of a client that tracks.
 */
#include "base/log_limit.h"
#include "base/mem.h"
#include "session/identity.h"
#include "session/trail_priv.h"
#include "session/wait.h"

#define US_PER_MS 1000

void
trail_look_later(struct trail *trail, int64_t ms)
{
    timer_start(&trail->timer, ms);
}

void
trail_forget_all(struct trail *trail)
{
    tracker_tell(trail->tracker, (struct extent){0});
}

/* --- losing a lane -------------------------------------------------------------- */

/* It is no lane of ours any more, whatever has become of it. */
static void
set_away(struct trail_lane *own)
{
    own->state = TRAIL_AWAY;
    own->number = 0;
    own->last = NULL;
    own->is_deaf = false;
    own->lane.is_pinged = false;
}

void
trail_close_lane(struct trail_lane *own)
{
    set_away(own);
    server_drop_lease(own->server, &own->lane.lease, CLOSE_LANE_UNCLEAN);
}

void
trail_renew_lane(struct trail_lane *own)
{
    struct trail *trail = own->trail;

    own->has_failed = true;
    own->has_missed = trail->tracker->options.is_bcast;
    trail_forget_all(trail);
    trail_look_later(trail, 0);
    trail_close_lane(own); /* last, as whoever is told may do anything */
}

static void
note_loss(struct trail_lane *own)
{
    struct trail *trail = own->trail;
    struct session_pool *pool = trail_session(trail)->pool;
    const char *name = pool->settings->name;

    trail->was_lost = true;
    own->has_failed = true;
    own->has_missed = trail->tracker->options.is_bcast;
    cell_inc(&pool->stats->tracking_losses);
    log_info_limited(name, own->server->name,
                     "connection for CLIENT TRACKING was lost",
                     "pool=%s server=%s", name, own->server->name);
    wait_note_loss(trail_session(trail), own->server);
    trail_forget_all(trail);
}

static void
note_failure(struct trail_lane *own)
{
    own->has_failed = true;
    own->has_missed = own->trail->tracker->options.is_bcast;
    own->trail->failures++;
    own->trail->was_lost = true;
}

/* Its calls are told by themselves, behind this. */
static void
on_lane_gone(struct lane_lease *lease)
{
    struct trail_lane *own =
        CONTAINER_OF(lease, struct trail_lane, lane.lease);
    bool was_ready = own->last != NULL && own->last->was_ready;

    listening_on_gone(&own->lane);
    if (own->state == TRAIL_AWAY)
        return; /* that was our wish */
    set_away(own);
    if (was_ready)
        note_loss(own);
    else
        note_failure(own);
    trail_look_later(own->trail, 0);
}

void
trail_lose_lane(struct trail_lane *own)
{
    note_loss(own);
    trail_close_lane(own);
}

/* The server has nobody to tell.  That may be the end of an answer that is half
 * told, and so of the session: not from in here. */
static void
fail_ear(struct trail_lane *own)
{
    if (own->state != TRAIL_AWAY)
        own->is_deaf = true;
    else
        note_failure(own);
    trail_look_later(own->trail, 0);
}

static void
on_ear_gone(struct lane_lease *lease)
{
    struct trail_lane *own =
        CONTAINER_OF(lease, struct trail_lane, ear.lease);

    listening_on_gone(&own->ear);
    own->ear_id = 0;
    if (!own->ear.is_closing && trail_redirects(own->trail))
        fail_ear(own);
}

/* --- having a lane --------------------------------------------------------------- */

static void
take_lane(struct trail_lane *own)
{
    own->last = own->lane.lease.lane;
    own->number = ++trail_session(own->trail)->pool->env->last_trail_lane;
    trail_say_tracking(own, NULL);
    if (own->lane.lease.key.resp != trail_session(own->trail)->resp)
        trail_say_version(own); /* HELLO was said while it was waited for */
}

static void
on_lane(struct lane_lease *lease)
{
    struct trail_lane *own =
        CONTAINER_OF(lease, struct trail_lane, lane.lease);

    if (lease->lane != NULL) {
        take_lane(own);
        return;
    }
    note_failure(own);
    trail_look_later(own->trail, 0);
}

static void
on_ear(struct lane_lease *lease)
{
    struct trail_lane *own =
        CONTAINER_OF(lease, struct trail_lane, ear.lease);

    if (lease->lane == NULL)
        fail_ear(own);
}

static void
on_ear_ready(struct lane_lease *lease)
{
    struct trail_lane *own =
        CONTAINER_OF(lease, struct trail_lane, ear.lease);

    listening_on_ready(&own->ear);
    lane_say(lease->lane, VIEW("*2\r\n$6\r\nCLIENT\r\n$2\r\nID\r\n"));
}

/* False: the server cannot be reached. */
static bool
connect_lane(struct trail_lane *own)
{
    const struct session *session = trail_session(own->trail);

    if (own->lane.lease.lane != NULL)
        trail_say_tracking(own, NULL);
    if (own->lane.lease.lane != NULL || own->lane.lease.is_waiting)
        return true;
    own->lane.lease.key =
        (struct lane_key){.db = session->db,
                          .user = identity_number(session),
                          .resp = session->resp};
    if (!listening_connect(&own->lane))
        return false;
    if (own->lane.lease.lane != NULL)
        take_lane(own);
    return true;
}

void
trail_connect(struct trail_lane *own)
{
    if (trail_redirects(own->trail) && own->ear_id == 0) {
        if (!listening_connect(&own->ear))
            fail_ear(own);
    } else if (!connect_lane(own)) {
        note_failure(own);
        trail_look_later(own->trail, 0);
    }
}

struct trail_lane *
trail_lane_new(struct trail *trail, struct server *server)
{
    struct trail_lane *own = MEM_NEW(struct trail_lane);

    own->trail = trail;
    own->server = server;
    listening_init(&own->lane, server, 3, LOGIN_POOL);
    own->lane.lease.listens = false;
    own->lane.lease.on_lane = on_lane;
    own->lane.lease.on_gone = on_lane_gone;
    own->lane.lease.on_frame = trail_on_lane_frame;
    listening_init(&own->ear, server, 3, LOGIN_POOL);
    own->ear.lease.on_lane = on_ear;
    own->ear.lease.on_gone = on_ear_gone;
    own->ear.lease.on_ready = on_ear_ready;
    own->ear.lease.on_frame = trail_on_ear_frame;
    LIST_INSERT_HEAD(&trail->lanes, own, link);
    return own;
}

void
trail_lane_free(struct trail_lane *own)
{
    LIST_REMOVE(own, link);
    trail_close_lane(own);
    listening_end(&own->ear, CLOSE_LANE_UNCLEAN);
    listening_end(&own->lane, CLOSE_LANE_UNCLEAN);
    mem_free(own);
}

/* --- silence ----------------------------------------------------------------------- */

static void
look_at_lane(struct trail_lane *own, uint64_t now_us)
{
    const struct pool_settings *settings = own->server->settings;
    uint64_t interval_us = (uint64_t)settings->probe_interval_ms * US_PER_MS;
    uint64_t timeout_us = (uint64_t)settings->probe_timeout_ms * US_PER_MS;
    struct listening *listening = &own->lane;
    struct lane *lane = listening->lease.lane;

    if (!listening_is_ready(listening) || interval_us == 0)
        return;
    if (listening->is_pinged && now_us > listening->pinged_us + timeout_us) {
        if (!lane->paused)
            lane_close(&lane, CLOSE_SERVER_SILENT);
    } else if (!listening->is_pinged && lane_is_idle(lane) &&
               now_us > MAX(listening->heard_us, lane->used_us) + interval_us) {
        trail_say_ping(own);
    }
}

void
trail_look(struct trail_lane *own, uint64_t now_us)
{
    look_at_lane(own, now_us);
    listening_look(&own->ear, now_us);
}
