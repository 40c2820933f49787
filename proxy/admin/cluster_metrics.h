/*
 * admin/cluster_metrics.h - what is known of the maps of clusters.
 */
#ifndef ADMIN_CLUSTER_METRICS_H
#define ADMIN_CLUSTER_METRICS_H

#include "admin/exposition.h"
#include "admin/source.h"

/* Families with a line for each pool that is a cluster, or each of its
 * servers; none when there is no such pool. */
void cluster_metrics_render(const struct admin_source *source,
                            struct exposition *x);

#endif
