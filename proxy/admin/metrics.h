/*
 * admin/metrics.h - /metrics: everything that is counted, for Prometheus.
 *
 * Rows of the *_stats.def files appear by themselves, as
 * pointsman_pool_<name>, pointsman_server_<name>, pointsman_worker_<name> and
 * pointsman_stats_<name>.  Pools and servers are sums over the workers.
 */
#ifndef ADMIN_METRICS_H
#define ADMIN_METRICS_H

#include "admin/port_stats.h"
#include "admin/source.h"
#include "base/buf.h"

void metrics_render(const struct admin_source *source,
                    const struct port_stats *port, bool open_metrics,
                    struct buf *out);

#endif
