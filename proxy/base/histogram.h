/*
 * base/histogram.h - a latency histogram with fixed buckets and one writer.
 *
 * Buckets double from 16 us to about 17 s; a value above the last goes to +Inf.
 * Twenty-two cells: small enough for one a pool and server and worker, fine
 * enough to see a factor of two.
 */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include "base/counter.h"

#define HISTOGRAM_FIRST_US 16
#define HISTOGRAM_BUCKETS 22 /* the last one is +Inf */

struct histogram {
    struct cell bucket[HISTOGRAM_BUCKETS]; /* not cumulative */
    struct cell sum_us;
};

/* Upper bound, inclusive, of bucket i in microseconds; UINT64_MAX for +Inf. */
uint64_t histogram_bound_us(unsigned i);

/* Add one observation. */
static inline void
histogram_add(struct histogram *h, uint64_t us)
{
    unsigned i = us <= HISTOGRAM_FIRST_US
        ? 0
        : 64 - (unsigned)__builtin_clzll((us - 1) / HISTOGRAM_FIRST_US);

    cell_inc(&h->bucket[MIN(i, HISTOGRAM_BUCKETS - 1)]);
    cell_add(&h->sum_us, us);
}

/* total += part, cell by cell; total belongs to the caller's thread. */
void histogram_merge(struct histogram *total, const struct histogram *part);

#endif
