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
};

struct snapshot {
    unsigned refs; /* atomic */
    struct settings *settings;
    struct pool_map *pools; /* settings->pool_count of them */
};

/* Resolves names, so it may block; takes the settings over on success. */
struct snapshot *snapshot_new(struct settings *settings,
                              struct error *error) MUST_CHECK;
struct snapshot *snapshot_ref(struct snapshot *snapshot);
void snapshot_unref(struct snapshot **snapshotp);

#endif
