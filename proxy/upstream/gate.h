/*
 * upstream/gate.h - may commands that write go to a shard?
 *
 *   OPEN <--> HELD --> PROMOTING --> OPEN, somewhere else
 *     ^         |          |
 *     |         +----------+--> STUCK
 *     +--> NO_QUORUM
 *
 * A gate belongs to a shard, and stands in the roster.  It is turned by one
 * operation, snapshot_with_gates(), whoever wants it; workers take it up at once,
 * by server_settle().  Commands that only read pass always.
 */
#ifndef UPSTREAM_GATE_H
#define UPSTREAM_GATE_H

#include <stdbool.h>

enum gate {
    GATE_OPEN,
    GATE_HELD,      /* they wait */
    GATE_PROMOTING, /* likewise; what is under way may come too late */
    GATE_STUCK,     /* they are refused: that has taken too long */
    GATE_NO_QUORUM  /* likewise: too few Sentinels vouch for the primary */
};

static inline bool
gate_holds(enum gate gate)
{
    return gate == GATE_HELD || gate == GATE_PROMOTING;
}

static inline bool
gate_bars(enum gate gate)
{
    return gate == GATE_STUCK || gate == GATE_NO_QUORUM;
}

#endif
