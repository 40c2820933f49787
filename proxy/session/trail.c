/*
 * session/trail.c - which lanes a client that tracks has, and what goes over them.
 */
#include "session/trail_priv.h"

#include "base/mem.h"
#include "session/wait.h"

static struct trail *
trail_of(const struct session *session)
{
    const struct tracker *tracker = tracker_of(session);

    return tracker == NULL ? NULL : tracker->trail;
}

static struct trail_lane *
find(const struct trail *trail, const struct server *server)
{
    struct trail_lane *own;

    LIST_FOREACH (own, &trail->lanes, link) {
        if (own->server == server)
            break;
    }
    return own;
}

static struct trail_lane *
find_number(const struct trail *trail, uint64_t number)
{
    struct trail_lane *own;

    LIST_FOREACH (own, &trail->lanes, link) {
        if (own->number == number)
            break;
    }
    return own;
}

/* --- all of its lanes -------------------------------------------------------------- */

/* To each shard; those that are there are left as they are.  `is_late`: what was
 * changed there before they are has not been told. */
static void
connect_all(struct trail *trail, bool is_late)
{
    const struct session_pool *pool = trail_session(trail)->pool;
    const struct generation *current = pool->pool->current;

    for (uint32_t i = 0; i < current->shard_count; i++) {
        struct server *server = generation_server(current, i);
        struct trail_lane *own = find(trail, server);
        if (own == NULL) {
            own = trail_lane_new(trail, server);
            own->has_missed = is_late && trail->tracker->options.is_bcast;
        }
        if (own->state == TRAIL_AWAY)
            trail_connect(own);
    }
}

/* --- looking at it --------------------------------------------------------------- */

bool
trail_has_no_map(const struct tracker *tracker)
{
    return tracker->trail != NULL && tracker->trail->is_eager &&
        LIST_EMPTY(&tracker->trail->lanes);
}

bool
trail_is_settled(const struct tracker *tracker)
{
    const struct trail *trail = tracker->trail;
    const struct trail_lane *own;

    if (!trail->is_eager)
        return true;
    LIST_FOREACH (own, &trail->lanes, link) {
        if (own->state != TRAIL_ON && !own->has_failed)
            return false;
    }
    return !LIST_EMPTY(&trail->lanes);
}

static bool
is_any_away(const struct trail *trail)
{
    const struct trail_lane *own;

    LIST_FOREACH (own, &trail->lanes, link) {
        if (own->state == TRAIL_AWAY && own->has_failed)
            return true;
    }
    return false;
}

/* Who waits is told, which may be the end of it all. */
static void
settle(struct trail *trail)
{
    struct tracker *tracker = trail->tracker;
    char *refusal = trail->refusal;

    trail->refusal = NULL;
    if (tracker->request == NULL || tracker->asks)
        ; /* nobody waits */
    else if (refusal != NULL)
        tracker_on_refused(tracker, view_str(refusal));
    else if (trail_is_settled(tracker))
        tracker_on_trail(tracker);
    mem_free(refusal);
}

/* The lanes without ears.  False: that was the end of the session. */
static bool
drop_deaf(struct trail *trail)
{
    const struct session *session = trail_session(trail);
    struct trail_lane *own = LIST_FIRST(&trail->lanes);

    while (own != NULL) {
        struct trail_lane *next = LIST_NEXT(own, link);
        if (own->is_deaf)
            trail_lose_lane(own);
        if (session->state == SESSION_CLOSED)
            return false;
        own = next;
    }
    return true;
}

static void
on_timer(struct timer *timer, void *arg)
{
    struct trail *trail = arg;

    if (!drop_deaf(trail))
        return;
    if (trail->was_lost)
        session_pool_hint(trail_session(trail)->pool, MAP_CAUSE_LOST);
    else if (trail->is_eager)
        connect_all(trail, true);
    trail->was_lost = false;
    if (trail->is_eager && is_any_away(trail))
        timer_start(timer, listening_pause_ms(trail->failures));
    settle(trail);
}

/* --- life ------------------------------------------------------------------------- */

static struct trail *
trail_new(struct tracker *tracker)
{
    struct trail *trail = MEM_NEW(struct trail);
    struct session *session = tracker->subscriber->session;

    trail->tracker = tracker;
    LIST_INIT(&trail->lanes);
    timer_init(&trail->timer, session->pool->env->loop, on_timer, trail);
    tracker->trail = trail;
    wait_note_own(session);
    return trail;
}

static void
drop_all(struct trail *trail)
{
    struct trail_lane *own;

    while ((own = LIST_FIRST(&trail->lanes)) != NULL)
        trail_lane_free(own);
}

void
trail_free(struct tracker *tracker)
{
    struct trail *trail = tracker->trail;

    if (trail == NULL)
        return;
    drop_all(trail);
    tracker->trail = NULL;
    timer_stop(&trail->timer);
    mem_free(trail->refusal);
    mem_free(trail);
}

/* Who is told now cannot be said before the ear has its number.  (An ear that is not
 * needed any more stays: news may be on its way.) */
static void
say_again(struct trail_lane *own, const struct command_args *args)
{
    if (own->state == TRAIL_AWAY)
        return;
    if (!trail_redirects(own->trail) || own->ear_id != 0) {
        trail_say_tracking(own, args);
        return;
    }
    own->state = TRAIL_ASKED;
    trail_connect(own);
}

/* Servers do not want to hear of a prefix twice, and these will. */
static bool
has_to_begin_anew(const struct trail *trail)
{
    const struct trail_lane *any = LIST_FIRST(&trail->lanes);

    return any != NULL && trail->tracker->options.is_bcast &&
        trail_redirects(trail) && any->ear_id == 0;
}

void
trail_begin(struct tracker *tracker, const struct command_args *args)
{
    bool is_new = tracker->trail == NULL;
    struct trail *trail = is_new ? trail_new(tracker) : tracker->trail;
    struct session_pool *pool = trail_session(trail)->pool;
    struct trail_lane *own;

    if (has_to_begin_anew(trail)) {
        drop_all(trail);
        trail_forget_all(trail);
    }
    LIST_FOREACH (own, &trail->lanes, link)
        say_again(own, args);
    trail->is_eager =
        tracker->options.is_bcast || trail_redirects(trail);
    if (!trail->is_eager)
        return;
    if (pool->pool->current->shard_count == 0)
        session_pool_hint(pool, MAP_CAUSE_UNSERVED);
    connect_all(trail, false);
}

/* --- its commands ----------------------------------------------------------------- */

/* Connections have been lost since it was said there, or database 0 was another. */
static bool
is_usable(const struct trail_lane *own)
{
    return own->lane.lease.lane != NULL &&
        own->lane.lease.key.db == trail_session(own->trail)->db &&
        own->lane.lease.key.user == trail_session(own->trail)->user;
}

/* Who has gone another way has to come back first. */
static bool
is_behind_detour(const struct trail_lane *own)
{
    const struct request *head =
        TAILQ_FIRST(&trail_session(own->trail)->queue);

    return head != NULL && head->id <= own->detour;
}

/* The lane to this server, made if need be and if that can be.  One that is off
 * refuses all, at once. */
static struct trail_lane *
get_lane(struct trail *trail, struct server *server)
{
    struct trail_lane *own = find(trail, server);

    if (server_is_off(server))
        return NULL;
    if (own == NULL)
        own = trail_lane_new(trail, server);
    if (own->state != TRAIL_AWAY && !is_usable(own))
        trail_renew_lane(own);
    if (own->state == TRAIL_AWAY)
        trail_connect(own);
    return is_usable(own) && !is_behind_detour(own) ? own : NULL;
}

static bool
is_cached(const struct tracker *tracker, const struct request *request)
{
    return request->is_cached || (tracker->is_acting && tracker->is_caching);
}

struct lane *
trail_lane(struct request *request, struct server *server,
            struct lane_key key, const struct call *call)
{
    struct trail *trail = trail_of(request->session);

    if (trail == NULL || key.is_aside || key.user == LOGIN_ASKING)
        return NULL;
    struct trail_lane *own = get_lane(trail, server);
    if (own == NULL)
        return NULL;
    if ((request->command->flags & COMMAND_READONLY) == 0)
        wait_note_elsewhere(request->session, server->mark);
    bool is_said = is_cached(trail->tracker, request);
    if (is_said)
        trail_say_caching(own);
    /* ASKING in front of it makes servers forget CLIENT CACHING. */
    if (own->state == TRAIL_REFUSED || (is_said && call->asking))
        trail_forget_all(trail);
    return own->lane.lease.lane;
}

bool
trail_takes(struct request *request, struct server *server,
             struct lane_key key, struct call *call)
{
    struct lane *lane = trail_lane(request, server, key, call);

    if (lane == NULL)
        return false;
    lane_submit(lane, call);
    return true;
}

void
trail_note_detour(struct session *session, const struct server *server)
{
    struct trail *trail = trail_of(session);
    struct trail_lane *own = trail == NULL ? NULL : find(trail, server);

    if (trail == NULL)
        return;
    if (own != NULL)
        own->detour = session->pool->env->next_request_id;
    session->barrier = true;
    cell_inc(&session->pool->stats->tracking_detours);
    trail_forget_all(trail);
}

/* As server_end_lease() has it, but for news that may have come. */
void
trail_release(struct session *session, const struct server *server)
{
    struct trail *trail = trail_of(session);
    struct trail_lane *own = trail == NULL ? NULL : find(trail, server);
    struct lane *lane = own == NULL ? NULL : own->lane.lease.lane;

    if (lane == NULL || lane_is_clean(lane))
        return;
    trail_renew_lane(own);
}

uint64_t
trail_number(const struct session *session, const struct server *server)
{
    const struct trail *trail = trail_of(session);
    const struct trail_lane *own =
        trail == NULL ? NULL : find(trail, server);

    return own == NULL ? 0 : own->number;
}

void
trail_drop(struct session *session, uint64_t number)
{
    struct trail *trail = trail_of(session);
    struct trail_lane *own =
        trail == NULL || number == 0 ? NULL : find_number(trail, number);

    if (own != NULL)
        trail_renew_lane(own);
}

bool
trail_is_there(const struct session *session, uint64_t number)
{
    const struct trail *trail = trail_of(session);
    const struct trail_lane *own =
        trail == NULL ? NULL : find_number(trail, number);

    return own != NULL && is_usable(own);
}

/* --- what changes ------------------------------------------------------------------ */

void
trail_note_version(struct session *session)
{
    struct trail *trail = trail_of(session);
    struct trail_lane *own;

    if (trail == NULL)
        return;
    LIST_FOREACH (own, &trail->lanes, link) {
        if (own->lane.lease.lane != NULL)
            trail_say_version(own);
    }
}

void
trail_note_user(struct session *session)
{
    struct trail *trail = trail_of(session);
    struct trail_lane *own;

    if (trail == NULL)
        return;
    /* What is still waited for would be a lane of the one before as well. */
    LIST_FOREACH (own, &trail->lanes, link) {
        if (own->state != TRAIL_AWAY || own->lane.lease.is_waiting)
            trail_renew_lane(own);
    }
}

void
trail_note_caching(struct session *session)
{
    const struct tracker *tracker = tracker_of(session);
    struct request *request;

    if (tracker->trail == NULL || !tracker->is_acting || !tracker->is_caching)
        return;
    TAILQ_FOREACH_REVERSE(request, &session->queue, request_list, link)
    {
        if (request->id <= tracker->acting_after)
            break;
        request->is_cached = true;
    }
}

static bool
has_server(const struct generation *generation, const struct server *server)
{
    uint32_t i = 0;

    while (i < generation->server_count && generation->servers[i] != server)
        i++;
    return i < generation->server_count;
}

/* Servers that neither the pool nor the session has any more. */
static void
sweep(struct trail *trail)
{
    const struct session *session = trail_session(trail);
    struct trail_lane *own = LIST_FIRST(&trail->lanes);

    while (own != NULL) {
        struct trail_lane *next = LIST_NEXT(own, link);
        if (!has_server(session->pool->pool->current, own->server) &&
            !has_server(session->generation, own->server))
            trail_lane_free(own);
        own = next;
    }
}

void
trail_note_generation(struct session *session)
{
    struct trail *trail = trail_of(session);

    if (trail != NULL)
        sweep(trail);
}

void
trail_follow(struct tracker *tracker)
{
    struct trail *trail = tracker->trail;

    sweep(trail);
    trail_forget_all(trail);
    if (trail->is_eager)
        connect_all(trail, true);
    trail_look_later(trail, 0);
}

/* --- silence ----------------------------------------------------------------------- */

void
trail_tick(struct tracker *tracker, uint64_t now_us)
{
    struct trail_lane *own;

    LIST_FOREACH (own, &tracker->trail->lanes, link) {
        trail_look(own, now_us);
    }
}
