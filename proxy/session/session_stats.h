/*
 * session/session_stats.h - the counters of one pool in one worker.
 *
 * The block belongs to control, which outlives the workers; the worker that it
 * was made for is its only writer.
 */
#ifndef SESSION_SESSION_STATS_H
#define SESSION_SESSION_STATS_H

#include "base/close_reason.h"
#include "base/counter.h"
#include "base/histogram.h"
#include "command/command.h"

struct session_stats {
#define STAT(name, kind, unit, help) struct cell name;
#include "session/session_stats.def"
#undef STAT
    struct cell ended;                         /* client connections */
    struct histogram latency;                  /* from request to reply */
    struct cell closed[CLOSE_REASON_COUNT];    /* client connections, by why */
    struct cell commands[COMMAND_ID_ALL];      /* requests, by command */
};

extern const struct stat_desc session_stat_descs[];
extern const unsigned session_stat_count;

#endif
