/*
 * discovery/cluster_stats.h - the counters of one cluster's map.
 *
 * Owner and only user: the control thread.
 */
#ifndef DISCOVERY_CLUSTER_STATS_H
#define DISCOVERY_CLUSTER_STATS_H

#include "base/counter.h"
#include "upstream/map_cause.h"

struct cluster_stats {
#define STAT(name, kind, unit, help) struct cell name;
#include "discovery/cluster_stats.def"
#undef STAT
    struct cell refreshes[MAP_CAUSE_COUNT];
};

extern const struct stat_desc cluster_stat_descs[];
extern const unsigned cluster_stat_count;

/* "moved", for a label. */
const char *map_cause_name(enum map_cause cause);

#endif
