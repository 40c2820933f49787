/*
 * discovery/names.h - where the names of servers lead.
 *
 *   a snapshot's servers --names_take--> the table --questions--> net/resolve
 *                        <---addresses--           <--answers---
 *
 * Every name in use stands here once, however many servers have it.  A server
 * that has an IP address besides, as nodes of clusters have, is there as well.  It is asked
 * for when it begins to be used, when its answer holds no longer, and when a
 * connection has failed (discovery/name.h says when exactly).  When addresses
 * change on_change comes, a moment later so that many changes make one; a new
 * snapshot that is then published gets them by names_take().
 *
 * Owner and thread: control.
 */
#ifndef DISCOVERY_NAMES_H
#define DISCOVERY_NAMES_H

#include "discovery/name_stats.h"
#include "upstream/snapshot.h"

struct names;

typedef void (*names_fn)(void *arg);

/* What is known of one name, for the statistics. */
struct name_facts {
    const char *host;
    uint64_t answered_us; /* last with an address, by loop_now_us(); 0: never */
    uint64_t age_us;      /* since then */
    const struct address_list *addresses;
};

struct names *names_new(struct loop *loop, names_fn on_change, void *arg);
void names_free(struct names **namesp);

/* How to ask, from now on: a resolver by resolver_new() with the settings', which
 * this takes over, and its limits.  Every name is asked for anew. */
void names_configure(struct names *names, struct resolver *resolver,
                     const struct settings *settings);
struct resolver *names_make_resolver(struct loop *loop,
                                     const struct settings *settings,
                                     struct error *error) MUST_CHECK;

/* Before a snapshot is published: its servers are where their names lead; names
 * that it does not have are forgotten. */
void names_take(struct names *names, struct snapshot *snapshot);

/* What is known of a name that no server has, but somebody wants to go to: without
 * ports, borrowed until the next turn.  It is asked for from now on, until nobody
 * has wanted it for a while. */
const struct address_list *names_find(struct names *names, const char *host);

/* A connection to a server of this name has failed. */
void names_hint(struct names *names, const char *host);

const struct name_stats *names_stats(const struct names *names);
/* The first, and the next; false: there is none. */
bool names_facts(const struct names *names, size_t number,
                 struct name_facts *facts);

#endif
