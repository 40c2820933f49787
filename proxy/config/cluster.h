/*
 * config/cluster.h - the keys of a pool that is a cluster, or seems to be one.
 */
#ifndef CONFIG_CLUSTER_H
#define CONFIG_CLUSTER_H

#include "config/node.h"
#include "config/report.h"
#include "config/settings.h"

#define CLUSTER_SEEDS_MAX 64

/* cluster:, read_from: and announce: of the pool `target`; word_fn of
 * config/section.h. */
void cluster_read_seeds(struct report *report, const struct node *node,
                        void *target);
void cluster_read_from(struct report *report, const struct node *node,
                       void *target);
void cluster_read_announce(struct report *report, const struct node *node,
                           void *target);

/* Do they go together with the pool's other keys? */
void cluster_check(struct report *report, const struct node *map,
                   const struct pool_settings *pool);

void cluster_fini(struct pool_settings *pool);

#endif
