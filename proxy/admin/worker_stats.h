/*
 * admin/worker_stats.h - the counters of one worker.
 *
 * The block belongs to control, which outlives the workers; the worker that it
 * was made for is its only writer, once a turn.
 */
#ifndef ADMIN_WORKER_STATS_H
#define ADMIN_WORKER_STATS_H

#include "base/counter.h"

struct worker_stats {
#define STAT(name, kind, unit, help) struct cell name;
#include "admin/worker_stats.def"
#undef STAT
};

extern const struct stat_desc worker_stat_descs[];
extern const unsigned worker_stat_count;

#endif
