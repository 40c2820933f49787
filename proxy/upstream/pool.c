/*
 * upstream/pool.c - one worker's servers of one pool.
 */
#include "upstream/pool.h"

#include "base/dice.h"
#include "base/mem.h"

#define TICK_MS 1000

static void
on_tick(struct timer *timer, void *arg)
{
    struct pool *pool = arg;
    uint64_t now_us = loop_now_us(pool->loop);
    struct server *server;

    TAILQ_FOREACH(server, &pool->servers, link)
    {
        server_close_idle(server, now_us);
    }
    timer_start(timer, TICK_MS);
}

/* --- generations ------------------------------------------------------------ */

void
pool_preconnect(struct pool *pool)
{
    struct lane_key key = {.db = 0, .resp = 2};

    for (uint32_t i = 0; i < pool->current->server_count; i++) {
        key.is_readonly = i >= pool->current->shard_count;
        if (!key.is_readonly || pool->current->readers != NULL)
            server_preconnect(pool->current->servers[i], key);
    }
}

static const struct server *
find_current_twin(const struct pool *pool, const struct server *server)
{
    for (uint32_t i = 0; i < pool->current->server_count; i++) {
        const struct server *current = pool->current->servers[i];
        if (current != server && server_is_twin(current, server))
            return current;
    }
    return NULL;
}

/* Those of older generations that connect anew go to the new addresses. */
static void
pool_follow_addresses(struct pool *pool)
{
    struct server *server;

    if (!pool_has_old_servers(pool))
        return;
    TAILQ_FOREACH(server, &pool->servers, link)
    {
        const struct server *twin = find_current_twin(pool, server);
        if (server->users > 0 && twin != NULL)
            server_set_addresses(server, twin->addresses);
    }
}

/* Masters may be somewhere else now, or held.  Whoever is told may ask for more
 * at once, so this comes when all of them have their place. */
static void
pool_settle(struct pool *pool)
{
    if (!pool_is_named(pool->current->settings))
        return;
    for (uint32_t i = 0; i < pool->current->server_count; i++)
        server_settle(pool->current->servers[i]);
}

static void
pool_set_current(struct pool *pool, struct snapshot *snapshot, size_t number,
                 struct server_stats *const *stats)
{
    const struct pool_settings *settings = snapshot->pools[number].settings;

    pool->options.keepalive = settings->tcpkeepalive;
    pool->options.user_timeout_ms = (int)settings->tcp_user_timeout_ms;
    const struct roster *before =
        pool->current != NULL ? pool->current->roster : NULL;
    pool->current = generation_new(pool, snapshot, number, stats);
    if (before != NULL)
        overlay_take_map(&pool->overlay, before, pool->current->roster,
                         snapshot->pools[number].asked);
    pool_follow_addresses(pool);
    pool_settle(pool);
}

bool
pool_take(struct pool *pool, struct snapshot *snapshot, size_t number,
          struct server_stats *const *stats)
{
    const struct pool_map *map = &snapshot->pools[number];
    struct generation *current = pool->current;
    bool may_stay = map->settings == current->settings &&
        map->route == current->route && map->roster == current->roster;

    if (may_stay && pool_map_has_addresses_of(map, current->map))
        return false;
    if (may_stay && generation_try_move(current, snapshot, number, stats))
        pool_follow_addresses(pool);
    else
        pool_set_current(pool, snapshot, number, stats);
    return true;
}

void
pool_set_verdict(struct pool *pool, uint32_t shard, enum health_state state)
{
    const struct server *judged = generation_server(pool->current, shard);
    struct server *server;

    TAILQ_FOREACH(server, &pool->servers, link)
    {
        /* Those out of use have ended, and may be freed at any moment. */
        if (server->users > 0 && server_is_twin(server, judged))
            server_set_verdict(server, state);
    }
}

struct generation *
pool_join(struct pool *pool)
{
    pool->current->sessions++;
    return pool->current;
}

void
pool_leave(struct generation **generationp)
{
    (*generationp)->sessions--;
    *generationp = NULL;
}

void
pool_sweep(struct pool *pool)
{
    struct generation *generation = TAILQ_FIRST(&pool->generations);

    while (generation != NULL) {
        /* Retiring one may free others, but none that is in use. */
        if (generation->in_use && generation != pool->current &&
            generation->sessions == 0) {
            generation_retire(generation);
            generation = TAILQ_FIRST(&pool->generations);
        } else {
            generation = TAILQ_NEXT(generation, link);
        }
    }
}

bool
pool_has_old_servers(const struct pool *pool)
{
    return pool->server_count > pool->current->server_count;
}

/* --- life ------------------------------------------------------------------- */

struct pool *
pool_new(struct loop *loop, struct snapshot *snapshot, size_t number,
         struct server_stats *const *stats, unsigned workers)
{
    struct pool *pool = MEM_NEW(struct pool);

    pool->loop = loop;
    pool->workers = workers;
    pool->dice = loop_clock_us(loop) * 2654435761u + (uintptr_t)pool;
    TAILQ_INIT(&pool->generations);
    TAILQ_INIT(&pool->servers);
    timer_init(&pool->tick, loop, on_tick, pool);
    timer_start(&pool->tick, TICK_MS);
    pool_set_current(pool, snapshot, number, stats);
    return pool;
}

void
pool_free(struct pool **poolp)
{
    struct pool *pool = *poolp;

    *poolp = NULL;
    if (pool == NULL)
        return;
    timer_stop(&pool->tick);
    overlay_fini(&pool->overlay);
    pool->current = NULL;
    pool_sweep(pool);
    ASSERT(TAILQ_EMPTY(&pool->generations) && TAILQ_EMPTY(&pool->servers));
    mem_free(pool->logins);
    mem_free(pool);
}

uint32_t
pool_random(struct pool *pool, uint32_t bound)
{
    return (uint32_t)dice_below(&pool->dice, bound);
}
