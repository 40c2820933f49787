/*
 * upstream/generation.h - one state of a pool: settings, route, servers.
 *
 *   pool.current --> generation 3 --> servers a, b, d
 *   a session -----> generation 2 --> servers a, b, c
 *
 * A change of settings, of servers, of where they are or of their being live
 * makes a new generation.  A session routes by one of them and takes up the next with
 * nothing in flight; a request keeps the one that it was routed by.  Servers
 * that stay the same belong to several.
 *
 * A generation is in use while it is the pool's current one or a session routes
 * by it; then the servers that no other in use has are closed.  It is freed
 * with the last request.  Owner: struct pool.  One loop only.
 */
#ifndef UPSTREAM_GENERATION_H
#define UPSTREAM_GENERATION_H

#include <sys/queue.h>

#include "upstream/readers.h"
#include "upstream/server.h"
#include "upstream/snapshot.h"

struct pool;

struct generation {
    TAILQ_ENTRY(generation) link; /* of the pool's */
    struct pool *pool;
    struct snapshot *snapshot;
    const struct pool_map *map; /* of the snapshot; it has the next three */
    const struct pool_settings *settings;
    const struct route *route;
    const struct roster *roster;
    struct readers *readers; /* NULL: only primaries are read from */
    uint32_t refs;     /* of requests, and one while it is in use */
    uint32_t sessions; /* that route by it */
    uint32_t shard_count;  /* servers that the route answers with ... */
    uint32_t server_count; /* ... and with replicas behind them */
    bool in_use;
    struct server *servers[]; /* as the roster numbers them */
};

TAILQ_HEAD(generation_list, generation);

/* Of a snapshot's pool `number`; servers that are the same are shared with the
 * pool's other generations. */
struct generation *generation_new(struct pool *pool, struct snapshot *snapshot,
                                  size_t number,
                                  struct server_stats *const *stats);

/* Go on by another snapshot, which differs for this pool in addresses at most.
 * False: a server has to be another one, as connections of it are where its name
 * leads no longer. */
bool generation_try_move(struct generation *generation,
                         struct snapshot *snapshot, size_t number,
                         struct server_stats *const *stats) MUST_CHECK;

/* A request was routed by it. */
static inline struct generation *
generation_ref(struct generation *generation)
{
    generation->refs++;
    return generation;
}

void generation_free(struct generation *generation);

static inline void
generation_unref(struct generation **generationp)
{
    struct generation *generation = *generationp;

    *generationp = NULL;
    if (--generation->refs == 0)
        generation_free(generation);
}

/* No longer in use: close servers that nobody else needs, which ends the calls
 * that nobody waits for, and drop the ref. */
void generation_retire(struct generation *generation);

/* The number of the server that has a slot of a cluster, as this worker knows
 * it, or ROUTE_NONE; elsewhere shards stand for slots, and are servers.  By a
 * generation of before it is what the map said then. */
uint32_t generation_slot_server(const struct generation *generation,
                                uint32_t slot) MUST_CHECK;

/* Is a slot, or the shard that stands for it, the same keys in both? */
bool generation_has_slots_of(const struct generation *one,
                             const struct generation *other) MUST_CHECK;

static inline struct server *
generation_server(const struct generation *generation, uint32_t shard)
{
    ASSERT(shard < generation->server_count);
    return generation->servers[shard];
}

#endif
