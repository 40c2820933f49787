/*
 * session/edition.h - a snapshot, where one worker counts, how servers are.
 *
 * Pools and servers keep their blocks of counters from one snapshot to the next
 * as long as they keep their names; pools are known by an id that they keep as
 * well, since their numbers change.  Made by control for one worker, immutable.
 */
#ifndef SESSION_EDITION_H
#define SESSION_EDITION_H

#include "session/session_stats.h"
#include "upstream/health.h"
#include "upstream/server_stats.h"
#include "upstream/snapshot.h"

struct script_memory;
struct audience;

struct edition_pool {
    size_t id; /* never used again for another pool */
    struct session_stats *stats;
    struct script_memory *scripts; /* of all workers */
    struct audience *audience; /* of all workers */
    struct server_stats **servers; /* as the roster numbers them ... */
    enum health_state *health;     /* ... the verdicts of control as well */
};

struct edition {
    struct snapshot *snapshot;
    struct edition_pool *pools; /* as the settings number them */
};

/* With room for the blocks, which the caller fills in; refs the snapshot. */
struct edition *edition_new(struct snapshot *snapshot);
void edition_free(struct edition **editionp);

/* The number of a pool in the settings, or their pool_count. */
size_t edition_find(const struct edition *edition, size_t id) MUST_CHECK;

#endif
