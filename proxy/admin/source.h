/*
 * admin/source.h - what admin may read, and the sums over all workers.
 *
 *   editions[0] -> pool 0 -> [block], servers -> [block] [block]
 *                  pool 1 -> [block], servers -> [block]
 *   editions[1] -> the same of another worker
 *
 * Control fills the struct in, owns everything in it, and may change it between
 * turns of its loop (a reload brings a new snapshot and new blocks).  Blocks
 * are written by their workers at any time, and read here cell by cell.
 * Control thread only.
 */
#ifndef ADMIN_SOURCE_H
#define ADMIN_SOURCE_H

#include <stdbool.h>

#include "admin/control_stats.h"
#include "admin/worker_stats.h"
#include "discovery/cluster_stats.h"
#include "discovery/names.h"
#include "discovery/sentinels.h"
#include "session/edition.h"

/* Of the map of a cluster. */
struct cluster_facts {
    const struct cluster_stats *stats;
    uint64_t confirmed_us; /* by a node; 0: never */
    uint64_t now_us;
};

struct admin_source {
    const struct snapshot *snapshot; /* pools and servers by name */
    unsigned workers;
    struct edition **editions;            /* [worker] */
    struct worker_stats **worker_stats;   /* [worker], a block each */
    struct control_stats control_stats;
    int64_t started_unix_us;              /* by admin_source_stamp() */
    uint64_t started_mono_us;
    uint64_t started_allocated_bytes;     /* memory, by then */
    /* Is the process up and not shutting down? */
    bool (*is_ready)(void *arg);
    /* Does the pool listen, is no server of it down, and has every slot an
     * owner if it is a cluster, every master an address if Sentinels name
     * them? */
    bool (*pool_is_ready)(void *arg, size_t pool);
    /* Where the pool's first listener really is, "127.0.0.1:6379". */
    const char *(*pool_address)(void *arg, size_t pool);
    /* False: the servers of this pool are listed. */
    bool (*pool_cluster)(void *arg, size_t pool, struct cluster_facts *facts);
    const struct name_stats *name_stats;
    /* Of all names of servers, by number; false: there are no more. */
    bool (*name_facts)(void *arg, size_t number, struct name_facts *facts);
    /* NULL: Sentinels have no say in this pool. */
    const struct sentinels *(*pool_sentinels)(void *arg, size_t pool);
    void *arg; /* of these functions */
};

/* The process starts now. */
void admin_source_stamp(struct admin_source *source);
uint64_t admin_source_uptime_us(const struct admin_source *source);

static inline const struct pool_settings *
admin_source_pool(const struct admin_source *source, size_t pool)
{
    return &source->snapshot->settings->pools[pool];
}

/* Its servers, as the editions number them. */
static inline const struct roster *
admin_source_roster(const struct admin_source *source, size_t pool)
{
    return source->snapshot->pools[pool].roster;
}

static inline size_t
admin_source_pool_count(const struct admin_source *source)
{
    return source->snapshot->settings->pool_count;
}

/* The cell at `offset` of a block, as a struct stat_desc has it. */
uint64_t admin_cell(const void *block, size_t offset);

/* Sums over all workers of the cell at `offset` of a pool's block, and of a
 * server's; a gauge caught in the middle of a change is never below 0. */
uint64_t admin_sum_pool(const struct admin_source *source, size_t pool,
                        size_t offset);
uint64_t admin_sum_server(const struct admin_source *source, size_t pool,
                          size_t server, size_t offset);

#define POOL_SUM(source, pool, field) \
    admin_sum_pool((source), (pool), offsetof(struct session_stats, field))
/* Of a counter since the last CONFIG RESETSTAT. */
#define POOL_RECENT(source, pool, field)                         \
    (POOL_SUM(source, pool, field) -                             \
     POOL_SUM(source, pool, before[SESSION_STAT_##field]))
#define SERVER_SUM(source, pool, server, field)  \
    admin_sum_server((source), (pool), (server), \
                     offsetof(struct server_stats, field))

/* The latencies of all workers in one. */
struct histogram admin_sum_pool_latency(const struct admin_source *source,
                                        size_t pool);
struct histogram admin_sum_server_latency(const struct admin_source *source,
                                          size_t pool, size_t server);

#endif
