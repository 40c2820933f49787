/*
 * base/mem.c - jemalloc behind our own names; the system's malloc otherwise.
 *
 * Dirty pages go back after one second, so that a burst of large values does
 * not stay in the process's size for ever (a complaint about other proxies).
 */
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"

#ifdef HAVE_JEMALLOC
#include <jemalloc/jemalloc.h>

/* Read by jemalloc before main(). */
extern const char *malloc_conf;
const char *malloc_conf = "narenas:1,dirty_decay_ms:1000,muzzy_decay_ms:0,"
                          "lg_tcache_max:15";
#endif

static void
out_of_memory(size_t size)
{
    fprintf(stderr, "pointsman: out of memory (%zu bytes wanted)\n", size);
    if (log_descriptor() != STDERR_FILENO)
        log_error("out of memory", "wanted=%zu", size);
    abort();
}

void *
mem_alloc(size_t size)
{
    void *ptr = malloc(size);

    if (unlikely(ptr == NULL))
        out_of_memory(size);
    return ptr;
}

void *
mem_zalloc(size_t size)
{
    void *ptr = calloc(1, size);

    if (unlikely(ptr == NULL))
        out_of_memory(size);
    return ptr;
}

void *
mem_array(size_t count, size_t size)
{
    void *ptr = calloc(count > 0 ? count : 1, size);

    if (unlikely(ptr == NULL))
        out_of_memory(count);
    return ptr;
}

void *
mem_realloc(void *ptr, size_t size)
{
    void *moved = realloc(ptr, size);

    if (unlikely(moved == NULL))
        out_of_memory(size);
    return moved;
}

void
mem_free(void *ptr)
{
    free(ptr);
}

void
mem_zero(void *ptr, size_t size)
{
    memset(ptr, 0, size);
}

char *
mem_strdup(const char *string)
{
    return mem_view_dup(view_str(string));
}

char *
mem_view_dup(struct view bytes)
{
    char *copy = mem_alloc(bytes.len + 1);

    if (bytes.len > 0)
        memcpy(copy, bytes.data, bytes.len);
    copy[bytes.len] = '\0';
    return copy;
}

char *
mem_printf(const char *fmt, ...)
{
    va_list args, again;

    ASSERT(fmt != NULL);
    va_start(args, fmt);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    ASSERT(len >= 0);

    char *text = mem_alloc((size_t)len + 1);
    vsnprintf(text, (size_t)len + 1, fmt, again);
    va_end(again);
    return text;
}

#ifdef HAVE_JEMALLOC

void
mem_thread_init(void)
{
    unsigned arena;
    size_t size = sizeof(arena);

    /* Failure leaves the thread in the shared arena, which is no harm. */
    if (mallctl("arenas.create", &arena, &size, NULL, 0) == 0)
        (void)mallctl("thread.arena", NULL, NULL, &arena, sizeof(arena));
}

static size_t
read_stat(const char *name)
{
    size_t value = 0, size = sizeof(value);

    if (mallctl(name, &value, &size, NULL, 0) != 0)
        return 0;
    return value;
}

static void
refresh_stats(void)
{
    uint64_t epoch = 1;
    size_t size = sizeof(epoch);

    (void)mallctl("epoch", &epoch, &size, &epoch, size);
}

void
mem_stats(size_t *allocated, size_t *resident)
{
    refresh_stats();
    *allocated = read_stat("stats.allocated");
    *resident = read_stat("stats.resident");
}

size_t
mem_active(void)
{
    refresh_stats();
    return read_stat("stats.active");
}

void
mem_trim(void)
{
    unsigned arena;
    size_t size = sizeof(arena);
    char name[64];

    (void)mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
    if (mallctl("thread.arena", &arena, &size, NULL, 0) != 0)
        return;
    snprintf(name, sizeof(name), "arena.%u.decay", arena);
    (void)mallctl(name, NULL, NULL, NULL, 0);
}

void
mem_purge(void)
{
    char name[64];

    (void)mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
    snprintf(name, sizeof(name), "arena.%u.purge",
             (unsigned)MALLCTL_ARENAS_ALL);
    (void)mallctl(name, NULL, NULL, NULL, 0);
}

/* Sums of all arenas, without each of them. */
void
mem_report(void (*write)(void *arg, const char *text), void *arg)
{
    malloc_stats_print(write, arg, "a");
}

#else

void
mem_thread_init(void)
{
}

void
mem_stats(size_t *allocated, size_t *resident)
{
    *allocated = 0;
    *resident = 0;
}

size_t
mem_active(void)
{
    return 0;
}

void
mem_trim(void)
{
}

void
mem_purge(void)
{
}

void
mem_report(void (*write)(void *arg, const char *text), void *arg)
{
    write(arg, "The allocator of this build keeps no statistics\n");
}

#endif
