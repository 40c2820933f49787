/*
 * config/zones.h - which node is in which availability zone.
 *
 *   zones:
 *     10.0.1.0/24: eu-1a        a network
 *     10.0.2.7: eu-1b           an address
 *     "[::1]:7001": eu-1c       one port of an address
 *
 * The rule that says most about a node counts.
 */
#ifndef CONFIG_ZONES_H
#define CONFIG_ZONES_H

#include "config/node.h"
#include "config/report.h"
#include "config/settings.h"

#define ZONES_MAX 1024

/* zones: of the pool `target`; word_fn of config/section.h. */
void zones_read(struct report *report, const struct node *node, void *target);
void zones_fini(struct pool_settings *pool);

/* The zone of a node at this address, a literal or NULL, or NULL. */
const char *zones_find(const struct pool_settings *pool, const char *ip,
                       uint16_t port) MUST_CHECK;

#endif
