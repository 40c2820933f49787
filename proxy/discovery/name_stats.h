/*
 * discovery/name_stats.h - the counters of names.
 *
 * Owner and only user: the control thread.
 */
#ifndef DISCOVERY_NAME_STATS_H
#define DISCOVERY_NAME_STATS_H

#include "base/counter.h"
#include "net/resolve.h"

struct name_stats {
#define STAT(name, kind, unit, help) struct cell name;
#include "discovery/name_stats.def"
#undef STAT
    struct cell answers[RESOLVE_RESULT_COUNT];
};

extern const struct stat_desc name_stat_descs[];
extern const unsigned name_stat_count;

#endif
