/*
 * config/sentinel.h - the keys of a pool whose servers are named by Sentinels.
 */
#ifndef CONFIG_SENTINEL_H
#define CONFIG_SENTINEL_H

#include "config/node.h"
#include "config/report.h"
#include "config/settings.h"

#define SENTINELS_MAX 32
/* Name of a master, as sentinel.conf has it. */
#define SENTINEL_MASTER_MAX 255

/* sentinels:, sentinel_auth: and on_no_quorum: of the pool `target`; word_fn of
 * config/section.h. */
void sentinel_conf_list(struct report *report, const struct node *node,
                        void *target);
void sentinel_conf_auth(struct report *report, const struct node *node,
                        void *target);
void sentinel_conf_no_quorum(struct report *report, const struct node *node,
                             void *target);

/* master: of the server `target`. */
void sentinel_conf_master(struct report *report, const struct node *node,
                          void *target);

/* Do they go together with the pool's other keys? */
void sentinel_conf_check(struct report *report, const struct node *map,
                    const struct pool_settings *pool);

void sentinel_conf_fini(struct pool_settings *pool);

#endif
