/*
 * config/servers.h - the list of servers of a pool.
 */
#ifndef CONFIG_SERVERS_H
#define CONFIG_SERVERS_H

#include "config/node.h"
#include "config/report.h"
#include "config/settings.h"

/*
 * Fill pool->servers from `list`, one for each item, in order.  distribution
 * and range_by of the pool are known.  An item that is wrong is reported and
 * leaves a server without a name.
 */
void servers_read(struct report *report, const struct node *list,
                  struct pool_settings *pool);
void servers_fini(struct pool_settings *pool);

#endif
