/*
 * upstream/snapshot.c - making and counting snapshots.
 */
#include "upstream/snapshot.h"

#include "base/mem.h"

static int
resolve_server(const struct pool_settings *pool,
               const struct server_settings *server, struct address *address,
               struct error *error)
{
    const struct address_text *text = &server->address;
    struct error why;
    int failed = text->path != NULL
        ? address_unix(address, text->path, &why)
        : address_resolve(address, text->host, text->port, false, &why);

    if (failed)
        return error_set(error, "pool %s, server %s: %s", pool->name,
                         server->name, why.text);
    return 0;
}

static int
pool_map_init(struct pool_map *map, const struct pool_settings *pool,
              struct error *error)
{
    map->settings = pool;
    map->addresses = mem_array(pool->server_count, sizeof(struct address));
    for (size_t i = 0; i < pool->server_count; i++) {
        if (resolve_server(pool, &pool->servers[i], &map->addresses[i],
                           error) < 0)
            return -1;
    }
    map->route = settings_make_route(pool, error);
    return map->route == NULL ? -1 : 0;
}

static void
snapshot_free(struct snapshot *snapshot, bool with_settings)
{
    for (size_t i = 0; i < snapshot->settings->pool_count; i++) {
        route_free(&snapshot->pools[i].route);
        mem_free(snapshot->pools[i].addresses);
    }
    mem_free(snapshot->pools);
    if (with_settings)
        settings_free(&snapshot->settings);
    mem_free(snapshot);
}

struct snapshot *
snapshot_new(struct settings *settings, struct error *error)
{
    struct snapshot *snapshot = MEM_NEW(struct snapshot);

    snapshot->refs = 1;
    snapshot->settings = settings;
    snapshot->pools = mem_array(settings->pool_count, sizeof(struct pool_map));
    for (size_t i = 0; i < settings->pool_count; i++) {
        if (pool_map_init(&snapshot->pools[i], &settings->pools[i], error) <
            0) {
            snapshot_free(snapshot, false);
            return NULL;
        }
    }
    return snapshot;
}

struct snapshot *
snapshot_ref(struct snapshot *snapshot)
{
    __atomic_add_fetch(&snapshot->refs, 1, __ATOMIC_RELAXED);
    return snapshot;
}

void
snapshot_unref(struct snapshot **snapshotp)
{
    struct snapshot *snapshot = *snapshotp;

    *snapshotp = NULL;
    if (snapshot != NULL &&
        __atomic_sub_fetch(&snapshot->refs, 1, __ATOMIC_ACQ_REL) == 0)
        snapshot_free(snapshot, true);
}
