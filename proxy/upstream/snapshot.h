/*
 * upstream/snapshot.h - what all threads agree on: settings, routes, addresses.
 *
 * Made by control, immutable from then on, counted atomically: each worker
 * holds one, published to it by message, and lets go when the next has taken
 * its place.  A change of topology, a failover and a change of scheme are each
 * a new snapshot.
 */
#ifndef UPSTREAM_SNAPSHOT_H
#define UPSTREAM_SNAPSHOT_H

#include "config/settings.h"
#include "net/address_list.h"
#include "route/route.h"
#include "upstream/roster.h"

struct placement;

/* Where the servers of one pool are: addresses[i], a ref, belongs to entry i of
 * the roster. */
struct pool_map {
    const struct pool_settings *settings;
    struct roster *roster;
    struct placement *placement; /* owns the next two; shared by snapshots */
    const struct route *route;
    const bool *live; /* by shard; NULL: all are */
    struct address_list **addresses;
    /* Of a cluster: when the question was asked that this answers, in the time
     * of loop_clock_us().  0: none has been answered. */
    uint64_t asked;
};

/* One that differs from another in which shards are live, in the map of a
 * cluster, or in addresses, has its settings from there: its root.  What did not
 * change is the same object in both. */
struct snapshot {
    unsigned refs;  /* atomic */
    uint64_t epoch; /* counts up with each one published; set by control */
    struct snapshot *root; /* a ref, or NULL */
    struct settings *settings;
    struct pool_map *pools; /* settings->pool_count of them */
};

/* What the nodes of a cluster have said, on the whole. */
struct topology {
    struct roster *roster;
    uint16_t owners[ROUTE_SLOTS]; /* number of a shard, or ROUTE_NO_OWNER */
    uint64_t asked;               /* as in struct pool_map */
};

/* Nobody knows yet where names lead.  Takes the settings over on success. */
struct snapshot *snapshot_new(struct settings *settings,
                              struct error *error) MUST_CHECK;
/* The same with other shards of pool `number` live: one word a shard, NULL for
 * all.  Shards of other pools stay as they are. */
struct snapshot *snapshot_with_live(struct snapshot *snapshot, size_t number,
                                    const bool *live,
                                    struct error *error) MUST_CHECK;
/* The same with another map of pool `number`, a cluster; refs its roster. */
struct snapshot *snapshot_with_topology(struct snapshot *snapshot,
                                        size_t number,
                                        const struct topology *topology,
                                        struct error *error) MUST_CHECK;
/* The same with the masters of pool `number` and their replicas where this roster,
 * whose ref it takes over, says; nothing else changes, gates neither. */
struct snapshot *snapshot_with_roster(struct snapshot *snapshot, size_t number,
                                      struct roster *roster, uint64_t asked);
/* The same in place, before it is published; when it was asked for, and the gates
 * of shards of the same name, are those of another map. */
void snapshot_set_roster(struct snapshot *snapshot, size_t number,
                         struct roster *roster,
                         const struct pool_map *before);
/* The same with the gates of pool `number` turned, one a shard. */
struct snapshot *snapshot_with_gates(struct snapshot *snapshot, size_t number,
                                     const enum gate *gates);
/* The same, when the map of pool `number` was asked for once more. */
struct snapshot *snapshot_with_asked(struct snapshot *snapshot, size_t number,
                                     uint64_t asked);
/* Before it is published: what is known of the cluster that is pool `number`
 * here and pool `other` there stays known. */
void snapshot_keep_topology(struct snapshot *snapshot, size_t number,
                            const struct snapshot *before, size_t other);
/* The same, for snapshot_set_addresses(). */
struct snapshot *snapshot_copy(struct snapshot *snapshot);
/* Before it is published: entry i of the roster of pool `number` is there.  Takes
 * the ref over. */
void snapshot_set_addresses(struct snapshot *snapshot, size_t number,
                            uint32_t i, struct address_list *addresses);
/* Are the same servers at the same addresses? */
bool pool_map_has_addresses_of(const struct pool_map *map,
                               const struct pool_map *other) MUST_CHECK;
struct snapshot *snapshot_ref(struct snapshot *snapshot);
void snapshot_unref(struct snapshot **snapshotp);

#endif
