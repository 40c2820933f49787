/*
 * admin/source.c - sums over all workers.
 */
#include "admin/source.h"

#include <time.h>

#include "base/mem.h"

#define US_PER_S 1000000

static uint64_t
clock_us(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * US_PER_S + (uint64_t)now.tv_nsec / 1000;
}

/* Workers change a gauge's cells one after the other, so that a sum read in
 * between may be below zero for a moment. */
static uint64_t
at_least_zero(uint64_t sum)
{
    return sum > INT64_MAX ? 0 : sum;
}

void
admin_source_stamp(struct admin_source *source)
{
    size_t allocated, held;

    mem_stats(&allocated, &held);
    source->started_allocated_bytes = allocated;
    source->started_unix_us = (int64_t)clock_us(CLOCK_REALTIME);
    source->started_mono_us = clock_us(CLOCK_MONOTONIC);
}

uint64_t
admin_source_uptime_us(const struct admin_source *source)
{
    return clock_us(CLOCK_MONOTONIC) - source->started_mono_us;
}

uint64_t
admin_cell(const void *block, size_t offset)
{
    const char *bytes = block;

    return cell_get((const struct cell *)(const void *)(bytes + offset));
}

static const struct session_stats *
pool_block(const struct admin_source *source, unsigned worker, size_t pool)
{
    return source->editions[worker]->pools[pool].stats;
}

static const struct server_stats *
server_block(const struct admin_source *source, unsigned worker, size_t pool,
             size_t server)
{
    return source->editions[worker]->pools[pool].servers[server];
}

uint64_t
admin_sum_pool(const struct admin_source *source, size_t pool, size_t offset)
{
    uint64_t sum = 0;

    for (unsigned w = 0; w < source->workers; w++)
        sum += admin_cell(pool_block(source, w, pool), offset);
    return at_least_zero(sum);
}

uint64_t
admin_sum_server(const struct admin_source *source, size_t pool, size_t server,
                 size_t offset)
{
    uint64_t sum = 0;

    for (unsigned w = 0; w < source->workers; w++)
        sum += admin_cell(server_block(source, w, pool, server), offset);
    return at_least_zero(sum);
}

struct histogram
admin_sum_pool_latency(const struct admin_source *source, size_t pool)
{
    struct histogram total = {0};

    for (unsigned w = 0; w < source->workers; w++) {
        const struct session_stats *stats = pool_block(source, w, pool);
        struct histogram part = session_stats_latency(stats);
        histogram_merge(&total, &part);
    }
    return total;
}

struct histogram
admin_sum_server_latency(const struct admin_source *source, size_t pool,
                         size_t server)
{
    struct histogram total = {0};

    for (unsigned w = 0; w < source->workers; w++)
        histogram_merge(&total,
                        &server_block(source, w, pool, server)->latency);
    return total;
}
