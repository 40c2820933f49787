/*
 * session/latency_histogram.h - LATENCY HISTOGRAM: how long commands took.
 *
 * What each worker has counted since the last CONFIG RESETSTAT, added up.  A call
 * counts from its last byte to its answer, as in SLOWLOG.
 */
#ifndef SESSION_LATENCY_HISTOGRAM_H
#define SESSION_LATENCY_HISTOGRAM_H

#include "base/buf.h"
#include "session/session.h"
#include "session/survey.h"

/* Of surveys; the text names commands, containers for all of their subcommands,
 * between spaces.  An empty one means all. */
void latency_histogram_survey(struct session_pool *pool,
                              const struct survey *survey);
void latency_histogram_reply(const struct request *request, struct view text,
                             struct buf *out);

#endif
