/*
 * upstream/server.c - making, finding, leasing and closing lanes.
 */
#include "upstream/server.h"

#include "base/log.h"
#include "base/mem.h"
#include "upstream/pool.h"

#define BACKOFF_DOUBLINGS 16

void
server_init(struct server *server, struct pool *pool, uint32_t shard,
            const char *name, const struct address *address,
            struct server_stats *stats, unsigned lane_max)
{
    *server = (struct server){
        .pool = pool,
        .shard = shard,
        .name = name,
        .address = address,
        .stats = stats,
        .lane_max = lane_max,
    };
    TAILQ_INIT(&server->lanes);
    TAILQ_INIT(&server->idle);
    TAILQ_INIT(&server->waiters);
}

void
server_fini(struct server *server, enum close_reason why)
{
    struct lane *lane;

    while ((lane = TAILQ_FIRST(&server->lanes)) != NULL)
        lane_close(&lane, why);
    while (server->groups != NULL) {
        struct lane_group *group = server->groups;
        server->groups = group->next;
        mem_free(group);
    }
}

static bool
key_equal(struct lane_key a, struct lane_key b)
{
    return a.db == b.db && a.resp == b.resp;
}

/* --- making ----------------------------------------------------------------- */

static bool
server_rests(const struct server *server)
{
    return server->failures > 0 &&
        loop_now_us(server->pool->loop) < server->retry_at_us;
}

/* Make room under the cap by closing an idle private lane. */
static bool
server_has_room(struct server *server)
{
    if (server->lane_count < server->lane_max)
        return true;
    struct lane *victim = TAILQ_FIRST(&server->idle);
    if (victim == NULL)
        return false;
    lane_close(&victim, CLOSE_SERVER_IDLE);
    return true;
}

static struct lane *
server_make_lane(struct server *server, enum lane_kind kind,
                 struct lane_key key)
{
    if (server_rests(server)) {
        cell_inc(&server->stats->refused_fast);
        return NULL;
    }
    if (!server_has_room(server))
        return NULL;

    struct lane *lane = lane_new(server, kind, key);
    TAILQ_INSERT_TAIL(&server->lanes, lane, link);
    server->lane_count++;
    cell_inc(&server->stats->server_connections);
    cell_inc(kind == LANE_SHARED ? &server->stats->lanes_shared
                                 : &server->stats->lanes_private);
    return lane;
}

/* --- shared lanes ----------------------------------------------------------- */

static struct lane_group *
server_group(struct server *server, struct lane_key key)
{
    size_t count = server->pool->settings->server_connections;
    struct lane_group *group = server->groups;

    while (group != NULL && !key_equal(group->key, key))
        group = group->next;
    if (group == NULL) {
        group = mem_zalloc(sizeof(*group) + count * sizeof(struct lane *));
        group->key = key;
        group->next = server->groups;
        server->groups = group;
    }
    return group;
}

struct lane *
server_shared_lane(struct server *server, struct lane_key key, unsigned number)
{
    size_t count = server->pool->settings->server_connections;
    struct lane_group *group = server_group(server, key);
    struct lane **lanep = &group->lanes[count == 1 ? 0 : number % count];

    if (*lanep == NULL)
        *lanep = server_make_lane(server, LANE_SHARED, key);
    return *lanep;
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
        if (key_equal(lane->key, key))
            break;
    }
    return lane;
}

/* False when the caller has to wait; true with lease->lane NULL when the
 * server cannot be reached. */
static bool
try_lease(struct server *server, struct lane_lease *lease)
{
    struct lane *lane = find_idle(server, lease->key);

    if (lane != NULL)
        TAILQ_REMOVE(&server->idle, lane, idle_link);
    else
        lane = server_make_lane(server, LANE_PRIVATE, lease->key);
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
static void
server_serve_waiters(struct server *server)
{
    struct lane_lease *lease;

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

    if (lease->is_waiting)
        stop_waiting(server, lease);
    if (lane == NULL)
        return;
    lease->lane = NULL;
    lane->lease = NULL;
    TAILQ_INSERT_TAIL(&server->idle, lane, idle_link);
    if (!lane_is_idle(lane) || lane->paused || lane->upload != NULL ||
        stream_input_len(&lane->stream) > 0)
        lane_close(&lane, CLOSE_LANE_UNCLEAN);
    else
        server_serve_waiters(server);
}

/* --- what lanes report ------------------------------------------------------ */

void
server_on_lane_ready(struct lane *lane)
{
    struct server *server = lane->server;

    if (server->failures > 0)
        log_info("server is reachable again", "pool=%s server=%s",
                 server->pool->settings->name, server->name);
    server->failures = 0;
    log_debug("connected to server", "pool=%s server=%s kind=%s resp=%u db=%u",
              server->pool->settings->name, server->name,
              lane->kind == LANE_SHARED ? "shared" : "private",
              lane->key.resp, lane->key.db);
}

static bool
is_connect_failure(enum close_reason why)
{
    return why == CLOSE_SERVER_CONNECT || why == CLOSE_SERVER_HANDSHAKE ||
        why == CLOSE_SERVER_CONNECT_TIMEOUT;
}

static void
server_rest(struct server *server)
{
    const struct pool_settings *settings = server->pool->settings;
    unsigned doublings = MIN(server->failures, BACKOFF_DOUBLINGS);
    int64_t pause = settings->reconnect_min_ms << doublings;

    pause = MIN(pause, settings->reconnect_max_ms);
    pause -= pool_random(server->pool, (uint32_t)pause / 2 + 1);
    server->failures++;
    server->retry_at_us =
        loop_now_us(server->pool->loop) + (uint64_t)pause * 1000;
}

static void
forget_shared(struct server *server, struct lane *lane)
{
    size_t count = server->pool->settings->server_connections;
    struct lane_group *group = server_group(server, lane->key);

    for (size_t i = 0; i < count; i++) {
        if (group->lanes[i] == lane)
            group->lanes[i] = NULL;
    }
}

void
server_on_lane_closed(struct lane *lane, enum close_reason why)
{
    struct server *server = lane->server;

    TAILQ_REMOVE(&server->lanes, lane, link);
    server->lane_count--;
    cell_dec(&server->stats->server_connections);
    if (lane->kind == LANE_SHARED) {
        forget_shared(server, lane);
        cell_dec(&server->stats->lanes_shared);
    } else {
        cell_dec(&server->stats->lanes_private);
        if (lane->lease == NULL)
            TAILQ_REMOVE(&server->idle, lane, idle_link);
    }
    if (is_connect_failure(why) && !server_rests(server))
        server_rest(server);
    if (lane->lease != NULL) {
        struct lane_lease *lease = lane->lease;
        lane->lease = NULL;
        lease->lane = NULL;
        lease->on_gone(lease);
    }
    if (why != CLOSE_SHUTDOWN && why != CLOSE_SERVER_IDLE)
        server_serve_waiters(server);
}

void
server_close_idle(struct server *server, uint64_t now_us)
{
    uint64_t limit =
        (uint64_t)server->pool->settings->server_idle_timeout_ms * 1000;
    struct lane *lane = TAILQ_FIRST(&server->lanes);

    while (limit > 0 && lane != NULL) {
        struct lane *next = TAILQ_NEXT(lane, link);
        if (lane->state == LANE_READY && lane->lease == NULL &&
            lane_is_idle(lane) && lane->used_us + limit < now_us)
            lane_close(&lane, CLOSE_SERVER_IDLE);
        lane = next;
    }
}
