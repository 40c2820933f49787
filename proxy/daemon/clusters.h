/*
 * daemon/clusters.h - the maps of the pools that are clusters.
 *
 *   workers --MESSAGE_HINT--> discovery/cluster --> control_publish --> workers
 *
 * Owner and thread: control.
 */
#ifndef DAEMON_CLUSTERS_H
#define DAEMON_CLUSTERS_H

#include <stdbool.h>
#include <sys/queue.h>

#include "discovery/cluster.h"

struct control;
struct message;

struct watched_cluster {
    TAILQ_ENTRY(watched_cluster) link;
    struct control *control;
    size_t id; /* of the pool */
    bool is_claimed;
    struct cluster *cluster;
};

TAILQ_HEAD(watched_cluster_list, watched_cluster);

/* Before a snapshot of other settings is published: maps that stay good. */
void clusters_keep_maps(struct control *control, struct snapshot *snapshot);
/* It has been published: ask those that it has, forget the others. */
void clusters_take(struct control *control);
void clusters_free(struct control *control);

void clusters_take_hint(struct control *control,
                        const struct message *message);

/* NULL for a pool whose servers are listed. */
struct cluster *clusters_find(struct control *control, size_t number);

#endif
