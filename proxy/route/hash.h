/*
 * route/hash.h - the hash functions, one prototype a row.
 *
 * Each is called with at least one byte (hash_bytes() answers 0 for none) and
 * never reads beyond the last.  Any thread.
 */
#ifndef ROUTE_HASH_H
#define ROUTE_HASH_H

#include "base/view.h"

/*
 * twemproxy reads keys through plain `char`, so that some of its functions
 * give other values for bytes from 0x80 up where char is unsigned (AArch64).
 * `unsigned_chars` chooses; functions that do not care ignore it.
 */
typedef uint32_t (*hash_fn)(struct view key, bool unsigned_chars);

#define DISTRIBUTION(name, NAME, help)
#define HASH(name, NAME, fn, help) uint32_t fn(struct view, bool);
#include "route/algorithms.def"
#undef DISTRIBUTION
#undef HASH

#define MD5_SIZE 16

/* False where the system's OpenSSL has no MD5; then nothing below works. */
bool md5_is_available(void) MUST_CHECK;
void md5_digest(struct view text, uint8_t digest[MD5_SIZE]);

/* Four bytes as a little-endian number: one load where the machine is one. */
static inline uint32_t
load_le32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
        (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

#endif
