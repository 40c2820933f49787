/*
 * What holds for every distribution.
 */
#include <pthread.h>

#include "route_test.h"

START_TEST(distribution_names_are_matched_exactly)
{
    for (int i = 0; i < DISTRIBUTION_COUNT; i++) {
        const char *name = distribution_name((enum distribution)i);
        ck_assert_int_eq(distribution_parse(view_str(name)), i);
    }
    ck_assert_int_eq(distribution_parse(VIEW("ketama")), DISTRIBUTION_KETAMA);
    ck_assert_int_eq(distribution_parse(VIEW("slots")), DISTRIBUTION_SLOTS);
    ck_assert_int_eq(distribution_parse(VIEW("Ketama")), -1);
    ck_assert_int_eq(distribution_parse(VIEW("modul")), -1);
    ck_assert_int_eq(distribution_parse(VIEW("")), -1);
}
END_TEST

static uint32_t
never_hash(struct view key UNUSED, bool unsigned_chars UNUSED)
{
    ck_abort_msg("a single shard was hashed for");
    return 0;
}

START_TEST(single_shard_has_every_key_without_hashing)
{
    static const enum distribution all[] = {DISTRIBUTION_KETAMA,
                                            DISTRIBUTION_MODULA,
                                            DISTRIBUTION_MODULO,
                                            DISTRIBUTION_RANDOM,
                                            DISTRIBUTION_SLOTS};
    struct route_shard_spec shards[] = {shard("alone", 7)};
    struct route_spec spec = {.shards = shards, .shard_count = 1};

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        spec.distribution = all[i];
        struct route *route = make_route(&spec);
        route->hash = never_hash;
        ck_assert_uint_eq(find(route, "a"), 0);
        ck_assert_uint_eq(find(route, "user:1000"), 0);
        ck_assert_uint_eq(find(route, ""), 0);
        route_free(&route);
    }
}
END_TEST

START_TEST(empty_key_hashes_to_zero)
{
    struct route_shard_spec shards[] = {shard("a", 1), shard("b", 1)};
    struct route_spec spec = {.distribution = DISTRIBUTION_MODULO,
                              .hash = HASH_MD5,
                              .shards = shards,
                              .shard_count = 2};
    struct route *route = make_route(&spec);

    ck_assert_uint_eq(find(route, ""), 0);
    expect_explained(route, VIEW(""),
                     "tag=\"\" hash=0 modulo=2 shard=0 name=a");
    route_free(&route);
}
END_TEST

START_TEST(unsigned_chars_reach_the_hash)
{
    struct route_shard_spec shards[] = {shard("a", 1), shard("b", 1)};
    struct route_spec spec = {.distribution = DISTRIBUTION_MODULO,
                              .hash = HASH_FNV1_32,
                              .unsigned_chars = true,
                              .shards = shards,
                              .shard_count = 2};
    struct route *route = make_route(&spec);

    expect_explained(route, VIEW("caf\xc3\xa9"),
                     "tag=\"caf\\xc3\\xa9\" hash=1719915377 modulo=2"
                     " shard=1 name=b");
    route_free(&route);
}
END_TEST

START_TEST(keys_of_one_command_share_the_shard_outside_slots)
{
    struct route_shard_spec shards[] = {shard("a", 1), shard("b", 1)};
    struct route_spec spec = {.distribution = DISTRIBUTION_KETAMA,
                              .hash = HASH_MURMUR,
                              .shards = shards,
                              .shard_count = 2};
    struct route *route = make_route(&spec);

    ck_assert(!route_is_slots(route));
    for (char c = 'a'; c <= 'z'; c++) {
        char key[] = {c, '\0'};
        ck_assert_uint_eq(route_slot(route, view_str(key)), find(route, key));
    }
    route_free(&route);
}
END_TEST

START_TEST(explanation_stays_one_line_whatever_the_bytes)
{
    struct route_shard_spec shards[] = {shard("a b\\", 1)};
    struct route_spec spec = {.distribution = DISTRIBUTION_MODULO,
                              .shards = shards,
                              .shard_count = 1};
    struct route *route = make_route(&spec);

    expect_explained(route, VIEW("q\"\\\r\n\0\xff~ "),
                     "tag=\"q\\x22\\x5c\\x0d\\x0a\\x00\\xff~ \" modulo=1"
                     " shard=0 name=a\\x20b\\x5c");
    route_free(&route);
}
END_TEST

START_TEST(pools_without_servers_or_with_weightless_ones_are_refused)
{
    struct route_shard_spec shards[] = {shard("a", 1), shard("light", 0)};
    struct route_spec spec = {.shards = shards, .shard_count = 0};

    for (int i = 0; i < DISTRIBUTION_COUNT; i++) {
        spec.distribution = (enum distribution)i;
        spec.shard_count = 0;
        expect_refused(&spec, "no server", "there");
        spec.shard_count = 2;
        expect_refused(&spec, "weight", "\"light\"");
    }
}
END_TEST

START_TEST(long_names_are_cut_in_messages)
{
    char name[2000];
    memset(name, 'n', sizeof(name));
    struct route_shard_spec shards[] = {shard("", 1), shard("", 1)};
    shards[0].name = shards[1].name = view_of(name, sizeof(name));
    struct route_spec spec = {.distribution = DISTRIBUTION_MODULA,
                              .shards = shards,
                              .shard_count = 2};

    expect_refused(&spec, "two servers", "nnn\"");
}
END_TEST

START_TEST(freeing_clears_the_pointer_and_takes_null)
{
    struct route_shard_spec shards[] = {shard("a", 1)};
    struct route_spec spec = {.shards = shards, .shard_count = 1};
    struct route *route = make_route(&spec);

    route_free(&route);
    ck_assert_ptr_null(route);
    route_free(&route);
}
END_TEST

#define LOOKUPS 5000

static void *
look_up(void *arg)
{
    const struct route *route = arg;
    uintptr_t sum = 0;

    for (int i = 0; i < LOOKUPS; i++) {
        char key[16];
        snprintf(key, sizeof(key), "key:%d", i);
        sum = sum * 31 + find(route, key);
    }
    return (void *)sum;
}

START_TEST(threads_read_one_route_alike)
{
    struct route_shard_spec shards[] = {shard("a", 1), shard("b", 1),
                                        shard("c", 1)};
    struct route_spec spec = {.distribution = DISTRIBUTION_KETAMA,
                              .hash = HASH_MD5,
                              .shards = shards,
                              .shard_count = 3};
    struct route *route = make_route(&spec);
    pthread_t threads[4];
    void *expected = look_up(route);

    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, look_up, route), 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        void *sum;
        ck_assert_int_eq(pthread_join(threads[i], &sum), 0);
        ck_assert_ptr_eq(sum, expected);
    }
    route_free(&route);
}
END_TEST

int
main(void)
{
    const TTest *const tests[] = {
        distribution_names_are_matched_exactly,
        single_shard_has_every_key_without_hashing,
        empty_key_hashes_to_zero,
        unsigned_chars_reach_the_hash,
        keys_of_one_command_share_the_shard_outside_slots,
        explanation_stays_one_line_whatever_the_bytes,
        pools_without_servers_or_with_weightless_ones_are_refused,
        long_names_are_cut_in_messages,
        freeing_clears_the_pointer_and_takes_null,
        threads_read_one_route_alike,
    };

    return run_tests("route", tests, ARRAY_LEN(tests));
}
