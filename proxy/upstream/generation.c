/*
 * upstream/generation.c - which servers stay, and when the others go.
 */
#include "upstream/generation.h"

#include "base/mem.h"
#include "upstream/pool.h"

static struct server *
find_same(struct pool *pool, const struct server_place *place)
{
    struct server *server;

    TAILQ_FOREACH(server, &pool->servers, link)
    {
        if (!server->claimed && server_is_same(server, place))
            break;
    }
    return server;
}

static struct server *
take_server(struct pool *pool, const struct server_place *place)
{
    struct server *server = find_same(pool, place);

    if (server == NULL)
        server = server_new(pool);
    server_set_place(server, place);
    server->claimed = true;
    server->refs++;
    server->users++;
    return server;
}

static void
unclaim_all(struct pool *pool)
{
    struct server *server;

    TAILQ_FOREACH(server, &pool->servers, link)
    {
        server->claimed = false;
    }
}

struct generation *
generation_new(struct pool *pool, struct snapshot *snapshot, size_t number,
               struct server_stats *const *stats)
{
    const struct pool_map *map = &snapshot->pools[number];
    uint32_t count = map->roster->count;
    struct generation *generation =
        mem_zalloc(sizeof(*generation) + count * sizeof(struct server *));

    generation->pool = pool;
    generation->snapshot = snapshot_ref(snapshot);
    generation->map = map;
    generation->settings = map->settings;
    generation->route = map->route;
    generation->roster = map->roster;
    generation->readers = readers_new(map->roster, map->settings);
    generation->refs = 1;
    generation->in_use = true;
    generation->server_count = count;
    generation->shard_count = map->roster->shard_count;
    for (uint32_t i = 0; i < count; i++) {
        struct server_place place = {snapshot, number, i, stats[i]};
        generation->servers[i] = take_server(pool, &place);
    }
    unclaim_all(pool);
    TAILQ_INSERT_TAIL(&pool->generations, generation, link);
    return generation;
}

bool
generation_try_move(struct generation *generation, struct snapshot *snapshot,
                    size_t number, struct server_stats *const *stats)
{
    struct snapshot *before = generation->snapshot;

    for (uint32_t i = 0; i < generation->server_count; i++) {
        struct server_place place = {snapshot, number, i, stats[i]};
        if (!server_is_same(generation->servers[i], &place))
            return false;
    }
    for (uint32_t i = 0; i < generation->server_count; i++) {
        struct server_place place = {snapshot, number, i, stats[i]};
        server_set_place(generation->servers[i], &place);
    }
    generation->snapshot = snapshot_ref(snapshot);
    generation->map = &snapshot->pools[number];
    snapshot_unref(&before);
    return true;
}

void
generation_free(struct generation *generation)
{
    ASSERT(!generation->in_use && generation->sessions == 0);
    TAILQ_REMOVE(&generation->pool->generations, generation, link);
    for (uint32_t i = 0; i < generation->server_count; i++)
        server_unref(generation->servers[i]);
    readers_free(&generation->readers);
    snapshot_unref(&generation->snapshot);
    mem_free(generation);
}

void
generation_retire(struct generation *generation)
{
    ASSERT(generation->in_use && generation->sessions == 0);
    generation->in_use = false;
    for (uint32_t i = 0; i < generation->server_count; i++) {
        struct server *server = generation->servers[i];
        if (--server->users == 0)
            server_close(server, CLOSE_POOL_REMOVED);
    }
    generation_unref(&generation);
}

bool
generation_has_slots_of(const struct generation *one,
                        const struct generation *other)
{
    if (one->route == other->route)
        return true;
    return pool_is_cluster(one->settings) == pool_is_cluster(other->settings) &&
        (pool_is_cluster(one->settings) ||
         settings_route_alike(one->settings, other->settings));
}

uint32_t
generation_slot_server(const struct generation *generation, uint32_t slot)
{
    if (!pool_is_cluster(generation->settings))
        return slot;
    struct pool *pool = generation->pool;
    uint32_t server = overlay_find(&pool->overlay, slot);

    if (unlikely(server != ROUTE_NONE) && generation == pool->current)
        return server;
    return route_slot_owner(generation->route, slot);
}
