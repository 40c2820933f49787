/*
 * session/stream_race.h - XREAD BLOCK of streams on several shards.
 *
 *   XREAD BLOCK 0 STREAMS a b $ 5
 *     -> XREAD STREAMS a $ | XREAD STREAMS b 5      something there: the answer
 *     -> XREAD BLOCK 0 STREAMS a $ | XREAD BLOCK 0 STREAMS b 5
 *                                        the first that has something answers
 *
 * The first question is a split job like any other.  For the second each part
 * has a private lane of its own; the connections of the losers are closed, which
 * costs nothing as the command only reads.  When a shard that is waited for goes
 * away, or its slot does, the answer is UNBLOCKED, as from a server that changes
 * its role.
 *
 * A race belongs to its session's blocking command, and ends with it.
 */
#ifndef SESSION_STREAM_RACE_H
#define SESSION_STREAM_RACE_H

#include "session/incoming.h"

struct stream_race;

/* Can this command, which blocks, be asked in these two steps? */
bool stream_race_is_for(const struct incoming *in) MUST_CHECK;

/* Nothing is there: the parts of request->job are to wait.  `body` is the whole
 * command. */
struct stream_race *stream_race_new(struct request *request,
                                    const struct extent *body) MUST_CHECK;
/* Once it stands in its place, since this may end it. */
void stream_race_go(struct stream_race *race);
/* CLIENT UNBLOCK; false when an answer is being given already. */
bool stream_race_unblock(struct stream_race *race, bool with_error) MUST_CHECK;
/* All have had their time and more. */
void stream_race_expire(struct stream_race *race);
/* Calls on its way are given up. */
void stream_race_free(struct stream_race **racep);

#endif
