/*
 * upstream/roster.h - the servers of a pool, by number.
 *
 *   0 .. shard_count - 1      one a shard, which the route answers with
 *   shard_count .. count - 1  replicas of these; in a cluster also members that
 *                             have served before, and may not be read from
 *
 * A listed pool has the servers of its settings, all of them shards.  That of a
 * cluster has what its nodes say; before any has spoken it is empty.  Masters that
 * Sentinels name stand in the settings, their replicas, where these are read from,
 * come from the Sentinels.
 *
 * Immutable once made and counted atomically, so that snapshots of all threads
 * share it.
 */
#ifndef UPSTREAM_ROSTER_H
#define UPSTREAM_ROSTER_H

#include <stdbool.h>

#include "config/settings.h"
#include "upstream/gate.h"

#define NODE_ID_MAX 64 /* 40 are in use */

struct roster_entry {
    char *name;
    struct address_text address;
    /* Of a discovered node only. */
    char id[NODE_ID_MAX + 1];
    char *ip;         /* a literal; the address may have a name */
    uint32_t slot_count;
    char *zone;       /* NULL: it does not say */
    uint32_t primary; /* number of the one it replicates, or its own */
    uint64_t epoch;   /* under which it owns its slots */
    bool is_usable;   /* a replica that may be read from ... */
    bool is_cut;      /* ... only while its primary is off */
    bool is_near;     /* among those of its shard that answer soonest */
    /* Of a master that Sentinels name; its address is empty before they do. */
    bool is_master;
    enum gate gate; /* of a shard */
};

struct roster {
    unsigned refs; /* atomic */
    uint32_t shard_count;
    uint32_t count;
    struct roster_entry entries[];
};

/* With room for `count`, zeroed, to be filled in by the caller. */
struct roster *roster_new(uint32_t count, uint32_t shard_count);
/* What stands in the settings: nobody in the pool of a cluster. */
struct roster *roster_of_settings(const struct pool_settings *pool);

/* The same with room for so many replicas behind these. */
struct roster *roster_with_replicas(const struct pool_settings *pool,
                                    uint32_t replicas);
/* Entry `number` is a replica of shard `primary`, whose name its own begins with. */
void roster_set_replica(struct roster *roster, uint32_t number,
                        uint32_t primary, const char *host, uint16_t port);
/* Where entry `number` is from now on; "host:port" in its text. */
void roster_set_address(struct roster *roster, uint32_t number,
                        const char *host, uint16_t port);

/* The same with other gates of its shards. */
struct roster *roster_with_gates(const struct roster *roster,
                                 const enum gate *gates);

struct roster *roster_ref(struct roster *roster);
void roster_unref(struct roster **rosterp);

/* The number of the node with this id or this address, or roster->count. */
uint32_t roster_find_id(const struct roster *roster,
                        struct view id) MUST_CHECK;
uint32_t roster_find_address(const struct roster *roster, struct view host,
                             uint16_t port) MUST_CHECK;

#endif
