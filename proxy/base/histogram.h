/*
 * base/histogram.h - a latency histogram with fixed buckets and one writer.
 *
 * Buckets double from 1 us to about 17 s; a value above the last goes to +Inf.
 * Twenty-six cells: small enough for one a command and server and worker, fine
 * enough to see a factor of two.
 */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include "base/counter.h"

#define HISTOGRAM_FIRST_US 1 /* histogram_bucket() reckons with it */
#define HISTOGRAM_BUCKETS 26 /* the last one is +Inf */

struct histogram {
    struct cell bucket[HISTOGRAM_BUCKETS]; /* not cumulative */
    struct cell sum_us;
};

/* Upper bound, inclusive, of bucket i in microseconds; UINT64_MAX for +Inf. */
uint64_t histogram_bound_us(unsigned i);

/* The bucket of a value.  Nearly all pass the first comparison. */
static inline unsigned
histogram_bucket(uint64_t us)
{
    const uint64_t last_us = UINT64_C(1) << (HISTOGRAM_BUCKETS - 2);

    if (likely(us - 2 <= last_us - 2))
        return 64 - (unsigned)__builtin_clzll(us - 1);
    return us > last_us ? HISTOGRAM_BUCKETS - 1 : 0;
}

/* Add one observation whose bucket is known. */
static inline void
histogram_add_at(struct histogram *h, unsigned bucket, uint64_t us)
{
    cell_inc(&h->bucket[bucket]);
    cell_add(&h->sum_us, us);
}

/* Add one observation. */
static inline void
histogram_add(struct histogram *h, uint64_t us)
{
    histogram_add_at(h, histogram_bucket(us), us);
}

/* total += part, cell by cell; total belongs to the caller's thread. */
void histogram_merge(struct histogram *total, const struct histogram *part);

#endif
