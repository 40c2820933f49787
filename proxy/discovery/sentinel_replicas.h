/*
 * discovery/sentinel_replicas.h - who replicates a master, as most Sentinels say.
 *
 *   SENTINEL REPLICAS name, of each one --> a list
 *        lists of those who vouch for the master's address --> what most say
 *
 * A replica is listed when most of these list it, and usable when most of them
 * say so: that it is up, says itself that it is a replica, is linked to this
 * master, and is not hidden.  One whose link is down is cut off.  Its priority
 * tells of promotions only: one with 0 is read from like the others.
 *
 * Pure.
 */
#ifndef DISCOVERY_SENTINEL_REPLICAS_H
#define DISCOVERY_SENTINEL_REPLICAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "base/view.h"

/* Of one master; the rest is left out. */
#define SENTINEL_REPLICAS_MAX 64

struct sentinel_replica {
    char *host; /* an address or a name */
    uint16_t port;
    bool is_usable;
    bool is_cut; /* it would be, but for its link */
};

struct sentinel_replicas {
    size_t count;
    struct sentinel_replica items[]; /* by address */
};

/* Of a reply to SENTINEL REPLICAS by one who says that the master is at this
 * address.  NULL: it is no answer. */
struct sentinel_replicas *sentinel_replicas_read(struct view reply,
                                                 struct view host,
                                                 uint16_t port) MUST_CHECK;

/* What most of them say; NULL stands for one who has not answered. */
struct sentinel_replicas *
sentinel_replicas_merge(const struct sentinel_replicas *const *lists,
                        size_t count) MUST_CHECK;

/* It is the master now. */
void sentinel_replicas_drop(struct sentinel_replicas *list, struct view host,
                            uint16_t port);

/* NULL is an empty list. */
bool sentinel_replicas_equal(const struct sentinel_replicas *a,
                             const struct sentinel_replicas *b) MUST_CHECK;
void sentinel_replicas_free(struct sentinel_replicas **listp);

#endif
