/*
 * base/base.h - what every file needs: attributes, assertions, poisoned names.
 *
 * ASSERT() guards against bugs of our own and is always compiled in: keep its
 * condition cheap.  ASSERT_SLOW() may walk lists; it exists in debug builds
 * (configure --enable-debug) only.  Neither is ever used for what a peer or an
 * operator can cause.
 */
#ifndef BASE_BASE_H
#define BASE_BASE_H

#include <stddef.h>
#include <stdint.h>
/* These declare what is poisoned below, so they come first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#define NORETURN __attribute__((noreturn))
#define NEVER_INLINE __attribute__((noinline)) /* keeps its caller a leaf */
#define UNUSED __attribute__((unused))

#define likely(cond) __builtin_expect(!!(cond), 1)
#define unlikely(cond) __builtin_expect(!!(cond), 0)

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))
#define CONTAINER_OF(ptr, type, member) \
    ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* Have the processor fetch `size` bytes that are soon written to or read; any
 * address will do. */
static inline void
prefetch(const void *from, size_t size)
{
#pragma GCC unroll 8
    for (size_t at = 0; at < size; at += 64)
        __builtin_prefetch((const void *)((uintptr_t)from + at), 1);
}

/* Print where and what, then abort; never returns.  See base/error.c. */
void assert_failed(const char *file, int line, const char *cond) NORETURN;

#define ASSERT(cond)                                  \
    do {                                              \
        if (unlikely(!(cond)))                        \
            assert_failed(__FILE__, __LINE__, #cond); \
    } while (0)

#ifdef POINTSMAN_DEBUG
#define ASSERT_SLOW(cond) ASSERT(cond)
#else
#define ASSERT_SLOW(cond) ((void)0)
#endif

/* These have safer relatives: snprintf, memcpy with a length, strtoul. */
#undef alloca
#pragma GCC poison strcpy strcat sprintf strtok atoi alloca

#endif
