/*
 * upstream/pool.c - one worker's servers of one pool.
 */
#include "upstream/pool.h"

#include "base/mem.h"

#define TICK_MS 1000

static void
on_tick(struct timer *timer, void *arg)
{
    struct pool *pool = arg;
    uint64_t now_us = loop_now_us(pool->loop);

    for (uint32_t i = 0; i < pool->server_count; i++)
        server_close_idle(&pool->servers[i], now_us);
    timer_start(timer, TICK_MS);
}

static void
pool_preconnect(struct pool *pool)
{
    struct lane_key key = {.db = 0, .resp = 2};

    for (uint32_t i = 0; i < pool->server_count; i++)
        server_preconnect(&pool->servers[i], key);
}

struct pool *
pool_new(struct loop *loop, struct snapshot *snapshot, size_t number,
         struct server_stats *stats, unsigned workers)
{
    const struct pool_map *map = &snapshot->pools[number];
    const struct pool_settings *settings = map->settings;
    struct pool *pool = MEM_NEW(struct pool);
    unsigned share = (unsigned)(settings->connections_per_server / workers);

    pool->loop = loop;
    pool->snapshot = snapshot_ref(snapshot);
    pool->settings = settings;
    pool->route = map->route;
    pool->server_count = (uint32_t)settings->server_count;
    pool->servers = mem_array(pool->server_count, sizeof(struct server));
    pool->options.keepalive = settings->tcpkeepalive;
    pool->options.user_timeout_ms = (int)settings->tcp_user_timeout_ms;
    pool->dice = loop_clock_us(loop) * 2654435761u + (uintptr_t)pool;
    for (uint32_t i = 0; i < pool->server_count; i++)
        server_init(&pool->servers[i], pool, i, settings->servers[i].name,
                    &map->addresses[i], &stats[i], MAX(share, 1u));
    timer_init(&pool->tick, loop, on_tick, pool);
    timer_start(&pool->tick, TICK_MS);
    if (settings->preconnect)
        pool_preconnect(pool);
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
    for (uint32_t i = 0; i < pool->server_count; i++)
        server_fini(&pool->servers[i], CLOSE_SHUTDOWN);
    snapshot_unref(&pool->snapshot);
    mem_free(pool->servers);
    mem_free(pool);
}

/* SplitMix64, public domain (Sebastiano Vigna). */
uint32_t
pool_random(struct pool *pool, uint32_t bound)
{
    uint64_t z = (pool->dice += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) % bound);
}
