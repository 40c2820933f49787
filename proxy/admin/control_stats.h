/*
 * admin/control_stats.h - the counters of the control thread.
 *
 * Owner and only user: the control thread.
 */
#ifndef ADMIN_CONTROL_STATS_H
#define ADMIN_CONTROL_STATS_H

#include "base/counter.h"

struct control_stats {
#define STAT(name, kind, unit, help) struct cell name;
#include "admin/control_stats.def"
#undef STAT
};

extern const struct stat_desc control_stat_descs[];
extern const unsigned control_stat_count;

#endif
