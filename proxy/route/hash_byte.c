/*
 * route/hash_byte.c - hashes that take one byte at a time: FNV and Jenkins's
 * one-at-a-time, as twemproxy has them.
 *
 * All of them widen a byte as the machine widens a `char`; the widening is a
 * mask over the signed value, so that one loop serves both kinds of machine.
 */
#include "route/hash.h"

#define FNV_32_OFFSET 2166136261u
#define FNV_32_PRIME 16777619u

/*
 * The lower halves of the 64-bit constants.  Only the lower half of the hash
 * is ever given out, and no bit of it depends on the upper half, so 32 bits
 * are enough for either 64-bit function.
 */
#define FNV_64_OFFSET ((uint32_t)0xcbf29ce484222325u)
#define FNV_64_PRIME ((uint32_t)0x100000001b3u)

static inline uint32_t
char_mask(bool unsigned_chars)
{
    return unsigned_chars ? 0xff : UINT32_MAX;
}

static inline uint32_t
widen(char c, uint32_t mask)
{
    return (uint32_t)(int32_t)(int8_t)c & mask;
}

static inline uint32_t
fnv1(struct view key, uint32_t hash, uint32_t prime, bool unsigned_chars)
{
    uint32_t mask = char_mask(unsigned_chars);

    for (size_t i = 0; i < key.len; i++)
        hash = (hash * prime) ^ widen(key.data[i], mask);
    return hash;
}

static inline uint32_t
fnv1a(struct view key, uint32_t hash, uint32_t prime, bool unsigned_chars)
{
    uint32_t mask = char_mask(unsigned_chars);
    const char *at = key.data, *end = key.data + key.len;

    /* Four at a time: this one is the default, and hashes every key. */
    for (; end - at >= 4; at += 4) {
        hash = (hash ^ widen(at[0], mask)) * prime;
        hash = (hash ^ widen(at[1], mask)) * prime;
        hash = (hash ^ widen(at[2], mask)) * prime;
        hash = (hash ^ widen(at[3], mask)) * prime;
    }
    for (; at < end; at++)
        hash = (hash ^ widen(*at, mask)) * prime;
    return hash;
}

uint32_t
hash_fnv1_64(struct view key, bool unsigned_chars)
{
    return fnv1(key, FNV_64_OFFSET, FNV_64_PRIME, unsigned_chars);
}

uint32_t
hash_fnv1a_64(struct view key, bool unsigned_chars)
{
    return fnv1a(key, FNV_64_OFFSET, FNV_64_PRIME, unsigned_chars);
}

uint32_t
hash_fnv1_32(struct view key, bool unsigned_chars)
{
    return fnv1(key, FNV_32_OFFSET, FNV_32_PRIME, unsigned_chars);
}

uint32_t
hash_fnv1a_32(struct view key, bool unsigned_chars)
{
    return fnv1a(key, FNV_32_OFFSET, FNV_32_PRIME, unsigned_chars);
}

uint32_t
hash_one_at_a_time(struct view key, bool unsigned_chars)
{
    uint32_t mask = char_mask(unsigned_chars);
    uint32_t hash = 0;

    for (size_t i = 0; i < key.len; i++) {
        hash += widen(key.data[i], mask);
        hash += hash << 10;
        hash ^= hash >> 6;
    }
    hash += hash << 3;
    hash ^= hash >> 11;
    hash += hash << 15;
    return hash;
}
