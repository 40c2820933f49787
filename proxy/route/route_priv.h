/*
 * route/route_priv.h - what the files of this room share.
 *
 *   route_find()
 *     tag_part()              which bytes of the key count      tag.c
 *     placement->find()       ketama.c modula.c modulo.c random.c range.c
 *       route_hash()          hash*.c                           slots.c
 *
 * A placement is one distribution: it makes a table of its own from the spec
 * and answers from it.  Which of them obey `live`: ketama, modula and random,
 * where any server may take any key.  In the others a server owns its keys,
 * living or not, and is answered with.
 */
#ifndef ROUTE_ROUTE_PRIV_H
#define ROUTE_ROUTE_PRIV_H

#include "route/hash.h"
#include "route/route.h"

struct placement {
    /* NULL and a sentence when the spec makes no sense. */
    void *(*build)(const struct route_spec *spec, struct error *error);
    void (*free)(void *table);
    /* `part` is the part of the key that counts. */
    uint32_t (*find)(const struct route *route, struct view part,
                     uint64_t *dice);
    /* Append " field=value" for each step between `part` and the shard. */
    void (*explain)(const struct route *route, struct view part,
                    struct buf *out);
    /* As route_gap(); NULL where there is none. */
    bool (*gap)(const struct route *route, struct buf *out);
    bool uses_hash;
    bool is_drawn; /* by dice: the key does not tell the shard */
};

struct route {
    const struct placement *placement;
    void *table; /* the placement's own */
    hash_fn hash;
    bool unsigned_chars;
    bool has_tag;
    char tag[2];
    uint32_t shard_count;
    char **names; /* for people */
};

#define DISTRIBUTION(name, NAME, help) \
    extern const struct placement name##_placement;
#define HASH(name, NAME, fn, help)
#include "route/algorithms.def"
#undef DISTRIBUTION
#undef HASH

hash_fn hash_function(enum hash_kind hash);

/* A single shard has every key, and twemproxy does not hash for it. */
static inline uint32_t
route_hash(const struct route *route, struct view part)
{
    if (route->shard_count == 1 || part.len == 0)
        return 0;
    return route->hash(part, route->unsigned_chars);
}

/* For placements with nothing to add but the hash. */
void explain_hash(const struct route *route, struct view part, struct buf *out);

/* The bytes between the first tag[0] and the first tag[1] behind it, if there
 * are any; else the whole key. */
struct view tag_part(const char tag[2], struct view key);

/*
 * The positions of the live shards in twemproxy's order of servers: by name,
 * the shorter first.  mem_free() the array.  NULL and a sentence when two
 * shards have one name.
 */
uint32_t *live_by_name(const struct route_spec *spec, uint32_t *count,
                       struct error *error) MUST_CHECK;

/* The one shard marked as the default, or ROUTE_NONE; -1 when two are. */
int find_default(const struct route_spec *spec, uint32_t *shard,
                 struct error *error) MUST_CHECK;

/* 0 to ROUTE_SLOTS - 1. */
uint32_t slot_of(struct view part);

/* Append bytes in quotes, those that are no plain text as \xNN. */
void append_quoted(struct buf *out, struct view bytes);

/* For messages: "%.*s" takes an int; a long name is cut. */
#define NAME_FMT "\"%.*s\""
#define NAME_ARG(name) (int)MIN((name).len, (size_t)64), (name).data

#endif
