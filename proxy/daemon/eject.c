/*
 * daemon/eject.c - who is out of the distribution.
 *
 *   LIVE --down, and not the last--> EJECTED
 *    +-- server_retry_timeout has passed, and a probe is answered --+
 *
 * Where twemproxy ejects the last server as well and refuses everything, ours
 * stays: its requests are refused by its name, and nothing is to be recomputed
 * before one of them is back.
 */
#include <time.h>

#include "base/log.h"
#include "base/mem.h"
#include "daemon/prober.h"
#include "daemon/watch.h"
#include "upstream/pool.h"

static uint64_t
unix_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static const struct edition_pool *
first_blocks(const struct watch *watch)
{
    return &watch->prober->editions[0]->pools[watch->pool->number];
}

static void
set_ejected(struct watch *watch, bool is_ejected)
{
    const struct edition_pool *blocks = first_blocks(watch);
    struct server_stats *stats = blocks->servers[watch->shard];

    watch->is_ejected = is_ejected;
    cell_set(&stats->live, !is_ejected);
    log_at(is_ejected ? LOG_LEVEL_WARN : LOG_LEVEL_INFO,
           is_ejected ? "server ejected" : "server is live again",
           "pool=%s server=%s", watch->server->settings->name,
           watch->server->name);
    if (!is_ejected)
        return;
    watch->ejected_us = loop_now_us(watch->prober->loop);
    cell_set(&stats->ejected_at, unix_us());
    cell_inc(&blocks->stats->server_ejects);
}

static bool
may_return(const struct watch *watch, const struct pool_settings *settings)
{
    uint64_t out_us = (uint64_t)settings->server_retry_timeout_ms * 1000;

    return !pool_ejects(settings) ||
        (watch->health.state != HEALTH_DOWN &&
         loop_now_us(watch->prober->loop) >= watch->ejected_us + out_us);
}

static uint32_t
count_live(const struct watched_pool *pool)
{
    uint32_t live = 0;

    for (uint32_t i = 0; i < pool->count; i++)
        live += !pool->watches[i]->is_ejected;
    return live;
}

/* First those who come back, so that the last one may go for them. */
static bool
bring_back(struct watched_pool *pool, const struct pool_settings *settings)
{
    bool some = false;

    for (uint32_t i = 0; i < pool->count; i++) {
        struct watch *watch = pool->watches[i];
        if (watch->is_ejected && may_return(watch, settings)) {
            set_ejected(watch, false);
            some = true;
        }
    }
    return some;
}

/* Those who were live have left the configuration: begin anew. */
static bool
bring_all_back(struct watched_pool *pool)
{
    for (uint32_t i = 0; i < pool->count; i++)
        set_ejected(pool->watches[i], false);
    return pool->count > 0;
}

static bool
take_out(struct watched_pool *pool, const struct pool_settings *settings)
{
    uint32_t live = count_live(pool);
    bool some = false;

    for (uint32_t i = 0; i < pool->count && live > 1; i++) {
        struct watch *watch = pool->watches[i];
        if (pool_ejects(settings) && !watch->is_ejected &&
            watch->health.state == HEALTH_DOWN) {
            set_ejected(watch, true);
            live--;
            some = true;
        }
    }
    return some;
}

static void
publish_live(const struct prober *prober, struct watched_pool *pool)
{
    bool *live = mem_array(pool->count, sizeof(bool));
    uint32_t count = count_live(pool);

    for (uint32_t i = 0; i < pool->count; i++)
        live[i] = !pool->watches[i]->is_ejected;
    pool->is_all_live = count == pool->count;
    prober->on_live(prober->on_live_arg, pool->number,
                    pool->is_all_live ? NULL : live);
    mem_free(live);
}

static void
review_pool(const struct prober *prober, struct watched_pool *pool)
{
    const struct pool_settings *settings = pool->pool->current->settings;
    bool has_changed = bring_back(pool, settings);

    if (count_live(pool) == 0)
        has_changed = bring_all_back(pool);
    if (take_out(pool, settings))
        has_changed = true;
    if (has_changed ||
        (pool->is_all_live && count_live(pool) < pool->count))
        publish_live(prober, pool);
}

void
prober_review(struct prober *prober)
{
    for (size_t i = 0; i < prober->pool_count; i++)
        review_pool(prober, prober->pools[i]);
}
