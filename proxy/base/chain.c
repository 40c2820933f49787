/*
 * base/chain.c - queues of extents.
 */
#include "base/chain.h"

#include <string.h>

#include "base/mem.h"

#define CHAIN_RING_FIRST 16
#define TAIL_FIRST 512   /* bytes of the first chunk for copies ... */
#define TAIL_GROWTH 4    /* ... and how often what is here, of the next */
#define COPIED_AT_ONCE 64 /* bytes; most requests and replies have fewer */
#define CHAIN_SMALL 1024 /* extents below this are copied by compaction ... */
#define CHAIN_SHARE 4    /* ... or below this share of their chunk */

struct extent
extent_copy_alone(struct chunk_pool *pool, struct view bytes)
{
    struct chunk *chunk = chunk_new_exact(pool, bytes.len);

    memcpy(chunk->data, bytes.data, bytes.len);
    chunk->fill = (uint32_t)bytes.len;
    return (struct extent){chunk, 0, chunk->fill};
}

static void
chain_grow(struct chain *chain)
{
    uint32_t cap = chain->ring == NULL ? CHAIN_RING_FIRST : chain->cap * 2;
    struct extent *ring = mem_alloc(cap * sizeof(*ring));

    for (uint32_t i = 0; i < chain->count; i++)
        ring[i] = *chain_at(chain, i);
    mem_free(chain->ring);
    chain->ring = ring;
    chain->cap = cap;
    chain->head = 0;
}

void
chain_push_new(struct chain *chain, struct chunk *chunk, uint32_t off,
               uint32_t len)
{
    uint32_t cap = chain->ring == NULL ? CHAIN_INLINE : chain->cap;

    if (chain->count == cap)
        chain_grow(chain);
    *chain_at(chain, chain->count++) =
        (struct extent){chunk_ref(chunk), off, len};
    chain->bytes += len;
}

/* A chunk for what comes behind what is here: small at first, since each of ten
 * thousand clients may have one. */
static struct chunk *
new_tail(const struct chain *chain, struct chunk_pool *pool)
{
    size_t size = MAX(chain->bytes * TAIL_GROWTH, (size_t)TAIL_FIRST);

    return size < CHUNK_CAP / 2 ? chunk_new_exact(pool, size)
                                : chunk_new(pool);
}

static void
append(struct chunk *to, const struct chunk *from, uint32_t off, uint32_t len)
{
    memcpy(to->data + to->fill, from->data + off, len);
    to->fill += len;
}

/* All but what nearly all are. */
static NEVER_INLINE void
push_behind(struct chain *chain, struct chunk *chunk, uint32_t off,
            uint32_t len)
{
    struct extent *last = chain_at(chain, chain->count - 1);
    struct chunk *tail = last->chunk;

    if (chain_extend(chain, chunk, off, len))
        return;
    if (tail->refs == 1 && tail->fill == last->off + last->len &&
        chunk_room(tail) >= len) {
        append(tail, chunk, off, len);
        last->len += len;
        chain->bytes += len;
        return;
    }
    tail = new_tail(chain, chunk->pool);
    append(tail, chunk, off, len);
    chain_push_new(chain, tail, 0, len);
    chunk_unref(&tail);
}

/* Small ones are copied by a copy of fixed size, where both sides have room for
 * that: what is written too much is free.  (Who gives us a chunk has a ref on it,
 * so with one ref the tail is another.) */
void
chain_push_behind(struct chain *chain, struct chunk *chunk, uint32_t off,
                  uint32_t len)
{
    struct extent *last = chain_at(chain, chain->count - 1);
    struct chunk *tail = last->chunk;

    if (unlikely(tail->refs != 1 || len > COPIED_AT_ONCE ||
                 tail->fill != last->off + last->len ||
                 chunk_room(tail) < COPIED_AT_ONCE ||
                 chunk->cap - off < COPIED_AT_ONCE)) {
        push_behind(chain, chunk, off, len);
        return;
    }
    memcpy(tail->data + tail->fill, chunk->data + off, COPIED_AT_ONCE);
    tail->fill += len;
    last->len += len;
    chain->bytes += len;
}

void
chain_copy(struct chain *chain, struct chunk_pool *pool, const void *data,
           size_t len)
{
    uint32_t off;

    if (len == 0)
        return;
    struct chunk *chunk = chunk_pool_write(pool, data, len, &off);
    chain_push(chain, chunk, off, (uint32_t)len);
}

static void
chain_reset_if_empty(struct chain *chain)
{
    if (chain->count > 0)
        return;
    ASSERT(chain->bytes == 0);
    if (unlikely(chain->ring != NULL))
        mem_free(chain->ring);
    chain->ring = NULL;
    chain->head = 0;
    chain->cap = 0;
}

void
chain_take_all(struct chain *chain, struct chain *from)
{
    if (chain->count == 0 && chain->ring == NULL) {
        *chain = *from;
        *from = (struct chain){0};
        return;
    }
    for (uint32_t i = 0; i < from->count; i++) {
        struct extent *extent = chain_at(from, i);
        chain_push_dense(chain, extent->chunk, extent->off, extent->len);
    }
    chain_clear(from);
}

static void
chain_pop(struct chain *chain)
{
    struct extent *first = chain_at(chain, 0);

    chain->bytes -= first->len;
    chunk_unref(&first->chunk);
    chain->head++;
    if (chain->ring != NULL)
        chain->head &= chain->cap - 1;
    else
        chain->head %= CHAIN_INLINE;
    chain->count--;
}

void
chain_drop(struct chain *chain, size_t len)
{
    ASSERT(len <= chain->bytes);
    while (len > 0) {
        struct extent *first = chain_at(chain, 0);
        if (len < first->len) {
            first->off += (uint32_t)len;
            first->len -= (uint32_t)len;
            chain->bytes -= len;
            return;
        }
        len -= first->len;
        chain_pop(chain);
    }
    chain_reset_if_empty(chain);
}

void
chain_clear(struct chain *chain)
{
    while (chain->count > 0)
        chain_pop(chain);
    chain_reset_if_empty(chain);
}

/* Does it hold on to far more than its bytes? */
static bool
is_small(const struct extent *extent)
{
    return extent->len < CHAIN_SMALL ||
        extent->len < extent->chunk->cap / CHAIN_SHARE;
}

/* Bytes of the run of small extents that begins at i. */
static size_t
small_run(const struct chain *chain, uint32_t i, size_t most)
{
    size_t run = 0;

    for (; i < chain->count; i++) {
        const struct extent *extent = chain_at(chain, i);
        if (!is_small(extent) || run + extent->len > most)
            break;
        run += extent->len;
    }
    return run;
}

size_t
chain_compact(struct chain *chain, struct chunk_pool *pool)
{
    struct chain dense = {0};
    size_t cost = 0;

    for (uint32_t i = 0; i < chain->count;) {
        size_t run = small_run(chain, i, CHUNK_CAP);
        if (run == 0) {
            struct extent *large = chain_at(chain, i++);
            chain_push(&dense, large->chunk, large->off, large->len);
            cost += chunk_cost(large->chunk);
            continue;
        }
        struct chunk *chunk = chunk_new_exact(pool, run);
        while (chunk->fill < run) {
            struct extent *small = chain_at(chain, i++);
            memcpy(chunk->data + chunk->fill, small->chunk->data + small->off,
                   small->len);
            chunk->fill += small->len;
        }
        chain_push(&dense, chunk, 0, chunk->fill);
        cost += chunk_cost(chunk);
        chunk_unref(&chunk);
    }
    chain_clear(chain);
    *chain = dense;
    return cost;
}

void
chain_peek(const struct chain *chain, void *out, size_t len)
{
    char *to = out;

    ASSERT(len <= chain->bytes);
    for (uint32_t i = 0; len > 0; i++) {
        const struct extent *extent = chain_at(chain, i);
        size_t part = MIN(len, (size_t)extent->len);
        memcpy(to, extent->chunk->data + extent->off, part);
        to += part;
        len -= part;
    }
}
