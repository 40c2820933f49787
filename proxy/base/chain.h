/*
 * base/chain.h - a queue of byte ranges that stand in chunks.
 *
 *   push -->  [extent][extent][extent] --> drop
 *
 * What waits to be written to a socket, or an answer that waits for its turn.
 * Each extent holds a ref on its chunk.  Pushing a range that begins where the
 * last one ends makes that one longer, so a run of pipelined requests or
 * replies costs one extent.  Two extents fit inside the struct; more live in
 * a ring on the heap that is freed when the chain runs empty.  The owner bounds
 * a chain by chain->bytes.  A zeroed struct is an empty chain.
 */
#ifndef BASE_CHAIN_H
#define BASE_CHAIN_H

#include "base/chunk.h"

struct iovec;

#define CHAIN_INLINE 2
#define CHAIN_COPIED 512 /* longer ranges are never copied */

struct extent {
    struct chunk *chunk;
    uint32_t off;
    uint32_t len;
};

/* A copy of bytes, made in the pool's output chunk; the ref is the caller's. */
static inline struct extent
extent_copy(struct chunk_pool *pool, struct view bytes)
{
    struct extent extent = {.len = (uint32_t)bytes.len};

    extent.chunk = chunk_ref(
        chunk_pool_write(pool, bytes.data, bytes.len, &extent.off));
    return extent;
}

/* The same in a chunk of its own: for what may be kept for long, or is large. */
struct extent extent_copy_alone(struct chunk_pool *pool, struct view bytes);

/* The bytes of it. */
static inline struct view
extent_view(const struct extent *extent)
{
    return view_of(extent->chunk->data + extent->off, extent->len);
}

struct chain {
    struct extent *ring; /* NULL: the extents are in `few` */
    uint32_t head;
    uint32_t count;
    uint32_t cap; /* of ring, a power of two */
    size_t bytes;
    struct extent few[CHAIN_INLINE];
};

static inline bool
chain_is_empty(const struct chain *chain)
{
    return chain->count == 0;
}

static inline struct extent *
chain_at(const struct chain *chain, uint32_t i)
{
    /* The cast through a number: as with strchr(), const is the caller's. */
    if (chain->ring == NULL)
        return (struct extent *)(uintptr_t)&chain
            ->few[(chain->head + i) % CHAIN_INLINE];
    return &chain->ring[(chain->head + i) & (chain->cap - 1)];
}

/* Make the last extent longer, if the range begins where that ends. */
static inline bool
chain_extend(struct chain *chain, const struct chunk *chunk, uint32_t off,
             uint32_t len)
{
    struct extent *last = chain_at(chain, chain->count - 1);

    if (last->chunk != chunk || last->off + last->len != off ||
        len > UINT32_MAX - last->len)
        return false;
    last->len += len;
    chain->bytes += len;
    return true;
}

/* The general case of chain_push(). */
void chain_push_new(struct chain *chain, struct chunk *chunk, uint32_t off,
                    uint32_t len);

/* Append a range; takes a ref of its own.  len may be 0. */
static inline void
chain_push(struct chain *chain, struct chunk *chunk, uint32_t off, uint32_t len)
{
    if (len == 0 ||
        (chain->count > 0 && chain_extend(chain, chunk, off, len)))
        return;
    if (likely(chain->count == 0 && chain->ring == NULL)) {
        chain->few[chain->head % CHAIN_INLINE] =
            (struct extent){chunk_ref(chunk), off, len};
        chain->count = 1;
        chain->bytes = len;
    } else {
        chain_push_new(chain, chunk, off, len);
    }
}

/* The case of chain_push_dense() in which bytes may be copied. */
void chain_push_behind(struct chain *chain, struct chunk *chunk, uint32_t off,
                       uint32_t len);

/* The same for a chain that is about to be written: of many small ranges from
 * all over the place a copy is made, in a chunk that only this chain holds, so
 * that they cost neither an extent nor a ref each. */
static inline void
chain_push_dense(struct chain *chain, struct chunk *chunk, uint32_t off,
                 uint32_t len)
{
    if (chain->count == 0 || len > CHAIN_COPIED)
        chain_push(chain, chunk, off, len);
    else
        chain_push_behind(chain, chunk, off, len);
}

/* Append a copy of bytes, made in the pool's output chunk. */
void chain_copy(struct chain *chain, struct chunk_pool *pool, const void *data,
                size_t len);

/* The general case of chain_take(). */
void chain_take_all(struct chain *chain, struct chain *from);

/* Move everything from `from` to the end of `chain`, small ranges as with
 * chain_push_dense(); `from` is empty then. */
static inline void
chain_take(struct chain *chain, struct chain *from)
{
    struct extent *only = &from->few[from->head % CHAIN_INLINE];

    if (unlikely(from->count != 1 || from->ring != NULL ||
                 chain->count == 0)) {
        chain_take_all(chain, from);
        return;
    }
    chain_push_dense(chain, only->chunk, only->off, only->len);
    chunk_unref(&only->chunk);
    from->count = 0;
    from->bytes = 0;
}

/* Forget the first `len` bytes. */
void chain_drop(struct chain *chain, size_t len);
void chain_clear(struct chain *chain);

/* Copy small extents together so that a chain that stays pins few chunks;
 * returns the cost of the chunks that it still holds. */
size_t chain_compact(struct chain *chain, struct chunk_pool *pool);

/* Copy the first `len` bytes out; the chain must have them. */
void chain_peek(const struct chain *chain, void *out, size_t len);

#endif
