/*
 * session/fanout_stream.h - answers of all shards that pass as they come.
 *
 *   a -> *2 x y ..    heads of all are here:    *5         at once
 *   b -> *3 z ...    ----------------------->   x y ...    a's, as it comes
 *                                               z ...      b's, behind it
 *
 * Of commands whose answers are put one behind the other (KEYS).  What the head of
 * the whole says stands in the heads of the parts; so nothing is kept of the part
 * whose turn it is, and little of the others, whose lanes wait: unless somebody
 * else waits behind on them, then what comes is kept, up to client_output_limit.
 * The parts of a heavy session have lanes of their own (private_lane.h), where
 * there is room for another.
 *
 * Answers that have come whole before the last one has begun, as small ones do, are
 * merged (command/fanout_merge.h).  So are those that do not pass: it is not their
 * request's turn, a shard has failed, or the map has changed.
 */
#ifndef SESSION_FANOUT_STREAM_H
#define SESSION_FANOUT_STREAM_H

#include "session/fanout_priv.h"
#include "session/split_job_priv.h"

/* Has the head of the whole answer been given?  Then pieces are, too. */
static inline bool
fanout_passes(const struct request *request)
{
    const struct split_job *job = request->job;

    return unlikely(job->fanout != NULL) && job->fanout->passes;
}

/* A piece of a part's answer has been kept: may they pass from now on, or shall its
 * lane wait until they do? */
void fanout_stream_look(struct part_call *part,
                        const struct reply_piece *piece);
/* A piece has come while they pass. */
void fanout_stream_take(struct part_call *part,
                        const struct reply_piece *piece);
/* A part is done: it is the turn of the next, or there is nothing to wait for. */
void fanout_stream_next(struct request *request);
/* A part is held, or has failed: no lane waits for the others. */
void fanout_stream_let_go(struct request *request);

/* Somebody waits behind a part whose lane does not read. */
void fanout_stream_contended(struct part_call *part);

/* Does somebody wait behind such a part? */
bool fanout_makes_wait(const struct request *request) MUST_CHECK;

/* Over a lane for this part alone, if there is one for it. */
bool fanout_lease(struct part_call *part, struct lane_key key) MUST_CHECK;
/* It needs it no longer. */
void fanout_end_lease(struct part_call *part);

/* The session of this request, which may be NULL, ends: have a ref if lanes wait
 * for it; what comes over them is dropped. */
struct request *fanout_stream_hold(struct request *request) MUST_CHECK;
void fanout_stream_drop(struct request **requestp);

#endif
