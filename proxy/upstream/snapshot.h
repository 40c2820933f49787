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
#include "net/address.h"
#include "route/route.h"

/* Where the shards of one pool are: addresses[i] belongs to shard i. */
struct pool_map {
    const struct pool_settings *settings;
    struct route *route;
    struct address *addresses;
    bool *live; /* by shard; NULL: all are */
};

/* One that differs from another only in which shards are live has its settings
 * and addresses, and the routes of pools whose shards are all live, from there:
 * its root. */
struct snapshot {
    unsigned refs;  /* atomic */
    uint64_t epoch; /* counts up with each one published; set by control */
    struct snapshot *root; /* a ref, or NULL */
    struct settings *settings;
    struct pool_map *pools; /* settings->pool_count of them */
};

/* Resolves names, so it may block; takes the settings over on success. */
struct snapshot *snapshot_new(struct settings *settings,
                              struct error *error) MUST_CHECK;
/* The same with other shards of pool `number` live: one word a shard, NULL for
 * all.  Shards of other pools stay as they are. */
struct snapshot *snapshot_with_live(struct snapshot *snapshot, size_t number,
                                    const bool *live,
                                    struct error *error) MUST_CHECK;
struct snapshot *snapshot_ref(struct snapshot *snapshot);
void snapshot_unref(struct snapshot **snapshotp);

#endif
