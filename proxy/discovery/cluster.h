/*
 * discovery/cluster.h - asking the nodes of one cluster who has which slot.
 *
 *   hints, an interval --> a round: one node after the other, until one gives a
 *   map that is to be believed --> on_map, or on_same
 *
 * One node is asked at a time; between two rounds there is a pause of
 * cluster_refresh_min, longer while they bring nothing new.  A hint that comes
 * while a round is under way makes another one, since what is being answered may
 * be older than the hint.
 *
 * Owner and thread: control.
 */
#ifndef DISCOVERY_CLUSTER_H
#define DISCOVERY_CLUSTER_H

#include <stdbool.h>

#include "discovery/cluster_stats.h"
#include "upstream/snapshot.h"

struct cluster;
struct loop;
struct names;

struct cluster_ops {
    /* There is another map; the topology is borrowed for this call. */
    void (*on_map)(struct cluster *cluster, const struct topology *topology);
    /* A question asked at this time, after a hint, has brought nothing new. */
    void (*on_same)(struct cluster *cluster, uint64_t asked_us);
};

/* Asks at once, which is heard of from the loop; the settings are borrowed until
 * cluster_configure() brings others. */
struct cluster *cluster_new(struct loop *loop, struct names *names,
                            const struct pool_settings *settings,
                            const struct cluster_ops *ops, void *arg);
void cluster_free(struct cluster **clusterp);
void *cluster_arg(const struct cluster *cluster);

/* Other settings; what is known of the cluster stays. */
void cluster_configure(struct cluster *cluster,
                       const struct pool_settings *settings);

/* The map that was asked for at `seen_us` (0: none) does not do. */
void cluster_hint(struct cluster *cluster, enum map_cause cause,
                  uint64_t seen_us);

/* Does every slot have an owner? */
bool cluster_is_covered(const struct cluster *cluster);
/* Since a node has last confirmed the map; 0: none has. */
uint64_t cluster_confirmed_us(const struct cluster *cluster);
const struct cluster_stats *cluster_stats(const struct cluster *cluster);

#endif
