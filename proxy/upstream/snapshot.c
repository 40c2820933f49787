/*
 * upstream/snapshot.c - making and counting snapshots.
 */
#include "upstream/snapshot.h"

#include <string.h>

#include "base/doing.h"
#include "base/mem.h"

/* --- placements ------------------------------------------------------------ */

struct placement {
    unsigned refs; /* atomic */
    struct route *route;
    bool *live;
};

static struct placement *
placement_ref(struct placement *placement)
{
    __atomic_add_fetch(&placement->refs, 1, __ATOMIC_RELAXED);
    return placement;
}

static void
placement_unref(struct placement *placement)
{
    if (__atomic_sub_fetch(&placement->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    route_free(&placement->route);
    mem_free(placement->live);
    mem_free(placement);
}

/* Takes the route over; NULL if there is none. */
static struct placement *
placement_of(struct route *route)
{
    if (route == NULL)
        return NULL;
    struct placement *placement = MEM_NEW(struct placement);
    placement->refs = 1;
    placement->route = route;
    return placement;
}

static struct placement *
placement_new(const struct pool_settings *pool, const bool *live,
              struct error *error)
{
    struct placement *placement =
        placement_of(settings_make_live_route(pool, live, error));

    if (placement != NULL && live != NULL) {
        placement->live = mem_array(pool->server_count, sizeof(bool));
        memcpy(placement->live, live, pool->server_count * sizeof(bool));
    }
    return placement;
}

/* Takes the ref over. */
static void
pool_map_place(struct pool_map *map, struct placement *placement)
{
    map->placement = placement;
    map->route = placement->route;
    map->live = placement->live;
}

/* --- addresses -------------------------------------------------------------- */

/* NULL and a sentence on failure. */
static struct address_list *
find_addresses(const struct roster_entry *server, struct error *error)
{
    const struct address_text *text = &server->address;
    struct address address;
    struct error why;

    if (server->is_master && text->host == NULL) {
        struct address_list *nowhere = address_list_new(0);
        nowhere->is_fixed = true; /* until Sentinels say where it is */
        return nowhere;
    }

    if (text->path != NULL) {
        if (address_unix(&address, text->path, &why) == 0)
            return address_list_of(&address);
        error_set(error, "server %s: %s", server->name, why.text);
        return NULL;
    }
    if (address_from_literal(&address, text->host, text->port))
        return address_list_of(&address);
    struct address_list *list = server->ip != NULL &&
            address_from_literal(&address, server->ip, text->port)
        ? address_list_of(&address)
        : address_list_new(0);
    list->is_pending = list->count == 0;
    list->is_fixed = false;
    return list;
}

/* Takes the ref over. */
static int
pool_map_set_roster(struct pool_map *map, struct roster *roster,
                    struct error *error)
{
    map->roster = roster;
    map->addresses = mem_array(roster->count, sizeof(struct address_list *));
    for (uint32_t i = 0; i < roster->count; i++) {
        struct error why;
        map->addresses[i] = find_addresses(&roster->entries[i], &why);
        if (map->addresses[i] == NULL)
            return error_set(error, "pool %s, %s", map->settings->name,
                             why.text);
    }
    return 0;
}

static void
pool_map_drop_addresses(struct pool_map *map)
{
    for (uint32_t i = 0; map->addresses != NULL && i < map->roster->count; i++)
        address_list_unref(&map->addresses[i]);
    mem_free(map->addresses);
}

bool
pool_map_has_addresses_of(const struct pool_map *map,
                          const struct pool_map *other)
{
    if (map->roster != other->roster)
        return false;
    for (uint32_t i = 0; i < map->roster->count; i++) {
        if (map->addresses[i] != other->addresses[i])
            return false;
    }
    return true;
}

/* --- making ------------------------------------------------------------------ */

static struct snapshot *
snapshot_alloc(struct settings *settings)
{
    struct snapshot *snapshot = MEM_NEW(struct snapshot);

    snapshot->refs = 1;
    snapshot->settings = settings;
    snapshot->pools = mem_array(settings->pool_count, sizeof(struct pool_map));
    for (size_t i = 0; i < settings->pool_count; i++)
        snapshot->pools[i].settings = &settings->pools[i];
    return snapshot;
}

static void
pool_map_fini(struct pool_map *map)
{
    pool_map_drop_addresses(map);
    roster_unref(&map->roster);
    if (map->placement != NULL)
        placement_unref(map->placement);
}

static void
snapshot_free(struct snapshot *snapshot, bool with_settings)
{
    for (size_t i = 0; i < snapshot->settings->pool_count; i++)
        pool_map_fini(&snapshot->pools[i]);
    mem_free(snapshot->pools);
    if (with_settings && snapshot->root == NULL)
        settings_free(&snapshot->settings);
    snapshot_unref(&snapshot->root);
    mem_free(snapshot);
}

static int
pool_map_init(struct pool_map *map, struct error *error)
{
    const struct pool_settings *pool = map->settings;

    if (pool_map_set_roster(map, roster_of_settings(pool), error) < 0)
        return -1;
    struct placement *placement = placement_new(pool, NULL, error);
    if (placement == NULL)
        return -1;
    pool_map_place(map, placement);
    return 0;
}

struct snapshot *
snapshot_new(struct settings *settings, struct error *error)
{
    struct snapshot *snapshot = snapshot_alloc(settings);

    for (size_t i = 0; i < settings->pool_count; i++) {
        if (pool_map_init(&snapshot->pools[i], error) < 0) {
            snapshot_free(snapshot, false);
            return NULL;
        }
    }
    return snapshot;
}

/* --- changing ------------------------------------------------------------------ */

static void
pool_map_share_servers(struct pool_map *map, const struct pool_map *other)
{
    uint32_t count = other->roster->count;

    map->roster = roster_ref(other->roster);
    map->addresses = mem_array(count, sizeof(struct address_list *));
    for (uint32_t i = 0; i < count; i++)
        map->addresses[i] = address_list_ref(other->addresses[i]);
    map->asked = other->asked;
}

static void
pool_map_share(struct pool_map *map, const struct pool_map *other)
{
    pool_map_share_servers(map, other);
    pool_map_place(map, placement_ref(other->placement));
}

/* All of another but the map of one pool, if it is one. */
static struct snapshot *
snapshot_derive(struct snapshot *snapshot, size_t but)
{
    struct snapshot *made = snapshot_alloc(snapshot->settings);

    made->root =
        snapshot_ref(snapshot->root != NULL ? snapshot->root : snapshot);
    for (size_t i = 0; i < made->settings->pool_count; i++) {
        if (i != but)
            pool_map_share(&made->pools[i], &snapshot->pools[i]);
    }
    return made;
}

struct snapshot *
snapshot_with_live(struct snapshot *snapshot, size_t number, const bool *live,
                   struct error *error)
{
    const struct snapshot *root =
        snapshot->root != NULL ? snapshot->root : snapshot;
    const struct pool_map *before = &root->pools[number];
    struct placement *placement = live == NULL
        ? placement_ref(before->placement)
        : placement_new(before->settings, live, error);

    if (placement == NULL)
        return NULL;
    struct snapshot *made = snapshot_derive(snapshot, number);
    pool_map_share_servers(&made->pools[number], &snapshot->pools[number]);
    pool_map_place(&made->pools[number], placement);
    return made;
}

/* --- maps of clusters ----------------------------------------------------------- */

static struct placement *
placement_of_topology(const struct pool_settings *pool,
                      const struct topology *topology, struct error *error)
{
    const struct roster *roster = topology->roster;
    struct view *names = mem_array(roster->shard_count, sizeof(*names));

    for (uint32_t i = 0; i < roster->shard_count; i++)
        names[i] = view_str(roster->entries[i].name);
    struct route *route = settings_make_cluster_route(
        pool, names, roster->shard_count, topology->owners, error);
    mem_free(names);
    return placement_of(route);
}

struct snapshot *
snapshot_with_topology(struct snapshot *snapshot, size_t number,
                       const struct topology *topology, struct error *error)
{
    struct snapshot *made = snapshot_derive(snapshot, number);
    struct pool_map *map = &made->pools[number];
    struct placement *placement =
        placement_of_topology(map->settings, topology, error);

    if (placement != NULL)
        pool_map_place(map, placement);
    map->asked = topology->asked;
    if (pool_map_set_roster(map, roster_ref(topology->roster), error) < 0 ||
        placement == NULL)
        snapshot_unref(&made);
    return made;
}

/* Of shards of the same name. */
static void
keep_gates(struct roster *roster, const struct roster *before)
{
    for (uint32_t i = 0; i < before->shard_count; i++) {
        if (before->entries[i].gate == GATE_OPEN)
            continue;
        for (uint32_t j = 0; j < roster->shard_count; j++) {
            if (strcmp(roster->entries[j].name, before->entries[i].name) == 0)
                roster->entries[j].gate = before->entries[i].gate;
        }
    }
}

struct snapshot *
snapshot_with_roster(struct snapshot *snapshot, size_t number,
                     struct roster *roster, uint64_t asked)
{
    struct snapshot *made = snapshot_derive(snapshot, number);
    struct pool_map *map = &made->pools[number];

    ASSERT(roster->shard_count ==
           snapshot->pools[number].roster->shard_count);
    pool_map_place(map, placement_ref(snapshot->pools[number].placement));
    map->asked = asked;
    keep_gates(roster, snapshot->pools[number].roster);
    struct error error;
    int failed = pool_map_set_roster(map, roster, &error);
    ASSERT(!failed); /* nothing has to be looked up */
    return made;
}

void
snapshot_set_roster(struct snapshot *snapshot, size_t number,
                    struct roster *roster, const struct pool_map *before)
{
    struct pool_map *map = &snapshot->pools[number];
    struct error error;

    ASSERT(snapshot->refs == 1 &&
           roster->shard_count == map->roster->shard_count);
    keep_gates(roster, before->roster);
    pool_map_drop_addresses(map);
    roster_unref(&map->roster);
    map->asked = before->asked;
    int failed = pool_map_set_roster(map, roster, &error);
    ASSERT(!failed);
}

struct snapshot *
snapshot_with_gates(struct snapshot *snapshot, size_t number,
                    const enum gate *gates)
{
    struct snapshot *made = snapshot_derive(snapshot, number);
    struct pool_map *map = &made->pools[number];

    pool_map_share(map, &snapshot->pools[number]);
    roster_unref(&map->roster);
    map->roster = roster_with_gates(snapshot->pools[number].roster, gates);
    return made;
}

struct snapshot *
snapshot_with_asked(struct snapshot *snapshot, size_t number, uint64_t asked)
{
    struct snapshot *made = snapshot_derive(snapshot, SIZE_MAX);

    made->pools[number].asked = asked;
    return made;
}

void
snapshot_keep_topology(struct snapshot *snapshot, size_t number,
                       const struct snapshot *before, size_t other)
{
    struct pool_map *map = &snapshot->pools[number];

    ASSERT(snapshot->refs == 1);
    pool_map_fini(map);
    pool_map_share(map, &before->pools[other]);
}

/* --- names ---------------------------------------------------------------------- */

struct snapshot *
snapshot_copy(struct snapshot *snapshot)
{
    return snapshot_derive(snapshot, SIZE_MAX);
}

void
snapshot_set_addresses(struct snapshot *snapshot, size_t number, uint32_t i,
                       struct address_list *addresses)
{
    struct pool_map *map = &snapshot->pools[number];

    ASSERT(i < map->roster->count);
    address_list_unref(&map->addresses[i]);
    map->addresses[i] = addresses;
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
