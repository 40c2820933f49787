/*
 * daemon/prober.c - which servers are watched, from one snapshot to the next.
 */
#include "daemon/prober.h"

#include <string.h>

#include "base/mem.h"
#include "daemon/watch.h"
#include "upstream/pool.h"

#define PING_TEXT "*1\r\n$4\r\nPING\r\n"

/* --- servers ----------------------------------------------------------------- */

/* The same server as before, or a new one. */
static struct watch *
take_watch(struct prober *prober, struct watched_pool *pool,
           const struct server_place *place)
{
    for (uint32_t i = 0; i < pool->count; i++) {
        struct watch *watch = pool->watches[i];
        if (watch != NULL && server_is_at(watch->server, place)) {
            pool->watches[i] = NULL;
            return watch;
        }
    }
    return watch_new(prober, pool);
}

static struct watch **
take_watches(struct prober *prober, struct watched_pool *pool,
             struct snapshot *snapshot, uint32_t count)
{
    struct watch **watches = mem_array(count, sizeof(struct watch *));

    for (uint32_t i = 0; i < count; i++) {
        struct server_place place = {snapshot, pool->number, i, NULL};
        watches[i] = take_watch(prober, pool, &place);
    }
    return watches;
}

/* --- pools ------------------------------------------------------------------- */

static void
make_generation(struct prober *prober, struct watched_pool *pool,
                struct snapshot *snapshot, struct watch **watches,
                uint32_t count)
{
    struct server_stats **stats =
        mem_array(count, sizeof(struct server_stats *));

    for (uint32_t i = 0; i < count; i++)
        stats[i] = &watches[i]->stats;
    if (pool->pool != NULL) {
        (void)pool_take(pool->pool, snapshot, pool->number, stats);
    } else {
        pool->pool = pool_new(prober->loop, snapshot, pool->number, stats, 1);
        pool->pool->is_quiet = true;
    }
    mem_free(stats);
}

static void
forget(struct watched_pool *pool)
{
    for (uint32_t i = 0; i < pool->count; i++)
        watch_free(&pool->watches[i]);
    mem_free(pool->watches);
}

/* Only a change of settings, of the roster or of addresses is something to us;
 * which servers are live is not.  What is told of servers by their number is
 * believed from then on: they have other numbers, or are elsewhere. */
static void
watched_pool_take(struct prober *prober, struct watched_pool *pool,
                  struct snapshot *snapshot, size_t number)
{
    const struct pool_map *map = &snapshot->pools[number];
    uint32_t count = map->roster->count;

    pool->number = number;
    if (pool->pool != NULL && pool->pool->current->settings == map->settings &&
        pool_map_has_addresses_of(map, pool->pool->current->map))
        return;
    pool->numbered_at = snapshot->epoch;
    pool->is_all_live = map->live == NULL;
    struct watch **watches = take_watches(prober, pool, snapshot, count);
    make_generation(prober, pool, snapshot, watches, count);
    pool_sweep(pool->pool);
    forget(pool);
    pool->watches = watches;
    pool->count = count;
    for (uint32_t i = 0; i < count; i++)
        watch_place(watches[i], i);
}

static void
watched_pool_free(struct watched_pool *pool)
{
    pool_free(&pool->pool);
    forget(pool);
    mem_free(pool);
}

/* --- snapshots --------------------------------------------------------------- */

static struct watched_pool *
find_pool(const struct prober *prober, size_t id)
{
    for (size_t i = 0; i < prober->pool_count; i++) {
        if (prober->pools[i] != NULL && prober->pools[i]->id == id)
            return prober->pools[i];
    }
    return NULL;
}

static void
forget_missing(struct prober *prober, const struct edition *edition)
{
    size_t count = edition->snapshot->settings->pool_count;

    for (size_t i = 0; i < prober->pool_count; i++) {
        if (edition_find(edition, prober->pools[i]->id) == count)
            watched_pool_free(prober->pools[i]);
    }
}

void
prober_take(struct prober *prober)
{
    const struct edition *edition = prober->editions[0];
    struct snapshot *snapshot = edition->snapshot;
    size_t count = snapshot->settings->pool_count;
    struct watched_pool **pools =
        mem_array(count, sizeof(struct watched_pool *));

    for (size_t i = 0; i < count; i++) {
        pools[i] = find_pool(prober, edition->pools[i].id);
        if (pools[i] == NULL) {
            pools[i] = MEM_NEW(struct watched_pool);
            pools[i]->id = edition->pools[i].id;
        }
    }
    forget_missing(prober, edition);
    mem_free(prober->pools);
    prober->pools = pools;
    prober->pool_count = count;
    for (size_t i = 0; i < count; i++)
        watched_pool_take(prober, pools[i], snapshot, i);
}

void
prober_fill(const struct prober *prober, struct edition *edition)
{
    for (size_t i = 0; i < prober->pool_count; i++) {
        const struct watched_pool *pool = prober->pools[i];
        for (uint32_t shard = 0; shard < pool->count; shard++)
            edition->pools[i].health[shard] =
                pool->watches[shard]->health.state;
    }
}

/* --- what workers say, what admin asks --------------------------------------- */

void
prober_take_incidents(struct prober *prober, const struct message *message)
{
    struct watched_pool *pool = find_pool(prober, message->pool);

    /* Of a server that had this number before?  It will be told of again. */
    if (pool == NULL || message->id < pool->numbered_at)
        return;
    ASSERT(message->shard < pool->count);
    /* What happens many times in one turn has one cause. */
    for (int what = 0; what < INCIDENT_COUNT; what++) {
        if (message->incidents.of[what] > 0)
            watch_on_incident(pool->watches[message->shard],
                              (enum incident)what);
    }
}

bool
prober_pool_is_ready(const struct prober *prober, size_t number)
{
    const struct watched_pool *pool = prober->pools[number];

    for (uint32_t i = 0; i < pool->pool->current->shard_count; i++) {
        const struct watch *watch = pool->watches[i];
        if (watch->health.state == HEALTH_DOWN && !watch->is_ejected)
            return false;
    }
    return true;
}

/* --- life -------------------------------------------------------------------- */

static struct chunk *
make_ping(struct loop *loop)
{
    struct chunk *chunk =
        chunk_new_exact(loop_chunks(loop), sizeof(PING_TEXT) - 1);

    memcpy(chunk->data, PING_TEXT, sizeof(PING_TEXT) - 1);
    chunk->fill = sizeof(PING_TEXT) - 1;
    return chunk;
}

static void
on_review(struct timer *timer, void *arg)
{
    (void)timer;
    prober_review(arg);
}

struct prober *
prober_new(struct loop *loop, struct worker **workers, unsigned worker_count,
           struct edition **editions)
{
    struct prober *prober = MEM_NEW(struct prober);

    prober->loop = loop;
    prober->workers = workers;
    prober->worker_count = worker_count;
    prober->editions = editions;
    prober->ping = make_ping(loop);
    timer_init(&prober->review, loop, on_review, prober);
    return prober;
}

void
prober_on_live(struct prober *prober, prober_live_fn fn, void *arg)
{
    prober->on_live = fn;
    prober->on_live_arg = arg;
}

void
prober_on_failure(struct prober *prober, prober_failure_fn fn, void *arg)
{
    prober->on_failure = fn;
    prober->on_failure_arg = arg;
}

void
prober_free(struct prober **proberp)
{
    struct prober *prober = *proberp;

    *proberp = NULL;
    if (prober == NULL)
        return;
    for (size_t i = 0; i < prober->pool_count; i++)
        watched_pool_free(prober->pools[i]);
    timer_stop(&prober->review);
    chunk_unref(&prober->ping);
    mem_free(prober->pools);
    mem_free(prober);
}
