/*
 * tests/unit/resp/requests.h - scanning one request in many ways.
 */
#ifndef TESTS_RESP_REQUESTS_H
#define TESTS_RESP_REQUESTS_H

#include <stdio.h>

#include "base/buf.h"
#include "guard.h"
#include "resp/request_scan.h"

static const struct request_limits OPEN = {INT32_MAX, RESP_MAX_BULK, false};
static const struct request_limits CLOSED = {INT32_MAX, RESP_MAX_BULK, true};

/* Show the scanner the first `len` bytes, at a new place. */
static inline enum resp_result
show(struct request_scan *scan, const struct request_limits *limits,
     struct view bytes, size_t len)
{
    static int place;

    place = !place;
    bytes.len = len;
    return request_scan(scan, limits, guard_copy(place, bytes), len);
}

/* Show `first` bytes, then `step` more each time, until there is an end. */
static inline enum resp_result
show_in_steps(struct request_scan *scan, const struct request_limits *limits,
              struct view bytes, size_t first, size_t step)
{
    enum resp_result result;
    size_t len = MIN(first, bytes.len);

    for (;;) {
        result = show(scan, limits, bytes, len);
        if (result != RESP_AGAIN || len == bytes.len)
            return result;
        ck_assert_uint_eq(scan->size, len);
        ck_assert_uint_ge(scan->known, scan->size);
        ck_assert_uint_le(scan->seen, scan->argc);
        len = MIN(len + step, bytes.len);
    }
}

static inline void
expect_same_scan(const struct request_scan *a, const struct request_scan *b)
{
    ck_assert_int_eq(a->kind, b->kind);
    ck_assert_uint_eq(a->argc, b->argc);
    ck_assert_uint_eq(a->seen, b->seen);
    ck_assert_uint_eq(a->size, b->size);
    ck_assert_uint_eq(a->known, b->known);
    ck_assert_int_eq(a->in_bulk, b->in_bulk);
    for (uint32_t i = 0; i < a->seen; i++) {
        ck_assert_uint_eq(a->args[i].off, b->args[i].off);
        ck_assert_uint_eq(a->args[i].len, b->args[i].len);
    }
}

/* One cut at `first`, then pieces of `step`: all must end as `whole` did. */
static inline void
expect_steps_agree(const struct request_limits *limits, struct view bytes,
                   size_t first, size_t step, const struct request_scan *whole,
                   enum resp_result expected)
{
    struct request_scan scan;

    request_scan_init(&scan);
    ck_assert_int_eq(show_in_steps(&scan, limits, bytes, first, step),
                     expected);
    ck_assert_str_eq(scan.error, whole->error);
    if (expected != RESP_BAD)
        expect_same_scan(&scan, whole);
    request_scan_fini(&scan);
}

/* Scan whole, byte by byte and with a cut at each position: one answer. */
static inline enum resp_result
scan_all_ways(struct request_scan *scan, const struct request_limits *limits,
              struct view bytes)
{
    enum resp_result result = show(scan, limits, bytes, bytes.len);

    expect_steps_agree(limits, bytes, 0, 1, scan, result);
    for (size_t cut = 0; cut <= bytes.len; cut++)
        expect_steps_agree(limits, bytes, cut, bytes.len, scan, result);
    return result;
}

#endif
