/*
 * upstream/pool.h - the shards of one pool, as one worker sees them.
 *
 * Turns a shard number into a server and holds the worker's share of the
 * snapshot.  The overlay of corrected slots and the swap to a new snapshot have
 * their place here.
 */
#ifndef UPSTREAM_POOL_H
#define UPSTREAM_POOL_H

#include "net/loop.h"
#include "net/stream.h"
#include "upstream/server.h"
#include "upstream/snapshot.h"

struct pool {
    struct loop *loop;
    struct snapshot *snapshot;
    const struct pool_settings *settings;
    const struct route *route;
    struct server *servers; /* by shard number */
    uint32_t server_count;
    struct stream_options options;
    uint64_t dice; /* for random routing and jitter */
    struct timer tick;
};

/* `stats` holds one block a server; `workers` is how many pools like this
 * share connections_per_server. */
struct pool *pool_new(struct loop *loop, struct snapshot *snapshot,
                      size_t number, struct server_stats *stats,
                      unsigned workers);
void pool_free(struct pool **poolp);

/* A number below `bound`, for jitter. */
uint32_t pool_random(struct pool *pool, uint32_t bound);

static inline struct server *
pool_server(struct pool *pool, uint32_t shard)
{
    ASSERT(shard < pool->server_count);
    return &pool->servers[shard];
}

#endif
