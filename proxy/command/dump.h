/*
 * command/dump.h - a value as DUMP writes it, for RESTORE to read.
 *
 *   type | how many | members, of sorted sets each with its score | 8 | checksum
 *
 * In a form that servers from Redis 4 on understand.  With RESTORE a value of many
 * members is written by one command, in place of what was there.
 *
 * Pure.
 */
#ifndef COMMAND_DUMP_H
#define COMMAND_DUMP_H

#include "base/buf.h"

void dump_begin_set(struct buf *out, uint64_t members);
void dump_begin_sorted_set(struct buf *out, uint64_t members);
/* A member, and behind it, in a sorted set, its score. */
void dump_string(struct buf *out, struct view bytes);
void dump_score(struct buf *out, double score);
/* All of `out` is the value; no more follows. */
void dump_end(struct buf *out);

#endif
