/*
 * admin/port_stats.h - the counters of the stats port.
 *
 * Owner and only user: the control thread.
 */
#ifndef ADMIN_PORT_STATS_H
#define ADMIN_PORT_STATS_H

#include "base/counter.h"

struct port_stats {
#define STAT(name, kind, unit, help) struct cell name;
#include "admin/port_stats.def"
#undef STAT
};

extern const struct stat_desc port_stat_descs[];
extern const unsigned port_stat_count;

#endif
