/*
 * discovery/sentinel_stats.h - the counters of the Sentinels of one pool.
 *
 * Owner and only user: the control thread.
 */
#ifndef DISCOVERY_SENTINEL_STATS_H
#define DISCOVERY_SENTINEL_STATS_H

#include "base/counter.h"

struct sentinel_stats {
#define STAT(name, kind, unit, help) struct cell name;
#include "discovery/sentinel_stats.def"
#undef STAT
};

extern const struct stat_desc sentinel_stat_descs[];
extern const unsigned sentinel_stat_count;

#endif
