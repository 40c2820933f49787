/*
 * upstream/snapshot.c - making and counting snapshots.
 */
#include "upstream/snapshot.h"

#include <string.h>

#include "base/doing.h"
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
pool_map_fini(struct pool_map *map, const struct pool_map *root)
{
    if (root == NULL || map->route != root->route)
        route_free(&map->route);
    if (root == NULL)
        mem_free(map->addresses);
    mem_free(map->live);
}

static void
snapshot_free(struct snapshot *snapshot, bool with_settings)
{
    struct snapshot *root = snapshot->root;

    for (size_t i = 0; i < snapshot->settings->pool_count; i++)
        pool_map_fini(&snapshot->pools[i],
                      root == NULL ? NULL : &root->pools[i]);
    mem_free(snapshot->pools);
    if (with_settings && root == NULL)
        settings_free(&snapshot->settings);
    snapshot_unref(&snapshot->root);
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

/* --- shards that are not live ---------------------------------------------- */

static int
pool_map_derive(struct pool_map *map, const struct pool_map *root,
                const bool *live, struct error *error)
{
    size_t count = root->settings->server_count;

    *map = *root;
    if (live == NULL)
        return 0;
    map->live = mem_array(count, sizeof(bool));
    memcpy(map->live, live, count * sizeof(bool));
    map->route = settings_make_live_route(root->settings, live, error);
    return map->route == NULL ? -1 : 0;
}

struct snapshot *
snapshot_with_live(struct snapshot *snapshot, size_t number, const bool *live,
                   struct error *error)
{
    struct snapshot *root = snapshot->root != NULL ? snapshot->root : snapshot;
    struct snapshot *made = MEM_NEW(struct snapshot);
    size_t count = root->settings->pool_count;

    made->refs = 1;
    made->root = snapshot_ref(root);
    made->settings = root->settings;
    made->pools = mem_array(count, sizeof(struct pool_map));
    for (size_t i = 0; i < count; i++) {
        const bool *words = i == number ? live : snapshot->pools[i].live;
        if (pool_map_derive(&made->pools[i], &root->pools[i], words, error) <
            0) {
            snapshot_unref(&made);
            return NULL;
        }
    }
    return made;
}

/* --- counting --------------------------------------------------------------- */

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
    doing_nothing(); /* its strings may go */
    if (snapshot != NULL &&
        __atomic_sub_fetch(&snapshot->refs, 1, __ATOMIC_ACQ_REL) == 0)
        snapshot_free(snapshot, true);
}
