/*
 * discovery/cluster_map_priv.h - what reading and merging share.
 */
#ifndef DISCOVERY_CLUSTER_MAP_PRIV_H
#define DISCOVERY_CLUSTER_MAP_PRIV_H

#include "discovery/cluster_map.h"

struct cluster_map *cluster_map_new(void);

/* One more, zeroed; map->count when there are too many. */
uint32_t cluster_map_add(struct cluster_map *map);

/* The node with this id, or without ids this host and port, or map->count. */
uint32_t cluster_map_find(const struct cluster_map *map, struct view id,
                          struct view host, uint16_t port);

static inline struct view
view_of_text(const char *text)
{
    return text == NULL ? view_of(NULL, 0) : view_str(text);
}

#endif
