/*
 * base/histogram.c - bounds and sums of latency histograms.
 */
#include "base/histogram.h"

uint64_t
histogram_bound_us(unsigned i)
{
    ASSERT(i < HISTOGRAM_BUCKETS);
    if (i == HISTOGRAM_BUCKETS - 1)
        return UINT64_MAX;
    return (uint64_t)HISTOGRAM_FIRST_US << i;
}

void
histogram_merge(struct histogram *total, const struct histogram *part)
{
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
        cell_add(&total->bucket[i], cell_get(&part->bucket[i]));
    cell_add(&total->sum_us, cell_get(&part->sum_us));
}
