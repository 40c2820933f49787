/*
 * tests/lib/guard.h - bytes that end where the next page cannot be read.
 *
 * A parser that looks one byte too far is ended by the kernel at once, with
 * and without a sanitizer.
 */
#ifndef TESTS_GUARD_H
#define TESTS_GUARD_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct guard {
    char *data; /* `len` bytes, the last one just before the page */
    size_t len;
    char *map;
    size_t map_len;
};

/* Room for `len` bytes; fill guard.data. */
static inline struct guard
guard_new(size_t len)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t front = (len + page - 1) / page * page;
    struct guard guard = {.len = len, .map_len = front + page};

    guard.map = mmap(NULL, guard.map_len, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (guard.map == MAP_FAILED ||
        mprotect(guard.map + front, page, PROT_NONE) != 0)
        abort();
    guard.data = guard.map + front - len;
    return guard;
}

/* A copy of bytes. */
static inline struct guard
guard_copy(const void *data, size_t len)
{
    struct guard guard = guard_new(len);

    if (len > 0)
        memcpy(guard.data, data, len);
    return guard;
}

static inline void
guard_free(struct guard *guard)
{
    munmap(guard->map, guard->map_len);
    guard->data = NULL;
}

#endif
