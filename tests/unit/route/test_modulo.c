/*
 * The placements without a ring: modula, modulo, random.
 */
#include "route_test.h"

static struct route_spec
spec_of(enum distribution distribution, const struct route_shard_spec *shards,
        size_t count)
{
    return (struct route_spec){.distribution = distribution,
                               .hash = HASH_FNV1A_64,
                               .shards = shards,
                               .shard_count = count};
}

/* The shards that hashes 0, 1, 2 ... lead to, as digits. */
static void
expect_row(struct route *route, const char *shards)
{
    size_t len = strlen(shards);

    for (uint32_t hash = 0; hash < 3 * len; hash++)
        ck_assert_msg(find_hash(route, hash) ==
                          (uint32_t)(shards[hash % len] - '0'),
                      "hash %u leads to %u", hash, find_hash(route, hash));
}

START_TEST(modula_orders_by_length_of_name_first)
{
    struct route_shard_spec shards[] = {shard("s10", 1), shard("s9", 1),
                                        shard("aa", 1), shard("b", 1)};
    struct route_spec spec = spec_of(DISTRIBUTION_MODULA, shards, 4);
    struct route *route = make_route(&spec);

    expect_row(route, "3210");
    route_free(&route);
}
END_TEST

START_TEST(modula_repeats_a_server_by_its_weight)
{
    struct route_shard_spec shards[] = {shard("a", 3), shard("b", 1),
                                        shard("c", 2)};
    struct route_spec spec = spec_of(DISTRIBUTION_MODULA, shards, 3);
    struct route *route = make_route(&spec);

    expect_row(route, "000122");
    route_free(&route);
}
END_TEST

START_TEST(modula_closes_up_when_a_server_is_ejected)
{
    struct route_shard_spec shards[] = {shard("a", 2), shard("b", 1),
                                        shard("c", 1)};
    shards[0].live = false;
    struct route_spec spec = spec_of(DISTRIBUTION_MODULA, shards, 3);
    struct route *route = make_route(&spec);

    expect_row(route, "12");
    route_free(&route);
}
END_TEST

START_TEST(modula_takes_weights_of_any_size)
{
    struct route_shard_spec shards[] = {shard("a", UINT32_MAX), shard("b", 1),
                                        shard("c", UINT32_MAX)};
    struct route_spec spec = spec_of(DISTRIBUTION_MODULA, shards, 3);
    struct route *route = make_route(&spec);

    ck_assert_uint_eq(find_hash(route, 0), 0);
    ck_assert_uint_eq(find_hash(route, UINT32_MAX - 1), 0);
    ck_assert_uint_eq(find_hash(route, UINT32_MAX), 1);
    route_free(&route);
}
END_TEST

START_TEST(modula_with_no_live_server_has_no_key)
{
    struct route_shard_spec shards[] = {shard("a", 1), shard("b", 1)};
    shards[0].live = shards[1].live = false;
    struct route_spec spec = spec_of(DISTRIBUTION_MODULA, shards, 2);
    struct route *route = make_route(&spec);

    ck_assert_uint_eq(find(route, "a"), ROUTE_NONE);
    route_free(&route);
}
END_TEST

START_TEST(modula_explains_its_division)
{
    struct route_shard_spec shards[] = {shard("a", 1), shard("b", 4)};
    struct route_spec spec = spec_of(DISTRIBUTION_MODULA, shards, 2);
    struct route *route = make_route(&spec);

    expect_explained(route, VIEW("apple"),
                     "tag=\"apple\" hash=1488911807 modulo=5 shard=1 name=b");
    route_free(&route);
}
END_TEST

START_TEST(modulo_keeps_the_order_written)
{
    struct route_shard_spec shards[] = {shard("s10", 1), shard("s9", 5),
                                        shard("aa", 1), shard("b", 9)};
    struct route_spec spec = spec_of(DISTRIBUTION_MODULO, shards, 4);
    struct route *route = make_route(&spec);

    expect_row(route, "0123");
    route_free(&route);
}
END_TEST

START_TEST(modulo_moves_no_key_when_a_server_dies)
{
    struct route_shard_spec shards[] = {shard("a", 1), shard("b", 1),
                                        shard("c", 1)};
    shards[1].live = false;
    struct route_spec spec = spec_of(DISTRIBUTION_MODULO, shards, 3);
    struct route *route = make_route(&spec);

    expect_row(route, "012");
    expect_explained(route, VIEW("\1\0\0\0"),
                     "tag=\"\\x01\\x00\\x00\\x00\" hash=1 modulo=3"
                     " shard=1 name=b");
    route_free(&route);
}
END_TEST

/* Draw `count` times and note how often each of four shards came. */
static void
draw(const struct route *route, uint64_t dice, size_t count, size_t seen[4])
{
    memset(seen, 0, 4 * sizeof(*seen));
    for (size_t i = 0; i < count; i++) {
        uint32_t at = route_find(route, VIEW("one key"), &dice);
        ck_assert_uint_lt(at, 4);
        seen[at]++;
    }
}

START_TEST(random_spreads_over_the_live_whatever_they_weigh)
{
    struct route_shard_spec shards[] = {shard("a", 1), shard("b", 100),
                                        shard("c", 1), shard("d", 1)};
    shards[2].live = false;
    struct route_spec spec = spec_of(DISTRIBUTION_RANDOM, shards, 4);
    struct route *route = make_route(&spec);
    size_t seen[4];

    for (uint64_t start = 0; start < 3; start++) {
        draw(route, start * 77777, 30000, seen);
        ck_assert_uint_eq(seen[2], 0);
        for (size_t i = 0; i < 4; i++) {
            ck_assert(i == 2 || (seen[i] > 9500 && seen[i] < 10500));
        }
    }
    route_free(&route);
}
END_TEST

START_TEST(random_is_told_by_the_dice_alone)
{
    struct route_shard_spec shards[] = {shard("a", 1), shard("b", 1),
                                        shard("c", 1), shard("d", 1)};
    struct route_spec spec = spec_of(DISTRIBUTION_RANDOM, shards, 4);
    struct route *route = make_route(&spec);
    uint64_t one = 42, other = 42;

    for (int i = 0; i < 100; i++)
        ck_assert_uint_eq(route_find(route, VIEW("a"), &one),
                          route_find(route, VIEW("b"), &other));
    ck_assert_uint_ne(one, 42);
    expect_explained(route, VIEW("a"), "tag=\"a\" live=4 shard=any");
    route_free(&route);
}
END_TEST

START_TEST(random_with_no_live_server_has_no_key)
{
    struct route_shard_spec shards[] = {shard("a", 1), shard("b", 1)};
    shards[0].live = shards[1].live = false;
    struct route_spec spec = spec_of(DISTRIBUTION_RANDOM, shards, 2);
    struct route *route = make_route(&spec);

    ck_assert_uint_eq(find(route, "a"), ROUTE_NONE);
    expect_explained(route, VIEW("a"), "tag=\"a\" live=0 shard=none");
    route_free(&route);
}
END_TEST

int
main(void)
{
    const TTest *const tests[] = {
        modula_orders_by_length_of_name_first,
        modula_repeats_a_server_by_its_weight,
        modula_closes_up_when_a_server_is_ejected,
        modula_takes_weights_of_any_size,
        modula_with_no_live_server_has_no_key,
        modula_explains_its_division,
        modulo_keeps_the_order_written,
        modulo_moves_no_key_when_a_server_dies,
        random_spreads_over_the_live_whatever_they_weigh,
        random_is_told_by_the_dice_alone,
        random_with_no_live_server_has_no_key,
    };

    return run_tests("modulo", tests, ARRAY_LEN(tests));
}
