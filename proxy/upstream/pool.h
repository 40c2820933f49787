/*
 * upstream/pool.h - the servers of one pool, as one worker sees them.
 *
 * Holds the pool's generations (upstream/generation.h): the current one, by
 * which newcomers are routed, and older ones as long as somebody needs them.
 * For a cluster, what this worker knows better than the map.
 */
#ifndef UPSTREAM_POOL_H
#define UPSTREAM_POOL_H

#include "net/loop.h"
#include "net/stream.h"
#include "upstream/generation.h"
#include "upstream/overlay.h"
#include "upstream/server.h"
#include "upstream/snapshot.h"

struct pool {
    struct loop *loop;
    struct generation *current;
    struct generation_list generations; /* the oldest first */
    struct server_list servers;         /* of all generations */
    uint32_t server_count;              /* of all generations */
    unsigned workers;
    unsigned next_mark;        /* of servers */
    uint64_t lost_marks;       /* servers that have lost a shared lane, since
                                  sessions were told */
    struct overlay overlay;    /* of a cluster */
    struct login **logins;     /* by their numbers, from 1 on; NULL: free */
    uint32_t login_room;
    struct stream_options options; /* for sockets that are opened now */
    uint64_t dice; /* for random routing and jitter */
    struct timer tick;
    bool has_incidents; /* *pool stale*: look at server->incidents */
    bool is_quiet;      /* of probes: failures are expected, and not logged */
};

/* `stats` holds one block a server; `workers` is how many pools like this
 * share connections_per_server and connects_per_second. */
struct pool *pool_new(struct loop *loop, struct snapshot *snapshot,
                      size_t number, struct server_stats *const *stats,
                      unsigned workers);
/* No session routes by it any more; what is in flight is given up. */
void pool_free(struct pool **poolp);

/* Make a generation of the snapshot's pool `number` the current one.  False:
 * neither settings nor route nor servers nor their addresses have changed, so
 * there is nothing to do. */
bool pool_take(struct pool *pool, struct snapshot *snapshot, size_t number,
               struct server_stats *const *stats);

/* A session routes by the current generation from now on ... */
struct generation *pool_join(struct pool *pool);
/* ... and no longer by this one; pool_sweep() is due when it is an old one. */
void pool_leave(struct generation **generationp);

/* The verdict of control about a server of the current generation, for all here
 * that have its name and address. */
void pool_set_verdict(struct pool *pool, uint32_t shard,
                      enum health_state state);

/* Connect to the servers of the current generation ahead of time. */
void pool_preconnect(struct pool *pool);

/* Retire the generations that are out of use; at the end of a turn. */
void pool_sweep(struct pool *pool);

/* Are servers still here that the current generation does not have? */
bool pool_has_old_servers(const struct pool *pool);

/* A number below `bound`, for jitter. */
uint32_t pool_random(struct pool *pool, uint32_t bound);

#endif
