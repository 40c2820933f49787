/*
 * base/chunk.h - refcounted bytes, the unit in which data travels.
 *
 *      data          fill                cap
 *       |             |                   |
 *       v             v                   v
 *      [ written once | free              ]
 *
 * Bytes below `fill` never change again, so any number of holders may point at
 * them; bytes above belong to whoever appends next.  Several clients' small
 * requests may stand in one chunk, one behind the other.
 *
 * A chunk and its pool belong to one thread; counts are plain.  The pool keeps
 * a bounded number of free chunks of two sizes (CHUNK_KEEP standard ones, and
 * CHUNK_KEEP_LARGE for streams of large values, whose pages would else come
 * and go with each read) and hands the rest back to the allocator at once.
 */
#ifndef BASE_CHUNK_H
#define BASE_CHUNK_H

#include "base/base.h"
#include "base/view.h"

#define CHUNK_SIZE 16384 /* of a standard chunk, head included */
#define CHUNK_KEEP 32    /* free standard chunks a pool keeps */
#define CHUNK_LARGE 131072 /* of a large chunk, head included */
#define CHUNK_KEEP_LARGE 64 /* free large chunks a pool keeps */

struct chunk_pool;

/* Where a chunk goes when nobody holds it any more. */
enum chunk_kind {
    CHUNK_ODD,      /* of its own size: back to the allocator */
    CHUNK_STANDARD, /* of CHUNK_SIZE: kept */
    CHUNK_BIG       /* of CHUNK_LARGE: kept */
};

#define CHUNK_KINDS 3

struct chunk {
    uint32_t refs;
    uint32_t cap;
    uint32_t fill;
    enum chunk_kind kind;
    struct chunk_pool *pool;
    struct chunk *next_free;
    char data[];
};

#define CHUNK_CAP (CHUNK_SIZE - (uint32_t)sizeof(struct chunk))
#define CHUNK_LARGE_CAP (CHUNK_LARGE - (uint32_t)sizeof(struct chunk))

/* Free chunks of one kind. */
struct chunk_shelf {
    struct chunk *first;
    uint32_t count;
    uint32_t least; /* count, at its lowest since the last trim */
};

struct chunk_pool {
    struct chunk_shelf shelves[CHUNK_KINDS];
    struct chunk *input;  /* shared by readers: see chunk_pool_input() */
    struct chunk *output; /* small replies are written here */
    uint64_t live_bytes;  /* of all chunks with a holder, in whole chunks */
};

void chunk_pool_init(struct chunk_pool *pool);
/* Every chunk must have been given back. */
void chunk_pool_fini(struct chunk_pool *pool);
/* Free what was kept but not needed since this was last called: now and then,
 * so that a burst leaves nothing and steady work keeps its memory. */
void chunk_pool_trim(struct chunk_pool *pool);

/* A standard chunk, one ref. */
struct chunk *chunk_new(struct chunk_pool *pool) MUST_CHECK;
/* One of at least `cap` bytes, one ref; standard when that is enough, large when
 * most of that is needed.  The size is bounded by the caller's setting and must
 * stay below 4 GiB. */
struct chunk *chunk_new_sized(struct chunk_pool *pool, size_t cap) MUST_CHECK;
/* The same, exactly `cap` bytes: for small things kept for long. */
struct chunk *chunk_new_exact(struct chunk_pool *pool, size_t cap) MUST_CHECK;

static inline struct chunk *
chunk_ref(struct chunk *chunk)
{
    chunk->refs++;
    return chunk;
}

void chunk_free(struct chunk *chunk);

/* Drop a ref and clear the caller's pointer; NULL is allowed. */
static inline void
chunk_unref(struct chunk **chunkp)
{
    struct chunk *chunk = *chunkp;

    *chunkp = NULL;
    if (chunk != NULL && --chunk->refs == 0)
        chunk_free(chunk);
}

static inline uint32_t
chunk_room(const struct chunk *chunk)
{
    return chunk->cap - chunk->fill;
}

/* What holding on to this chunk costs the process. */
static inline size_t
chunk_cost(const struct chunk *chunk)
{
    return sizeof(*chunk) + chunk->cap;
}

/*
 * The chunk that readers of this pool share, with at least `room` bytes free
 * behind fill; borrowed, so ref it to keep it.  The reader advances fill.
 */
struct chunk *chunk_pool_input(struct chunk_pool *pool, uint32_t room);

/* At the end of a turn: let go of an output chunk that was made for one large
 * piece. */
void chunk_pool_settle(struct chunk_pool *pool);

/*
 * Room for `len` bytes behind fill in the pool's output chunk, or in a chunk of
 * their own when they are many.  Borrowed; the caller writes and advances fill.
 */
struct chunk *chunk_pool_reserve(struct chunk_pool *pool, size_t len);

/*
 * Copy bytes into the pool's output chunk, or into a chunk of their own when
 * they are many.  Returns the chunk, borrowed, and sets *off.
 */
struct chunk *chunk_pool_write(struct chunk_pool *pool, const void *data,
                               size_t len, uint32_t *off);

#endif
