/*
 * command/info_merge.h - the INFO texts of several servers become one.
 *
 *   # Stats                # Stats                 # Stats
 *   expired_keys:3         expired_keys:2     ->   expired_keys:5
 *   cmdstat_get:calls=1    cmdstat_set:calls=4     cmdstat_get:calls=1
 *                                                  cmdstat_set:calls=4
 *
 * What is counted is added; of Persistence, where numbers are mostly states, the
 * greatest is told; everything else is the first server's.  What is the proxy's own
 * stands in the place of what servers say of it.
 *
 * Pure.
 */
#ifndef COMMAND_INFO_MERGE_H
#define COMMAND_INFO_MERGE_H

#include "base/buf.h"
#include "base/chain.h"

/* Append the text.  Replies that are errors count for nothing; false when none
 * is a text.  `own` is a text as well, of which those sections count that servers
 * speak of; of Stats only what is said of clients that track. */
bool info_merge(const struct chain *replies, uint32_t count, struct view own,
                struct buf *out) MUST_CHECK;

#endif
