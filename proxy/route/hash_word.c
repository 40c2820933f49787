/*
 * route/hash_word.c - hashes that take several bytes at a time.
 *
 * Words are read as little-endian numbers, as twemproxy does on the machines
 * it runs on.
 */
#include "route/hash.h"

#include <xxhash.h>

static inline uint32_t
load_le16(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8;
}

static inline uint32_t
rotate(uint32_t x, unsigned bits)
{
    return x << bits | x >> (32 - bits);
}

/* The last one to three bytes of a SuperFastHash. */
static uint32_t
hsieh_tail(uint32_t hash, const uint8_t *bytes, size_t len, bool unsigned_chars)
{
    if (len == 3) {
        /* The one place where the function reads through plain char. */
        uint32_t last = unsigned_chars ? (uint32_t)bytes[2]
                                       : (uint32_t)(int32_t)(int8_t)bytes[2];
        hash += load_le16(bytes);
        hash ^= hash << 16;
        hash ^= last << 18;
        return hash + (hash >> 11);
    }
    if (len == 2) {
        hash += load_le16(bytes);
        hash ^= hash << 11;
        return hash + (hash >> 17);
    }
    if (len == 1) {
        hash += bytes[0];
        hash ^= hash << 10;
        return hash + (hash >> 1);
    }
    return hash;
}

/* Starts at 0, where the original starts at the length. */
uint32_t
hash_hsieh(struct view key, bool unsigned_chars)
{
    const uint8_t *bytes = (const uint8_t *)key.data;
    size_t left = key.len;
    uint32_t hash = 0;

    for (; left >= 4; left -= 4, bytes += 4) {
        hash += load_le16(bytes);
        hash = (hash << 16) ^ (load_le16(bytes + 2) << 11) ^ hash;
        hash += hash >> 11;
    }
    hash = hsieh_tail(hash, bytes, left, unsigned_chars);

    hash ^= hash << 3;
    hash += hash >> 5;
    hash ^= hash << 4;
    hash += hash >> 17;
    hash ^= hash << 25;
    hash += hash >> 6;
    return hash;
}

/* MurmurHash2; the seed depends on the length. */
uint32_t
hash_murmur(struct view key, bool unsigned_chars UNUSED)
{
    const uint32_t m = 0x5bd1e995;
    const uint8_t *bytes = (const uint8_t *)key.data;
    size_t left = key.len;
    uint32_t hash = (0xdeadbeef * (uint32_t)left) ^ (uint32_t)left;

    for (; left >= 4; left -= 4, bytes += 4) {
        uint32_t word = load_le32(bytes) * m;
        hash = (hash * m) ^ ((word ^ word >> 24) * m);
    }
    if (left > 0) {
        for (size_t i = 0; i < left; i++)
            hash ^= (uint32_t)bytes[i] << (8 * i);
        hash *= m;
    }

    hash ^= hash >> 13;
    hash *= m;
    hash ^= hash >> 15;
    return hash;
}

static inline uint32_t
murmur3_scramble(uint32_t word)
{
    return rotate(word * 0xcc9e2d51, 15) * 0x1b873593;
}

uint32_t
hash_murmur3(struct view key, bool unsigned_chars UNUSED)
{
    const uint8_t *bytes = (const uint8_t *)key.data;
    size_t left = key.len;
    uint32_t hash = 0, tail = 0;

    for (; left >= 4; left -= 4, bytes += 4) {
        hash ^= murmur3_scramble(load_le32(bytes));
        hash = rotate(hash, 13) * 5 + 0xe6546b64;
    }
    for (size_t i = 0; i < left; i++)
        tail |= (uint32_t)bytes[i] << (8 * i);
    hash ^= murmur3_scramble(tail);

    hash ^= (uint32_t)key.len;
    hash ^= hash >> 16;
    hash *= 0x85ebca6b;
    hash ^= hash >> 13;
    hash *= 0xc2b2ae35;
    hash ^= hash >> 16;
    return hash;
}

struct jenkins {
    uint32_t a, b, c;
};

static inline void
jenkins_add(struct jenkins *j, const uint8_t *bytes)
{
    j->a += load_le32(bytes);
    j->b += load_le32(bytes + 4);
    j->c += load_le32(bytes + 8);
}

static inline void
jenkins_mix(struct jenkins *j)
{
    uint32_t a = j->a, b = j->b, c = j->c;

    a -= c, a ^= rotate(c, 4), c += b;
    b -= a, b ^= rotate(a, 6), a += c;
    c -= b, c ^= rotate(b, 8), b += a;
    a -= c, a ^= rotate(c, 16), c += b;
    b -= a, b ^= rotate(a, 19), a += c;
    c -= b, c ^= rotate(b, 4), b += a;
    *j = (struct jenkins){a, b, c};
}

static inline uint32_t
jenkins_final(const struct jenkins *j)
{
    uint32_t a = j->a, b = j->b, c = j->c;

    c ^= b, c -= rotate(b, 14);
    a ^= c, a -= rotate(c, 11);
    b ^= a, b -= rotate(a, 25);
    c ^= b, c -= rotate(b, 16);
    a ^= c, a -= rotate(c, 4);
    b ^= a, b -= rotate(a, 14);
    c ^= b, c -= rotate(b, 24);
    return c;
}

/* lookup3's hashlittle() with the initial value 13. */
uint32_t
hash_jenkins(struct view key, bool unsigned_chars UNUSED)
{
    const uint8_t *bytes = (const uint8_t *)key.data;
    size_t left = key.len;
    uint32_t start = 0xdeadbeef + (uint32_t)left + 13;
    struct jenkins j = {start, start, start};
    uint8_t last[12] = {0};

    for (; left > 12; left -= 12, bytes += 12) {
        jenkins_add(&j, bytes);
        jenkins_mix(&j);
    }
    /* One to twelve bytes are left; missing ones count as zero. */
    memcpy(last, bytes, left);
    jenkins_add(&j, last);
    return jenkins_final(&j);
}

uint32_t
hash_xxh3(struct view key, bool unsigned_chars UNUSED)
{
    return (uint32_t)XXH3_64bits(key.data, key.len);
}
