/*
 * base/chunk.c - chunks and the pool they come from.
 */
#include "base/chunk.h"

#include "base/mem.h"

void
chunk_pool_init(struct chunk_pool *pool)
{
    *pool = (struct chunk_pool){0};
}

static const uint32_t shelf_max[CHUNK_KINDS] = {
    [CHUNK_STANDARD] = CHUNK_KEEP,
    [CHUNK_BIG] = CHUNK_KEEP_LARGE,
};

static void
shelf_drop(struct chunk_shelf *shelf, uint32_t count)
{
    while (count-- > 0) {
        struct chunk *chunk = shelf->first;
        shelf->first = chunk->next_free;
        shelf->count--;
        mem_free(chunk);
    }
    shelf->least = shelf->count;
}

void
chunk_pool_trim(struct chunk_pool *pool)
{
    if (pool->input != NULL && pool->input->refs == 1)
        chunk_unref(&pool->input);
    if (pool->output != NULL && pool->output->refs == 1)
        chunk_unref(&pool->output);
    for (size_t kind = 0; kind < CHUNK_KINDS; kind++)
        shelf_drop(&pool->shelves[kind], pool->shelves[kind].least);
}

void
chunk_pool_fini(struct chunk_pool *pool)
{
    chunk_unref(&pool->input);
    chunk_unref(&pool->output);
    for (size_t kind = 0; kind < CHUNK_KINDS; kind++)
        shelf_drop(&pool->shelves[kind], pool->shelves[kind].count);
    ASSERT(pool->live_bytes == 0);
}

static struct chunk *
chunk_make(struct chunk_pool *pool, size_t cap, enum chunk_kind kind)
{
    ASSERT(cap < UINT32_MAX - sizeof(struct chunk));
    struct chunk *chunk = mem_alloc(sizeof(*chunk) + cap);

    chunk->cap = (uint32_t)cap;
    chunk->kind = kind;
    chunk->pool = pool;
    return chunk;
}

static struct chunk *
chunk_start(struct chunk *chunk)
{
    chunk->refs = 1;
    chunk->fill = 0;
    chunk->next_free = NULL;
    chunk->pool->live_bytes += chunk_cost(chunk);
    return chunk;
}

/* From the shelf, or new. */
static struct chunk *
chunk_get(struct chunk_pool *pool, size_t cap, enum chunk_kind kind)
{
    struct chunk_shelf *shelf = &pool->shelves[kind];
    struct chunk *chunk = shelf->first;

    if (chunk == NULL)
        return chunk_start(chunk_make(pool, cap, kind));
    shelf->first = chunk->next_free;
    shelf->count--;
    shelf->least = MIN(shelf->least, shelf->count);
    return chunk_start(chunk);
}

struct chunk *
chunk_new(struct chunk_pool *pool)
{
    return chunk_get(pool, CHUNK_CAP, CHUNK_STANDARD);
}

struct chunk *
chunk_new_sized(struct chunk_pool *pool, size_t cap)
{
    if (cap <= CHUNK_CAP)
        return chunk_new(pool);
    if (cap > CHUNK_LARGE_CAP / 4 * 3 && cap <= CHUNK_LARGE_CAP)
        return chunk_get(pool, CHUNK_LARGE_CAP, CHUNK_BIG);
    return chunk_start(chunk_make(pool, cap, CHUNK_ODD));
}

struct chunk *
chunk_new_exact(struct chunk_pool *pool, size_t cap)
{
    return chunk_start(chunk_make(pool, cap, CHUNK_ODD));
}

void
chunk_free(struct chunk *chunk)
{
    struct chunk_pool *pool = chunk->pool;
    struct chunk_shelf *shelf = &pool->shelves[chunk->kind];

    ASSERT(chunk->refs == 0);
    pool->live_bytes -= chunk_cost(chunk);
    if (shelf->count >= shelf_max[chunk->kind]) {
        mem_free(chunk);
        return;
    }
    chunk->next_free = shelf->first;
    shelf->first = chunk;
    shelf->count++;
}

/*
 * Let go of a shared chunk that is too full, or rewind it if nobody holds it.
 * A large one is never rewound: a small reply would pin all of it.
 */
static struct chunk *
shared_chunk(struct chunk_pool *pool, struct chunk **shared, uint32_t room)
{
    if (*shared != NULL) {
        if ((*shared)->refs == 1 &&
            (*shared)->kind == CHUNK_STANDARD)
            (*shared)->fill = 0;
        if (chunk_room(*shared) >= room)
            return *shared;
        chunk_unref(shared);
    }
    *shared = chunk_new(pool);
    return *shared;
}

struct chunk *
chunk_pool_input(struct chunk_pool *pool, uint32_t room)
{
    ASSERT(room <= CHUNK_CAP);
    return shared_chunk(pool, &pool->input, room);
}

void
chunk_pool_settle(struct chunk_pool *pool)
{
    if (pool->output != NULL && pool->output->kind != CHUNK_STANDARD)
        chunk_unref(&pool->output);
}

struct chunk *
chunk_pool_reserve(struct chunk_pool *pool, size_t len)
{
    if (len <= CHUNK_CAP / 2)
        return shared_chunk(pool, &pool->output, (uint32_t)len);
    /* Its one ref is handed to the output slot, so that it is borrowed in the
     * same way; it will be full and is replaced by the next. */
    chunk_unref(&pool->output);
    return pool->output = chunk_new_exact(pool, len);
}

struct chunk *
chunk_pool_write(struct chunk_pool *pool, const void *data, size_t len,
                 uint32_t *off)
{
    struct chunk *chunk = chunk_pool_reserve(pool, len);

    *off = chunk->fill;
    memcpy(chunk->data + chunk->fill, data, len);
    chunk->fill += (uint32_t)len;
    return chunk;
}
