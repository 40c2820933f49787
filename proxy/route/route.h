/*
 * route/route.h - which shard has this key?
 *
 * A route is an immutable table made from a route_spec, once; it answers with
 * a shard number: the position of the shard in the spec, as the operator wrote
 * it.  It knows no server.  Thread: any number of readers.  Refcounting is left
 * to the snapshot that holds it.
 *
 * Distributions and hashes are rows of route/algorithms.def.
 */
#ifndef ROUTE_ROUTE_H
#define ROUTE_ROUTE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/view.h"

#define ROUTE_NONE UINT32_MAX
#define ROUTE_SLOTS 16384
#define ROUTE_NO_OWNER UINT16_MAX

enum distribution {
#define DISTRIBUTION(name, NAME, help) DISTRIBUTION_##NAME,
#define HASH(name, NAME, fn, help)
#include "route/algorithms.def"
#undef DISTRIBUTION
#undef HASH
    DISTRIBUTION_COUNT
};

enum hash_kind {
#define DISTRIBUTION(name, NAME, help)
#define HASH(name, NAME, fn, help) HASH_##NAME,
#include "route/algorithms.def"
#undef DISTRIBUTION
#undef HASH
    HASH_COUNT
};

/* -1 when no algorithm has this name. */
int distribution_parse(struct view name) MUST_CHECK;
int hash_parse(struct view name) MUST_CHECK;
const char *distribution_name(enum distribution distribution);
const char *hash_name(enum hash_kind hash);

/* The raw hash of some bytes, tags not considered; 0 for no bytes. */
uint32_t hash_bytes(enum hash_kind hash, bool unsigned_chars, struct view key);

enum range_by { RANGE_BY_NUMBER, RANGE_BY_BYTES };

/* by number: [from, to], both inclusive.  by bytes: [from, before), no_before
 * meaning without an upper end; an empty `from` is the lowest key. */
struct range_spec {
    uint64_t from_number, to_number;
    struct view from_bytes, before_bytes;
    bool no_before;
};

struct slot_span {
    uint16_t first, last; /* inclusive */
};

struct route_shard_spec {
    struct view name; /* twemproxy's node name: ring, order and messages */
    uint32_t weight;  /* >= 1 */
    bool live;        /* false: ejected */
    bool is_default;  /* range: takes keys outside every range */
    const struct range_spec *ranges;
    size_t range_count;
    const struct slot_span *slots; /* none in any shard: split evenly */
    size_t slot_count;
};

struct route_spec {
    enum distribution distribution;
    enum hash_kind hash;
    bool unsigned_chars; /* hash as an AArch64 build of twemproxy does */
    bool has_tag;
    char tag[2];
    enum range_by range_by;
    const struct route_shard_spec *shards;
    size_t shard_count; /* >= 1, unless there are slot_owners */
    /* slots: whose each of the ROUTE_SLOTS is, ROUTE_NO_OWNER for nobody's, in
     * place of what the shards say; else NULL. */
    const uint16_t *slot_owners;
};

struct route;

/* NULL and a sentence when the spec makes no sense (overlapping ranges or
 * slots, slots that nobody has, ...).  Copies what it needs. */
struct route *route_new(const struct route_spec *spec,
                        struct error *error) MUST_CHECK;
void route_free(struct route **routep);

/* A shard number, or ROUTE_NONE when the key belongs nowhere (range without
 * default) or no shard is live.  `dice` is any state for `random`.  Only
 * ketama, modula and random obey `live`: there any server may take any key.
 * In the others a server owns its keys and is the answer, ejected or not. */
uint32_t route_find(const struct route *route, struct view key,
                    uint64_t *dice) MUST_CHECK;

/* What keys must have in common to be handled by one command: the slot (0 to
 * 16383) when routing by slots, else the shard. */
bool route_is_slots(const struct route *route);
uint32_t route_slot(const struct route *route, struct view key);
/* The slot of a key as clusters have it, however it is routed here. */
uint32_t route_cluster_slot(struct view key);
/* The shard that has a slot, or ROUTE_NONE; of a route by slots. */
uint32_t route_slot_owner(const struct route *route, uint32_t slot);

/* The part of the key that is hashed. */
struct view route_tagged(const struct route *route, struct view key);

/* One line of text for people, without a line end, any odd byte as \xNN:
 * tag="user:1000" hash=2927313545 point=2930509241 shard=0 name=server1
 * The shard is `none` for ROUTE_NONE, and `any` where it is drawn by dice. */
void route_explain(const struct route *route, struct view key, struct buf *out);

/* The first two ranges between which there are keys that belong nowhere, for
 * people: 1-9 of "low" and 20-29 of "high".  False if there are none. */
bool route_gap(const struct route *route, struct buf *out) MUST_CHECK;

#endif
