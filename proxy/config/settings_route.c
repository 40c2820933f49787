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

/* --- is it the same? --------------------------------------------------------- */

static bool
is_range_alike(const struct range_spec *one, const struct range_spec *other)
{
    return one->from_number == other->from_number &&
        one->to_number == other->to_number &&
        one->no_before == other->no_before &&
        view_equal(one->from_bytes, other->from_bytes) &&
        view_equal(one->before_bytes, other->before_bytes);
}

static bool
are_spans_alike(const struct server_settings *one,
                const struct server_settings *other)
{
    if (one->range_count != other->range_count ||
        one->slot_count != other->slot_count)
        return false;
    for (size_t i = 0; i < one->range_count; i++) {
        if (!is_range_alike(&one->ranges[i], &other->ranges[i]))
            return false;
    }
    for (size_t i = 0; i < one->slot_count; i++) {
        if (one->slots[i].first != other->slots[i].first ||
            one->slots[i].last != other->slots[i].last)
            return false;
    }
    return true;
}

static bool
is_shard_alike(const struct server_settings *one,
               const struct server_settings *other)
{
    return view_equal(view_str(one->name), view_str(other->name)) &&
        one->weight == other->weight && one->is_default == other->is_default &&
        are_spans_alike(one, other);
}

static bool
is_hashed_alike(const struct pool_settings *one,
                const struct pool_settings *other)
{
    return one->hash == other->hash &&
        one->unsigned_chars == other->unsigned_chars &&
        one->has_tag == other->has_tag && one->tag[0] == other->tag[0] &&
        one->tag[1] == other->tag[1];
}

bool
settings_route_alike(const struct pool_settings *one,
                     const struct pool_settings *other)
{
    if (one->distribution != other->distribution ||
        one->range_by != other->range_by || !is_hashed_alike(one, other) ||
        one->server_count != other->server_count)
        return false;
    for (size_t i = 0; i < one->server_count; i++) {
        if (!is_shard_alike(&one->servers[i], &other->servers[i]))
            return false;
    }
    return true;
}
