/*
 * command/script_memory.c - a table of scripts, and the two orders of their
 * leaving.
 */
#include "command/script_memory.h"

#include <pthread.h>
#include <sys/queue.h>

#include "base/mem.h"

#define BUCKETS 4096 /* made with the first script */

struct script {
    LIST_ENTRY(script) bucket_link;
    TAILQ_ENTRY(script) order_link;
    struct script_digest digest;
    bool is_loaded;
    size_t len;
    char body[];
};

LIST_HEAD(script_bucket, script);
TAILQ_HEAD(script_order, script);

struct script_memory {
    pthread_mutex_t lock;
    size_t limit;
    size_t bytes;
    struct script_bucket *buckets; /* BUCKETS of them, or NULL */
    struct script_order seen;      /* by EVAL; the one used last at the end */
    struct script_order loaded;    /* by SCRIPT LOAD, likewise */
    uint64_t losses;               /* atomic */
};

/* --- with the lock held --------------------------------------------------------- */

static size_t
weight_of(size_t len)
{
    return sizeof(struct script) + len;
}

static struct script_order *
order_of(struct script_memory *memory, const struct script *script)
{
    return script->is_loaded ? &memory->loaded : &memory->seen;
}

static struct script_bucket *
bucket_of(struct script_memory *memory, const struct script_digest *digest)
{
    unsigned number = (unsigned)digest->bytes[0] << 8 | digest->bytes[1];

    return &memory->buckets[number % BUCKETS];
}

static struct script *
find(struct script_memory *memory, const struct script_digest *digest)
{
    struct script *script;

    if (memory->buckets == NULL)
        return NULL;
    LIST_FOREACH(script, bucket_of(memory, digest), bucket_link)
    {
        if (script_digest_equal(&script->digest, digest))
            break;
    }
    return script;
}

static void
drop(struct script_memory *memory, struct script *script)
{
    LIST_REMOVE(script, bucket_link);
    TAILQ_REMOVE(order_of(memory, script), script, order_link);
    memory->bytes -= weight_of(script->len);
    __atomic_add_fetch(&memory->losses, 1, __ATOMIC_RELAXED);
    mem_free(script);
}

static void
shrink_to(struct script_memory *memory, size_t bytes)
{
    while (memory->bytes > bytes) {
        struct script *script = TAILQ_FIRST(&memory->seen);
        if (script == NULL)
            script = TAILQ_FIRST(&memory->loaded);
        drop(memory, script);
    }
}

static void
use(struct script_memory *memory, struct script *script, bool is_loaded)
{
    TAILQ_REMOVE(order_of(memory, script), script, order_link);
    script->is_loaded |= is_loaded;
    TAILQ_INSERT_TAIL(order_of(memory, script), script, order_link);
}

static void
add(struct script_memory *memory, const struct script_digest *digest,
    struct view body, bool is_loaded)
{
    struct script *script = mem_alloc(sizeof(*script) + body.len);

    *script = (struct script){
        .digest = *digest,
        .is_loaded = is_loaded,
        .len = body.len,
    };
    memcpy(script->body, body.data, body.len);
    shrink_to(memory, memory->limit - weight_of(body.len));
    if (memory->buckets == NULL)
        memory->buckets = mem_array(BUCKETS, sizeof(struct script_bucket));
    LIST_INSERT_HEAD(bucket_of(memory, digest), script, bucket_link);
    TAILQ_INSERT_TAIL(order_of(memory, script), script, order_link);
    memory->bytes += weight_of(body.len);
}

/* --- for everybody ---------------------------------------------------------------- */

static void
lock(struct script_memory *memory)
{
    pthread_mutex_lock(&memory->lock);
}

static void
unlock(struct script_memory *memory)
{
    pthread_mutex_unlock(&memory->lock);
}

struct script_memory *
script_memory_new(void)
{
    struct script_memory *memory = MEM_NEW(struct script_memory);

    pthread_mutex_init(&memory->lock, NULL);
    TAILQ_INIT(&memory->seen);
    TAILQ_INIT(&memory->loaded);
    return memory;
}

void
script_memory_free(struct script_memory **memoryp)
{
    struct script_memory *memory = *memoryp;

    *memoryp = NULL;
    if (memory == NULL)
        return;
    shrink_to(memory, 0);
    pthread_mutex_destroy(&memory->lock);
    mem_free(memory->buckets);
    mem_free(memory);
}

void
script_memory_set_limit(struct script_memory *memory, size_t limit)
{
    lock(memory);
    memory->limit = limit;
    shrink_to(memory, limit);
    unlock(memory);
}

bool
script_memory_keep(struct script_memory *memory, struct view body,
                   bool is_loaded)
{
    struct script_digest digest;

    if (!script_digest_of(body, &digest))
        return false;
    lock(memory);
    struct script *script = find(memory, &digest);
    bool is_kept = script != NULL || weight_of(body.len) <= memory->limit;
    if (script != NULL)
        use(memory, script, is_loaded);
    else if (is_kept)
        add(memory, &digest, body, is_loaded);
    unlock(memory);
    return is_kept;
}

void
script_memory_touch(struct script_memory *memory,
                    const struct script_digest *digest)
{
    lock(memory);
    struct script *script = find(memory, digest);
    if (script != NULL)
        use(memory, script, false);
    unlock(memory);
}

bool
script_memory_has(struct script_memory *memory,
                  const struct script_digest *digest)
{
    lock(memory);
    bool is_known = find(memory, digest) != NULL;
    unlock(memory);
    return is_known;
}

bool
script_memory_find(struct script_memory *memory,
                   const struct script_digest *digest, struct buf *body)
{
    lock(memory);
    struct script *script = find(memory, digest);
    if (script != NULL) {
        use(memory, script, false);
        buf_append(body, script->body, script->len);
    }
    unlock(memory);
    return script != NULL;
}

void
script_memory_forget(struct script_memory *memory,
                     const struct script_digest *digest)
{
    lock(memory);
    struct script *script = find(memory, digest);
    if (script != NULL)
        drop(memory, script);
    unlock(memory);
}

void
script_memory_clear(struct script_memory *memory)
{
    lock(memory);
    shrink_to(memory, 0);
    unlock(memory);
}

uint64_t
script_memory_losses(const struct script_memory *memory)
{
    return __atomic_load_n(&memory->losses, __ATOMIC_RELAXED);
}
