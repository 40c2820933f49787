/*
 * upstream/server.c - making, finding, leasing and closing lanes.
 */
#include "upstream/server.h"

#include <string.h>

#include "base/log_limit.h"
#include "base/mem.h"
#include "upstream/pool.h"
#include "upstream/server_priv.h"

#define BACKOFF_DOUBLINGS 16
#define BURST_US 250000 /* of connections at their pace, begun at once */

static void
on_connect_timer(struct timer *timer, void *arg)
{
    (void)timer;
    server_serve_waiters(arg);
}

/* Those for whom it is too soon wait on. */
void
server_serve_within(struct server *server, int64_t ms)
{
    uint64_t at_us =
        loop_now_us(server->pool->loop) + (uint64_t)ms * 1000;

    if (timer_is_active(&server->connect_timer) &&
        server->serve_at_us <= at_us)
        return;
    server->serve_at_us = at_us;
    timer_start(&server->connect_timer, ms);
}

/* --- life ------------------------------------------------------------------- */

struct server *
server_new(struct pool *pool)
{
    struct server *server = MEM_NEW(struct server);

    server->pool = pool;
    server->mark = UINT64_C(1) << (pool->next_mark++ % 64);
    timer_init(&server->connect_timer, pool->loop, on_connect_timer, server);
    TAILQ_INIT(&server->lanes);
    TAILQ_INIT(&server->idle);
    TAILQ_INIT(&server->waiters);
    TAILQ_INIT(&server->parked);
    TAILQ_INSERT_TAIL(&pool->servers, server, link);
    pool->server_count++;
    return server;
}

void
server_unref(struct server *server)
{
    if (--server->refs > 0)
        return;
    ASSERT(TAILQ_EMPTY(&server->lanes));
    TAILQ_REMOVE(&server->pool->servers, server, link);
    server->pool->server_count--;
    server_free_groups(server);
    address_list_unref(&server->addresses);
    snapshot_unref(&server->snapshot);
    mem_free(server->refusal);
    mem_free(server);
}

void
server_close(struct server *server, enum close_reason why)
{
    struct lane *lane;

    while ((lane = TAILQ_FIRST(&server->lanes)) != NULL)
        lane_close(&lane, why);
    server_fail_parked(server, why);
    timer_stop(&server->connect_timer);
}

/* --- making ----------------------------------------------------------------- */

bool
server_rests(const struct server *server)
{
    /* It is kept for those who have been routed to it, and has closed its lanes. */
    if (server->users == 0)
        return true;
    if (server->is_down || server_has_no_address(server))
        return true;
    return server->failures > 0 &&
        loop_now_us(server->pool->loop) < server->retry_at_us;
}

bool
server_refuses(const struct server *server, struct lane_key key)
{
    return server_rests(server) && (!key.is_aside || server->is_down);
}

static struct lane *
find_idle_shared(struct server *server)
{
    struct lane *lane;

    TAILQ_FOREACH(lane, &server->lanes, link)
    {
        if (lane->kind == LANE_SHARED && lane->state == LANE_READY &&
            lane_is_idle(lane))
            break;
    }
    return lane;
}

/* One place is kept for a shared lane: whoever has a private one may keep it for
 * as long as it likes, and must not shut all others out. */
bool
server_has_private_room(const struct server *server)
{
    return server->private_count < MAX(server->lane_max - 1, 1u);
}

/* Make room under the cap by closing an idle lane. */
static bool
server_has_room(struct server *server, enum lane_kind kind)
{
    bool may_grow = kind == LANE_SHARED || server_has_private_room(server);

    if (may_grow && server->lane_count < server->lane_max)
        return true;
    struct lane *victim = TAILQ_FIRST(&server->idle);
    if (victim == NULL && may_grow)
        victim = find_idle_shared(server);
    if (victim == NULL)
        return false;
    lane_close(&victim, CLOSE_SERVER_IDLE);
    return true;
}

/* Has its turn come? If not, who waits is served later, with some jitter. */
static bool
server_may_connect(struct server *server)
{
    uint64_t now_us = loop_now_us(server->pool->loop);
    uint32_t interval_ms = (uint32_t)(server->connect_interval_us / 1000);

    if (server->next_connect_us <= now_us + BURST_US)
        return true;
    cell_inc(&server->stats->connect_waits);
    if (!timer_is_active(&server->connect_timer)) {
        uint64_t early_us = server->next_connect_us - now_us - BURST_US;
        server_serve_within(server,
                            (int64_t)(early_us / 1000 + 1) +
                                pool_random(server->pool, interval_ms + 1));
    }
    return false;
}

/* Has a server just refused the user?  Who waits is served later. */
static bool
server_may_log_in(struct server *server, enum lane_kind kind,
                  struct lane_key key)
{
    int64_t pause_ms;

    if (kind != LANE_SHARED ||
        login_may_connect(server->pool, key.user, &pause_ms))
        return true;
    server_serve_within(server, pause_ms);
    return false;
}

static const char *
kind_name(enum lane_kind kind)
{
    static const char *const names[] = {"shared", "private", "listening"};

    return names[kind];
}

static struct cell *
count_of_kind(struct server *server, enum lane_kind kind)
{
    switch (kind) {
    case LANE_SHARED:
        return &server->stats->lanes_shared;
    case LANE_PRIVATE:
        return &server->stats->lanes_private;
    case LANE_LISTENING:
        break;
    }
    return &server->stats->lanes_listening;
}

static struct lane *
server_make_lane(struct server *server, enum lane_kind kind,
                 struct lane_key key)
{
    if (server_refuses(server, key)) {
        cell_inc(&server->stats->refused_fast);
        return NULL;
    }
    if (server->addresses->count == 0 ||
        !server_may_log_in(server, kind, key) || !server_may_connect(server) ||
        !server_has_room(server, kind))
        return NULL;
    server->next_connect_us =
        MAX(server->next_connect_us, loop_now_us(server->pool->loop)) +
        server->connect_interval_us;

    struct lane *lane = lane_new(server, kind, key);
    TAILQ_INSERT_TAIL(&server->lanes, lane, link);
    server->lane_count++;
    server->private_count += kind != LANE_SHARED;
    cell_inc(&server->stats->server_connections);
    cell_inc(count_of_kind(server, kind));
    login_add_lane(server->pool, key.user);
    return lane;
}

/* --- shared lanes ----------------------------------------------------------- */

struct lane *
server_shared_lane(struct server *server, struct lane_key key, unsigned number)
{
    struct lane *lane = *server_shared_place(server, key, number);

    if (lane != NULL || server_is_leaving(server, key, number))
        return lane;
    /* Others may be closed for it, and places of theirs go. */
    lane = server_make_lane(server, LANE_SHARED, key);
    if (lane != NULL)
        *server_shared_place(server, key, number) = lane;
    return lane;
}

void
server_preconnect(struct server *server, struct lane_key key)
{
    for (unsigned n = 0; n < server->settings->server_connections; n++)
        (void)server_shared_lane(server, key, n);
}

/* --- leases ----------------------------------------------------------------- */

static struct lane *
find_idle(struct server *server, struct lane_key key)
{
    struct lane *lane;

    /* The one used last is the least likely to have been closed by the
     * server meanwhile. */
    TAILQ_FOREACH_REVERSE(lane, &server->idle, lane_list, idle_link)
    {
        if (lane_key_equal(lane->key, key))
            break;
    }
    return lane;
}

/* False when the caller has to wait; true with lease->lane NULL when the
 * server cannot be reached. */
static bool
try_lease(struct server *server, struct lane_lease *lease)
{
    if (server->is_down)
        return true;
    struct lane *lane =
        lease->listens ? NULL : find_idle(server, lease->key);

    if (lane != NULL)
        TAILQ_REMOVE(&server->idle, lane, idle_link);
    else
        lane = server_make_lane(
            server, lease->listens ? LANE_LISTENING : LANE_PRIVATE, lease->key);
    lease->lane = lane;
    if (lane != NULL)
        lane->lease = lease;
    return lane != NULL || server_rests(server);
}

static void
stop_waiting(struct server *server, struct lane_lease *lease)
{
    lease->is_waiting = false;
    TAILQ_REMOVE(&server->waiters, lease, link);
}

void
server_lease(struct server *server, struct lane_lease *lease)
{
    ASSERT(lease->lane == NULL && !lease->is_waiting);
    if (TAILQ_EMPTY(&server->waiters) && try_lease(server, lease))
        return;
    lease->is_waiting = true;
    TAILQ_INSERT_TAIL(&server->waiters, lease, link);
    cell_inc(&server->stats->lease_waits);
}

/* A place has become free: serve those who wait, the first first. */
void
server_serve_waiters(struct server *server)
{
    struct lane_lease *lease;

    server_serve_parked(server);
    while ((lease = TAILQ_FIRST(&server->waiters)) != NULL) {
        if (!try_lease(server, lease))
            return;
        stop_waiting(server, lease);
        lease->on_lane(lease);
    }
}

void
server_end_lease(struct server *server, struct lane_lease *lease)
{
    struct lane *lane = lease->lane;

    ASSERT(lane == NULL || lane->kind != LANE_LISTENING);
    if (lease->taken != NULL)
        server_untake(server, lease);
    else if (lease->is_waiting)
        stop_waiting(server, lease);
    if (lane == NULL)
        return;
    lease->lane = NULL;
    lane->lease = NULL;
    TAILQ_INSERT_TAIL(&server->idle, lane, idle_link);
    if (!lane_is_clean(lane) || stream_input_len(&lane->stream) > 0)
        lane_close(&lane, CLOSE_LANE_UNCLEAN);
    else if (unlikely(login_is_over(server->pool, lane->key.user)))
        lane_close(&lane, CLOSE_SERVER_IDLE);
    else
        server_serve_waiters(server);
}

void
server_drop_lease(struct server *server, struct lane_lease *lease,
                  enum close_reason why)
{
    struct lane *lane = lease->lane;

    if (lane != NULL)
        lane_close(&lane, why);
    else if (lease->is_waiting)
        server_end_lease(server, lease);
}

/* --- what lanes report ------------------------------------------------------ */

void
server_on_lane_idle(struct lane *lane)
{
    struct server *server = lane->server;
    struct lane_lease *heir = lane->heir;

    if (unlikely(heir != NULL)) {
        server_hand_over(lane);
        heir->on_lane(heir);
    } else if (unlikely(lane->is_left)) {
        lane_close(&lane, CLOSE_SERVER_IDLE);
    }
    if (unlikely(!TAILQ_EMPTY(&server->parked) ||
                 !TAILQ_EMPTY(&server->waiters)))
        server_serve_waiters(server);
}

void
server_on_lane_ready(struct lane *lane)
{
    struct server *server = lane->server;

    if (server->failures > 0 && !server->pool->is_quiet)
        log_info_limited(server->settings->name, server->name,
                         "server is reachable again", "pool=%s server=%s",
                         server->settings->name, server->name);
    server->failures = 0;
    server->is_silent = false;
    log_debug("connected to server", "pool=%s server=%s kind=%s resp=%u db=%u",
              server->settings->name, server->name,
              kind_name(lane->kind),
              lane->key.resp, lane->key.db);
}

static bool
is_connect_failure(enum close_reason why)
{
    return why == CLOSE_SERVER_CONNECT || why == CLOSE_NO_SOCKET ||
        why == CLOSE_SERVER_HANDSHAKE || why == CLOSE_SERVER_NOT_PRIMARY ||
        why == CLOSE_SERVER_NOT_REPLICA ||
        why == CLOSE_SERVER_CONNECT_TIMEOUT;
}

static bool
is_hang_up(enum close_reason why)
{
    return why == CLOSE_SERVER_EOF || why == CLOSE_SERVER_ERROR;
}

void
server_rest(struct server *server)
{
    const struct pool_settings *settings = server->settings;
    unsigned doublings = MIN(server->failures, BACKOFF_DOUBLINGS);
    int64_t pause = settings->reconnect_min_ms << doublings;

    pause = MIN(pause, settings->reconnect_max_ms);
    pause -= pool_random(server->pool, (uint32_t)pause / 2 + 1);
    server->failures++;
    server->retry_at_us =
        loop_now_us(server->pool->loop) + (uint64_t)pause * 1000;
}

/* Hung up on before it was ready: once may be a restart, so somebody may try
 * again at once; a server that goes on like this rests. */
static void
server_note_hang_up(struct server *server)
{
    if (server->failures == 0)
        server->failures = 1;
    else
        server_rest(server);
}

bool
server_leave_lane(struct lane *lane)
{
    struct server *server = lane->server;

    ASSERT(lane->kind == LANE_SHARED);
    if (server->lane_count >= server->lane_max || lane->heir != NULL)
        return false;
    lane->is_left = true;
    server_forget_shared(server, lane);
    server->pool->lost_marks |= server->mark;
    cell_inc(&server->stats->lanes_left);
    return true;
}

void
server_on_lane_closed(struct lane *lane, enum close_reason why)
{
    struct server *server = lane->server;

    TAILQ_REMOVE(&server->lanes, lane, link);
    if (server->complainer == lane)
        server->complainer = NULL;
    server->lane_count--;
    server->private_count -= lane->kind != LANE_SHARED;
    cell_dec(&server->stats->server_connections);
    cell_dec(count_of_kind(server, lane->kind));
    if (lane->kind == LANE_SHARED)
        server_forget_shared(server, lane);
    else if (lane->lease == NULL)
        TAILQ_REMOVE(&server->idle, lane, idle_link);
    if (lane->kind == LANE_SHARED && lane->was_ready &&
        why != CLOSE_SERVER_IDLE)
        server->pool->lost_marks |= server->mark;
    if (is_connect_failure(why) && !lane->was_ready && !server_rests(server))
        server_rest(server);
    else if (is_hang_up(why) && !lane->was_ready && !server_rests(server))
        server_note_hang_up(server);
    if (lane->lease != NULL) {
        struct lane_lease *lease = lane->lease;
        lane->lease = NULL;
        lease->lane = NULL;
        lease->on_gone(lease);
    }
    if (lane->heir != NULL)
        server_disinherit(lane);
    login_remove_lane(server->pool, lane->key.user);
    if (why != CLOSE_POOL_REMOVED && why != CLOSE_SERVER_IDLE &&
        why != CLOSE_SERVER_MOVED)
        server_serve_waiters(server);
}

void
server_close_idle(struct server *server, uint64_t now_us)
{
    uint64_t limit =
        (uint64_t)server->settings->server_idle_timeout_ms * 1000;
    struct lane *lane = TAILQ_FIRST(&server->lanes);

    while (limit > 0 && lane != NULL) {
        struct lane *next = TAILQ_NEXT(lane, link);
        if (lane->state == LANE_READY && lane->lease == NULL &&
            lane_is_idle(lane) && lane->used_us + limit < now_us)
            lane_close(&lane, CLOSE_SERVER_IDLE);
        lane = next;
    }
}

/* --- logins ------------------------------------------------------------------ */

/* A lane in use is closed when it is idle, or given back. */
static void
end_lane(struct lane *lane)
{
    if (lane->kind == LANE_SHARED) {
        server_forget_shared(lane->server, lane);
        lane->is_left = true;
    }
    if (lane->lease == NULL && lane->heir == NULL && lane_is_idle(lane))
        lane_close(&lane, CLOSE_SERVER_IDLE);
}

void
server_end_login(struct server *server, uint16_t user)
{
    struct lane *lane = TAILQ_FIRST(&server->lanes);

    server_fail_parked_of(server, user);
    while (lane != NULL) {
        struct lane *next = TAILQ_NEXT(lane, link);
        if (lane->key.user == user)
            end_lane(lane);
        lane = next;
    }
    /* Whoever is told may do anything, so not from in here. */
    if (!TAILQ_EMPTY(&server->parked) || !TAILQ_EMPTY(&server->waiters))
        server_serve_within(server, 0);
}
