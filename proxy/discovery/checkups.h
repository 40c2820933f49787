/*
 * discovery/checkups.h - asking each node of a pool how it is doing.
 *
 *   roster --> one checkup a node --INFO--> its link, its offset, its zone,
 *                                           and how long the answer took
 *
 * Only where replicas are read from.  Each node is asked every
 * replica_check_interval over a connection that is kept; what comes of it is
 * written into the rosters that are published.  A node that does not answer
 * stays what it was: whether it is down is for others to say.
 *
 * Owner: struct cluster, struct sentinels.  Control thread.
 */
#ifndef DISCOVERY_CHECKUPS_H
#define DISCOVERY_CHECKUPS_H

#include "base/counter.h"
#include "upstream/roster.h"

struct checkups;
struct loop;
struct names;

/* Something has changed that is to be written into a roster. */
typedef void (*checkups_fn)(void *arg);

/* Gauges of replicas that are not read from. */
struct checkup_cells {
    struct cell *cut;
    struct cell *behind;
};

/* `names` and the cells are borrowed. */
struct checkups *checkups_new(struct names *names, struct loop *loop,
                              struct checkup_cells cells,
                              checkups_fn on_change, void *arg);
void checkups_free(struct checkups **allp);

/* These are the settings and the nodes now; both are not kept after the call but
 * for the settings, which are borrowed. */
void checkups_take(struct checkups *all, const struct pool_settings *settings,
                   const struct roster *roster);

/* Write what is known into a roster that is being made. */
void checkups_write(const struct checkups *all, struct roster *roster);

#endif
