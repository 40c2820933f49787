/*
 * discovery/cluster_map.h - from what a node says to a map of its cluster.
 *
 *   CLUSTER SLOTS   who has which slot, and where it is   -+
 *   CLUSTER NODES   epochs, who has failed                -+--> a map
 *   a map known before ---- merge: whom to believe --------+
 *
 * Pure.  A node tells its own view, which may be old, empty after a loss of its
 * disk, or that of another cluster: the merge is where a bad answer is kept from
 * erasing a good map.
 *
 * A primary that is demoted is no replica at once: until it has said so itself,
 * and until something has been replicated to it, the others list it as a primary
 * without slots, or not at all.  So a member that has served stays in the
 * topology as long as the nodes find it well, behind the one that has its slots.
 */
#ifndef DISCOVERY_CLUSTER_MAP_H
#define DISCOVERY_CLUSTER_MAP_H

#include <stdbool.h>

#include "base/error.h"
#include "base/view.h"
#include "route/route.h"
#include "upstream/roster.h"
#include "upstream/snapshot.h"

/* Nodes beyond these are left out. */
#define CLUSTER_NODES_MAX 1024

struct cluster_node {
    char id[NODE_ID_MAX + 1]; /* "": 3.x does not say */
    char *host;       /* as it is announced; NULL: unknown */
    char *ip;         /* a literal, or NULL */
    char *zone;       /* or NULL */
    uint16_t port;    /* 0: it cannot be reached by us */
    uint32_t primary; /* of a replica */
    uint64_t epoch;
    bool is_replica;
    bool is_myself;   /* the node that was asked */
    bool is_failed;
    bool is_listed;   /* by CLUSTER SLOTS: it serves */
    bool is_former;   /* it has, and is a member that is well */
};

struct cluster_map {
    struct cluster_node *nodes;
    uint32_t count;
    bool has_epochs; /* CLUSTER NODES was answered */
    uint16_t owners[ROUTE_SLOTS]; /* by node, or ROUTE_NO_OWNER */
};

/* Both replies are whole; `nodes` may be an error.  `host` is the one that was
 * asked, for nodes that do not know their own.  NULL and a sentence when the
 * first says nothing. */
struct cluster_map *cluster_map_read(struct view slots, struct view nodes,
                                     const char *host,
                                     struct error *error) MUST_CHECK;
void cluster_map_free(struct cluster_map **mapp);

/* Make `fresh` the map to go by after `known` (NULL: nothing was).  -1 and a
 * sentence when it is not to be believed; `fresh` is of no use then. */
int cluster_map_merge(struct cluster_map *fresh,
                      const struct cluster_map *known,
                      struct error *error) MUST_CHECK;

/* Would they make the same topology? */
bool cluster_map_equal(const struct cluster_map *a,
                       const struct cluster_map *b) MUST_CHECK;

/* The caller owns topology->roster. */
void cluster_map_topology(const struct cluster_map *map,
                          struct topology *topology);

/* Slots that have an owner. */
uint32_t cluster_map_covered(const struct cluster_map *map);
/* The highest epoch of an owner. */
uint64_t cluster_map_epoch(const struct cluster_map *map);

#endif
