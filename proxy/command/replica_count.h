/*
 * command/replica_count.h - how many replicas are how far, by INFO replication?
 *
 * Pure.
 */
#ifndef COMMAND_REPLICA_COUNT_H
#define COMMAND_REPLICA_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "base/view.h"

struct replica_count {
    uint64_t offset; /* of the primary */
    uint32_t count;  /* replicas that have confirmed at least what was asked for */
};

/* `reply` is the whole answer, of any RESP version.  False: it is none of a
 * primary to INFO replication. */
bool replica_count_read(struct view reply, uint64_t least,
                        struct replica_count *told) MUST_CHECK;

#endif
