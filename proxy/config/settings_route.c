/*
 * config/settings_route.c - the servers of a pool as shards of a route.
 */
#include "base/mem.h"
#include "config/settings.h"

static struct route_shard_spec
shard_of(const struct server_settings *server, bool live)
{
    return (struct route_shard_spec){
        .name = view_str(server->name),
        .weight = server->weight,
        .live = live,
        .is_default = server->is_default,
        .ranges = server->ranges,
        .range_count = server->range_count,
        .slots = server->slots,
        .slot_count = server->slot_count,
    };
}

struct route *
settings_make_cluster_route(const struct pool_settings *pool,
                            const struct view *names, size_t count,
                            const uint16_t *owners, struct error *error)
{
    struct route_shard_spec *shards = mem_array(count, sizeof(*shards));

    for (size_t i = 0; i < count; i++)
        shards[i] = (struct route_shard_spec){
            .name = names[i], .weight = 1, .live = true};
    struct route_spec spec = {
        .distribution = pool->distribution,
        .hash = pool->hash,
        .shards = shards,
        .shard_count = count,
        .slot_owners = owners,
    };
    struct route *route = route_new(&spec, error);
    mem_free(shards);
    return route;
}

/* Before any node has answered. */
static struct route *
make_unknown_route(const struct pool_settings *pool, struct error *error)
{
    uint16_t owners[ROUTE_SLOTS];

    for (size_t i = 0; i < ARRAY_LEN(owners); i++)
        owners[i] = ROUTE_NO_OWNER;
    return settings_make_cluster_route(pool, NULL, 0, owners, error);
}

struct route *
settings_make_live_route(const struct pool_settings *pool, const bool *live,
                         struct error *error)
{
    if (pool_is_cluster(pool))
        return make_unknown_route(pool, error);

    struct route_shard_spec *shards =
        mem_array(pool->server_count, sizeof(*shards));

    for (size_t i = 0; i < pool->server_count; i++)
        shards[i] = shard_of(&pool->servers[i], live == NULL || live[i]);
    struct route_spec spec = {
        .distribution = pool->distribution,
        .hash = pool->hash,
        .unsigned_chars = pool->unsigned_chars,
        .has_tag = pool->has_tag,
        .tag = {pool->tag[0], pool->tag[1]},
        .range_by = pool->range_by,
        .shards = shards,
        .shard_count = pool->server_count,
    };
    struct route *route = route_new(&spec, error);
    mem_free(shards);
    return route;
}

struct route *
settings_make_route(const struct pool_settings *pool, struct error *error)
{
    return settings_make_live_route(pool, NULL, error);
}
