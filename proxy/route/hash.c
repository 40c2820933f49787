/*
 * route/hash.c - from the name of a hash to its value.
 */
#include "route/hash.h"

#include "route/route_priv.h"

static const struct {
    const char *name;
    hash_fn fn;
} hashes[HASH_COUNT] = {
#define DISTRIBUTION(name, NAME, help)
#define HASH(name, NAME, fn, help) {#name, fn},
#include "route/algorithms.def"
#undef DISTRIBUTION
#undef HASH
};

int
hash_parse(struct view name)
{
    for (int i = 0; i < HASH_COUNT; i++) {
        if (view_equal(name, view_str(hashes[i].name)))
            return i;
    }
    return -1;
}

const char *
hash_name(enum hash_kind hash)
{
    ASSERT(hash < HASH_COUNT);
    return hashes[hash].name;
}

hash_fn
hash_function(enum hash_kind hash)
{
    ASSERT(hash < HASH_COUNT);
    return hashes[hash].fn;
}

uint32_t
hash_bytes(enum hash_kind hash, bool unsigned_chars, struct view key)
{
    if (key.len == 0)
        return 0;
    return hash_function(hash)(key, unsigned_chars);
}
