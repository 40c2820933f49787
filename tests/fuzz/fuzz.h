/*
 * tests/fuzz/fuzz.h - what fuzz targets share.
 *
 * A target asserts properties; it never only waits for a crash.  Bytes given
 * to the code under test stand in blocks of exactly their size, so that the
 * address sanitizer sees the first byte read too far.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include "base/mem.h"
#include "base/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The size of the next piece, 1 to `most` and no more than `left`, from a seed
 * in the input. */
static inline size_t
fuzz_piece(uint32_t *seed, size_t most, size_t left)
{
    *seed = *seed * 1664525u + 1013904223u;
    size_t piece = 1 + (*seed >> 16) % most;
    return MIN(piece, left);
}

/* A copy in a block of its own; mem_free() it. */
static inline char *
fuzz_copy(struct view bytes)
{
    char *copy = mem_alloc(bytes.len);

    if (bytes.len > 0)
        memcpy(copy, bytes.data, bytes.len);
    return copy;
}

/* Take a byte of choices from the front of the input; 0 when there is none. */
static inline uint8_t
fuzz_choice(struct view *input)
{
    if (input->len == 0)
        return 0;
    input->len--;
    return (uint8_t)*input->data++;
}

#endif
