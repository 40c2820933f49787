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

void
chunk_pool_trim(struct chunk_pool *pool)
{
    if (pool->input != NULL && pool->input->refs == 1)
        chunk_unref(&pool->input);
    if (pool->output != NULL && pool->output->refs == 1)
        chunk_unref(&pool->output);
    while (pool->free_list != NULL) {
        struct chunk *chunk = pool->free_list;
        pool->free_list = chunk->next_free;
        mem_free(chunk);
    }
    pool->free_count = 0;
}

void
chunk_pool_fini(struct chunk_pool *pool)
{
    chunk_unref(&pool->input);
    chunk_unref(&pool->output);
    chunk_pool_trim(pool);
    ASSERT(pool->live_bytes == 0);
}

static struct chunk *
chunk_make(struct chunk_pool *pool, size_t cap, bool standard)
{
    ASSERT(cap < UINT32_MAX - sizeof(struct chunk));
    struct chunk *chunk = mem_alloc(sizeof(*chunk) + cap);

    chunk->cap = (uint32_t)cap;
    chunk->standard = standard;
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

struct chunk *
chunk_new(struct chunk_pool *pool)
{
    struct chunk *chunk = pool->free_list;

    if (chunk == NULL)
        return chunk_start(chunk_make(pool, CHUNK_CAP, true));
    pool->free_list = chunk->next_free;
    pool->free_count--;
    return chunk_start(chunk);
}

struct chunk *
chunk_new_sized(struct chunk_pool *pool, size_t cap)
{
    if (cap <= CHUNK_CAP)
        return chunk_new(pool);
    return chunk_start(chunk_make(pool, cap, false));
}

struct chunk *
chunk_new_exact(struct chunk_pool *pool, size_t cap)
{
    return chunk_start(chunk_make(pool, cap, false));
}

void
chunk_free(struct chunk *chunk)
{
    struct chunk_pool *pool = chunk->pool;

    ASSERT(chunk->refs == 0);
    pool->live_bytes -= chunk_cost(chunk);
    if (!chunk->standard || pool->free_count >= CHUNK_KEEP) {
        mem_free(chunk);
        return;
    }
    chunk->next_free = pool->free_list;
    pool->free_list = chunk;
    pool->free_count++;
}

/*
 * Let go of a shared chunk that is too full, or rewind it if nobody holds it.
 * A large one is never rewound: a small reply would pin all of it.
 */
static struct chunk *
shared_chunk(struct chunk_pool *pool, struct chunk **shared, uint32_t room)
{
    if (*shared != NULL) {
        if ((*shared)->refs == 1 && (*shared)->standard)
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
    if (pool->output != NULL && !pool->output->standard)
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
