/*
 * upstream/overlay.h - what one worker knows better than its map of a cluster.
 *
 *   slot 5061 --MOVED--> server 2, since t      until a map is younger than t
 *   slot 7000 is hot until t + OVERLAY_HOT_US   it has shown ASK or TRYAGAIN
 *
 * A corrected slot yields to a map whose question was asked after the
 * correction.  Servers are numbered as in the pool's current generation.  Time
 * is that of loop_clock_us(), which all threads share.
 *
 * Costs nothing before the first correction and after the last has gone.
 * Owner: struct pool.  One thread.
 */
#ifndef UPSTREAM_OVERLAY_H
#define UPSTREAM_OVERLAY_H

#include <stdbool.h>

#include "base/base.h"

#define OVERLAY_HOT_US 1000000 /* a slot is calm when so long nothing was shown */

struct roster;

struct overlay_slot {
    uint64_t since_us;     /* 0: the map is right */
    uint64_t hot_until_us; /* 0: calm */
    uint32_t server;
};

struct overlay {
    struct overlay_slot *slots; /* ROUTE_SLOTS of them, or NULL */
    uint64_t hot_until_us;      /* of the hottest slot */
};

void overlay_fini(struct overlay *overlay);

/* The server that has the slot, or ROUTE_NONE: the map is right. */
uint32_t overlay_find(const struct overlay *overlay, uint32_t slot);
void overlay_correct(struct overlay *overlay, uint32_t slot, uint32_t server,
                     uint64_t now_us);

void overlay_heat(struct overlay *overlay, uint32_t slot, uint64_t now_us);

/* Is any slot hot? */
static inline bool
overlay_is_warm(const struct overlay *overlay, uint64_t now_us)
{
    return overlay->hot_until_us > now_us;
}

bool overlay_is_hot(const struct overlay *overlay, uint32_t slot,
                    uint64_t now_us);

/* A map that was asked for at `asked_us` takes the place of `before`. */
void overlay_take_map(struct overlay *overlay, const struct roster *before,
                      const struct roster *after, uint64_t asked_us);

#endif
