/*
 * config/pool.h - one pool: a top-level key of the file.
 */
#ifndef CONFIG_POOL_H
#define CONFIG_POOL_H

#include "config/node.h"
#include "config/report.h"
#include "config/settings.h"

#define POOL_LISTENS_MAX 16

/* `pool` is zeroed.  What was wrong is reported; free it in any case. */
void pool_settings_read(struct report *report, const struct node *node,
               struct pool_settings *pool);
void pool_settings_fini(struct pool_settings *pool);

#endif
