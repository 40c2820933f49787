/*
 * upstream/server_stats.h - the counters of one server in one worker.
 *
 * The block belongs to control, which outlives the workers; the worker that it
 * was made for is its only writer.
 */
#ifndef UPSTREAM_SERVER_STATS_H
#define UPSTREAM_SERVER_STATS_H

#include "base/close_reason.h"
#include "base/counter.h"
#include "base/histogram.h"

struct server_stats {
#define STAT(name, kind, unit, help) struct cell name;
#include "upstream/server_stats.def"
#undef STAT
    struct histogram latency; /* from the client's request to its reply */
    struct cell closed[CLOSE_REASON_COUNT]; /* connections, by why */
};

extern const struct stat_desc server_stat_descs[];
extern const unsigned server_stat_count;

#endif
