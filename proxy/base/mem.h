/*
 * base/mem.h - the one door to the allocator.
 *
 * mem_* never return NULL: they end the process, saying why, since our own
 * small objects have no sensible way to fail.  A size that a peer controls is
 * bounded by a setting first.  The allocator is jemalloc (tuned in mem.c to
 * give memory back within about a second), or the system's in sanitizer and
 * valgrind builds.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include "base/base.h"
#include "base/view.h"

void *mem_alloc(size_t size) __attribute__((malloc, returns_nonnull));
void *mem_zalloc(size_t size) __attribute__((malloc, returns_nonnull));
/* `count` zeroed elements; an overflowing product ends the process. */
void *mem_array(size_t count, size_t size)
    __attribute__((malloc, returns_nonnull));
void *mem_realloc(void *ptr, size_t size) __attribute__((returns_nonnull));
void mem_free(void *ptr);

/* Zero all bytes.  For large objects on the data path: what compilers make of
 * an assignment there, a string instruction, is several times slower. */
void mem_zero(void *ptr, size_t size);

/* NUL-terminated copies. */
char *mem_strdup(const char *string) __attribute__((malloc, returns_nonnull));
char *mem_view_dup(struct view bytes) __attribute__((malloc, returns_nonnull));
char *mem_printf(const char *fmt, ...) PRINTF_LIKE(1, 2)
    __attribute__((malloc, returns_nonnull));

/* Give the calling thread an arena of its own, once, at its start. */
void mem_thread_init(void);

/* Bytes in use by the process and bytes it holds from the system; 0 where
 * the allocator cannot tell. */
void mem_stats(size_t *allocated, size_t *resident);

/* Bytes of the pages that are in use: without those that wait to be given back
 * to the system; 0 where the allocator cannot tell. */
size_t mem_active(void);

/* Give memory of the calling thread's arena that has not been used for a second
 * back to the system.  Cheap; an idle thread must call it now and then, since
 * otherwise only allocating does this. */
void mem_trim(void);

/* The same for all arenas, and for all that is unused; dear. */
void mem_purge(void);

/* What the allocator has to say of itself, in pieces. */
void mem_report(void (*write)(void *arg, const char *text), void *arg);

#define MEM_NEW(type) ((type *)mem_zalloc(sizeof(type)))

#endif
