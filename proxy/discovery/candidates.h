/*
 * discovery/candidates.h - the nodes of a cluster that may be asked for a map.
 *
 * The seeds, and every node that a map has ever listed, until it was missing
 * from all maps for CANDIDATE_FORGET_US.  Who has failed lately is asked last,
 * else who was not asked for longest, so that all views are heard in turn.
 * Failures are forgiven in time, of one node a round, so that whoever is back
 * is heard again and those who are not hold up little.
 *
 * One thread.
 */
#ifndef DISCOVERY_CANDIDATES_H
#define DISCOVERY_CANDIDATES_H

#include "config/settings.h"
#include "discovery/cluster_map.h"

#define CANDIDATES_MAX (2 * CLUSTER_NODES_MAX)
#define CANDIDATE_FORGET_US (600 * (uint64_t)1000000)
#define CANDIDATE_FORGIVE_US (60 * (uint64_t)1000000)

struct candidate {
    char *host;
    char *ip; /* or NULL */
    uint16_t port;
    bool is_seed;
    unsigned failures; /* in a row */
    uint64_t heard_us; /* when a map listed it */
    uint64_t asked_us;
    uint64_t round;    /* in which it was asked last */
};

struct candidates {
    struct candidate *items;
    uint32_t count;
    uint64_t round;
};

void candidates_init(struct candidates *all);
void candidates_fini(struct candidates *all);

/* These are the seeds now; who was one and is in no map is forgotten in time. */
void candidates_set_seeds(struct candidates *all,
                          const struct pool_settings *pool, uint64_t now_us);
/* A map has been accepted. */
void candidates_take_map(struct candidates *all,
                         const struct cluster_map *map, uint64_t now_us);

/* The failures of the one that has failed longest ago do not count any more, if
 * that was CANDIDATE_FORGIVE_US ago.  For rounds that nobody waits for. */
void candidates_forgive(struct candidates *all, uint64_t now_us);
/* Begin to ask all of them in turn. */
void candidates_begin_round(struct candidates *all);
/* The next to ask in this round, or NULL when all were. */
struct candidate *candidates_next(struct candidates *all, uint64_t now_us);

#endif
