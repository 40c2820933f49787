/*
 * routes.h - routes for the tests of split and merge.
 */
#ifndef TESTS_COMMAND_ROUTES_H
#define TESTS_COMMAND_ROUTES_H

#include "unit.h"

#include "route/route.h"

/* Keys a... live on shard 0, b... on 1, c... on 2, others nowhere. */
static inline struct route *
route_by_letter(void)
{
    static const struct range_spec ranges[] = {
        {.from_bytes = {"a", 1}, .before_bytes = {"b", 1}},
        {.from_bytes = {"b", 1}, .before_bytes = {"c", 1}},
        {.from_bytes = {"c", 1}, .before_bytes = {"d", 1}},
    };
    const struct route_shard_spec shards[] = {
        {{"one", 3}, 1, true, false, &ranges[0], 1, NULL, 0},
        {{"two", 3}, 1, true, false, &ranges[1], 1, NULL, 0},
        {{"three", 5}, 1, true, false, &ranges[2], 1, NULL, 0},
    };
    const struct route_spec spec = {.distribution = DISTRIBUTION_RANGE,
                                    .range_by = RANGE_BY_BYTES,
                                    .shards = shards,
                                    .shard_count = ARRAY_LEN(shards)};
    struct error error;
    struct route *route = route_new(&spec, &error);

    ck_assert_msg(route != NULL, "%s", error.text);
    return route;
}

/* `shards` servers share the slots of a cluster evenly. */
static inline struct route *
route_by_slots(size_t count)
{
    struct route_shard_spec shards[16] = {0};
    const struct route_spec spec = {.distribution = DISTRIBUTION_SLOTS,
                                    .shards = shards,
                                    .shard_count = count};
    struct error error;

    ck_assert_uint_le(count, ARRAY_LEN(shards));
    for (size_t i = 0; i < count; i++)
        shards[i] = (struct route_shard_spec){.name = VIEW("shard"),
                                              .weight = 1,
                                              .live = true};
    struct route *route = route_new(&spec, &error);
    ck_assert_msg(route != NULL, "%s", error.text);
    return route;
}

#endif
