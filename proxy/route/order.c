/*
 * route/order.c - twemproxy's order of servers.
 *
 * It sorts a pool's servers by name before it builds anything, and compares
 * lengths before bytes: "s9" stands before "s10", and "b" before "aa".
 */
#include <stdlib.h>

#include "base/mem.h"
#include "route/route_priv.h"

struct named {
    struct view name;
    uint32_t shard;
};

static int
compare_named(const void *left, const void *right)
{
    const struct named *a = left, *b = right;

    if (a->name.len != b->name.len)
        return a->name.len < b->name.len ? -1 : 1;
    int order = view_compare(a->name, b->name);
    if (order != 0)
        return order;
    return a->shard < b->shard ? -1 : a->shard > b->shard;
}

static int
check_unique(const struct named *sorted, size_t count, struct error *error)
{
    for (size_t i = 1; i < count; i++) {
        if (view_equal(sorted[i - 1].name, sorted[i].name))
            return error_set(error, "two servers have the name " NAME_FMT,
                             NAME_ARG(sorted[i].name));
    }
    return 0;
}

uint32_t *
live_by_name(const struct route_spec *spec, uint32_t *count,
             struct error *error)
{
    struct named *sorted = mem_array(spec->shard_count, sizeof(*sorted));
    uint32_t *live = NULL;

    for (uint32_t i = 0; i < spec->shard_count; i++)
        sorted[i] = (struct named){spec->shards[i].name, i};
    qsort(sorted, spec->shard_count, sizeof(*sorted), compare_named);
    if (check_unique(sorted, spec->shard_count, error) < 0)
        goto out;

    live = mem_array(spec->shard_count, sizeof(*live));
    *count = 0;
    for (uint32_t i = 0; i < spec->shard_count; i++) {
        if (spec->shards[sorted[i].shard].live)
            live[(*count)++] = sorted[i].shard;
    }
out:
    mem_free(sorted);
    return live;
}
