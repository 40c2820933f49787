/*
 * config/check.h - do the values make sense together?
 *
 * Single values have been checked when they were read.  These functions look
 * at a pool that may be half filled, and only report.
 */
#ifndef CONFIG_CHECK_H
#define CONFIG_CHECK_H

#include "config/node.h"
#include "config/report.h"
#include "config/settings.h"

/* Keys that are missing, limits that contradict each other, and where we
 * differ from twemproxy. */
void check_pool(struct report *report, const struct node *map,
                const struct pool_settings *pool);
/* Keys that have no effect with this distribution; names; missing ranges. */
void check_placement(struct report *report, const struct node *map,
                     const struct pool_settings *pool);
/* Ranges and slots that overlap or leave gaps.  The pool is complete. */
void check_route(struct report *report, const struct node *map,
                 const struct pool_settings *pool);
/* Addresses that are listened on twice. */
void check_listens(struct report *report, const struct node *root,
                   const struct settings *settings);

#endif
