/*
 * session/attempt.h - one try to get a command, or a part of one, executed.
 *
 * Embedded beside a call.  In the pool of a cluster, or of masters that Sentinels
 * name, a try may come to nothing without an answer for the client: then it is held
 * until it can be made again (session/holding.h).
 */
#ifndef SESSION_ATTEMPT_H
#define SESSION_ATTEMPT_H

#include <stdbool.h>
#include <stdint.h>

enum hold {
    HOLD_NONE,  /* under way, or done */
    HOLD_ROUTE, /* goes out again, by the map */
    HOLD_ASK,   /* goes to one server, behind ASKING */
    HOLD_WAIT,  /* goes out again by the map, not before again_us */
    HOLD_DOUBT  /* a script's answer looks like a redirect: the node is asked */
};

struct attempt {
    uint64_t again_us; /* HOLD_WAIT: until then */
    uint64_t since_us; /* when it was first held */
    uint64_t map;      /* number of the map by which `target` counts */
    uint32_t target;   /* HOLD_ASK: the server */
    uint16_t slot;
    uint8_t hold;      /* enum hold */
    uint8_t hops;      /* redirects followed */
    uint8_t waits;     /* answers that asked for patience */
    uint8_t outcome;   /* enum outcome: why it is held; OUTCOME_OTHER: lost */
    bool is_read;      /* a replica may answer it */
    bool at_replica;   /* it is on its way to one */
    bool by_primary;   /* a replica could not: the primary's turn */
};

static inline bool
attempt_is_held(const struct attempt *attempt)
{
    return attempt->hold != HOLD_NONE;
}

#endif
