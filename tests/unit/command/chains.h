/*
 * chains.h - replies in chains, cut in many ways, for the tests of this room.
 */
#ifndef TESTS_COMMAND_CHAINS_H
#define TESTS_COMMAND_CHAINS_H

#include "request.h"

#include "base/chain.h"

static struct chunk_pool pool;

/* Bytes in a chunk of their own; in a chain no two of them join. */
static inline void
push_apart(struct chain *chain, const char *data, size_t len)
{
    if (len == 0)
        return;
    struct chunk *chunk = chunk_new_exact(&pool, len);
    memcpy(chunk->data, data, len);
    chunk->fill = (uint32_t)len;
    chain_push(chain, chunk, 0, (uint32_t)len);
    chunk_unref(&chunk);
}

/* A chain of pieces of `step` bytes, the first one of `cut`. */
static inline void
push_pieces(struct chain *chain, struct view bytes, size_t cut, size_t step)
{
    size_t first = MIN(cut, bytes.len);

    push_apart(chain, bytes.data, first);
    for (size_t at = first; at < bytes.len; at += step)
        push_apart(chain, bytes.data + at, MIN(step, bytes.len - at));
}

static inline void
expect_chain(const struct chain *chain, const char *text)
{
    char *bytes = mem_zalloc(chain->bytes + 1);

    chain_peek(chain, bytes, chain->bytes);
    expect_bytes(view_of(bytes, chain->bytes), text);
    mem_free(bytes);
}

#endif
