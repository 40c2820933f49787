/*
 * session/published.h - how many listeners a message has reached.
 *
 *   PUBLISH c m --> server: ":2", two connections of workers
 *                   audience: 5 clients listen over these --> client: ":5"
 *
 * Where clients of ours listen, what a server says of listeners is made true by
 * session/audience.h: the answers to PUBLISH, SPUBLISH and PUBSUB NUMSUB,
 * SHARDNUMSUB and NUMPAT.  Within a transaction or a script they stay the
 * server's.
 */
#ifndef SESSION_PUBLISHED_H
#define SESSION_PUBLISHED_H

#include "session/request.h"
#include "session/session.h"

/* Where PUBLISH or SPUBLISH goes to. */
struct place published_place(const struct session *session,
                             const struct command *command,
                             struct view channel);

/* Is it a matter of one shard, so that within a transaction the channel counts as
 * a key?  The nodes of a cluster tell one another of PUBLISH. */
bool published_has_place(const struct session *session,
                         const struct command *command) MUST_CHECK;

/* The answer to one of them as it ought to be; `own` is room for it. */
const struct reply_piece *published_correct(const struct request *request,
                                            const struct reply_piece *piece,
                                            struct reply_piece *own);

/* Is the merged answer of all shards to be made true? */
bool published_concerns(const struct session *session,
                        const struct command *command) MUST_CHECK;
/* Make request->reply, which has been merged, true. */
void published_correct_sums(struct request *request);

#endif
