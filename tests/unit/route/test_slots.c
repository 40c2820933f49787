/*
 * Slots against Redis Cluster, tables against redis-cli.
 */
#include "base/mem.h"
#include "route_test.h"

static struct route_shard_spec
owner(const char *name, const struct slot_span *slots, size_t count)
{
    struct route_shard_spec made = shard(name, 1);

    made.slots = slots;
    made.slot_count = count;
    return made;
}

static struct route_spec
spec_of(const struct route_shard_spec *shards, size_t count)
{
    return (struct route_spec){.distribution = DISTRIBUTION_SLOTS,
                               .shards = shards,
                               .shard_count = count};
}

/* Whose is this slot?  Some counted key lies in it. */
static uint32_t
owner_of(const struct route *route, uint32_t slot)
{
    char key[16];

    for (unsigned i = 0; i < 1000000; i++) {
        snprintf(key, sizeof(key), "%u", i);
        if (route_slot(route, view_str(key)) == slot)
            return find(route, key);
    }
    ck_abort_msg("no key for slot %u", slot);
    return ROUTE_NONE;
}

static struct route *
split_route(uint32_t count)
{
    struct route_shard_spec shards[16];
    char names[16][16];

    for (uint32_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof(names[i]), "n%u", i);
        shards[i] = shard(names[i], 1);
    }
    struct route_spec spec = spec_of(shards, count);
    return make_route(&spec);
}

START_TEST(slots_are_those_of_redis_cluster)
{
    struct route *route = split_route(3);

    ck_assert(route_is_slots(route));
    ck_assert_uint_eq(route_slot(route, VIEW("foo")), 12182);
    ck_assert_uint_eq(route_slot(route, VIEW("bar")), 5061);
    ck_assert_uint_eq(route_slot(route, VIEW("hello")), 866);
    ck_assert_uint_eq(route_slot(route, VIEW("123456789")), 12739);
    ck_assert_uint_eq(route_slot(route, VIEW("")), 0);
    ck_assert_uint_eq(find(route, "foo"), 2);
    ck_assert_uint_eq(find(route, "bar"), 0);
    ck_assert_uint_eq(find(route, ""), 0);
    route_free(&route);
}
END_TEST

START_TEST(slot_of_a_cluster_needs_no_route)
{
    ck_assert_uint_eq(route_cluster_slot(VIEW("foo")), 12182);
    ck_assert_uint_eq(route_cluster_slot(VIEW("x{foo}{bar}")), 12182);
    ck_assert_uint_eq(route_cluster_slot(VIEW("")), 0);
}
END_TEST

START_TEST(tag_of_slots_is_always_braces)
{
    struct route_shard_spec shards[] = {shard("a", 1), shard("b", 1)};
    struct route_spec spec = spec_of(shards, 2);
    spec.has_tag = true;
    memcpy(spec.tag, "$$", 2);
    spec.hash = HASH_MURMUR;
    struct route *route = make_route(&spec);

    ck_assert_uint_eq(route_slot(route, VIEW("{foo}.name")), 12182);
    ck_assert_uint_eq(route_slot(route, VIEW("x{foo}{bar}")), 12182);
    ck_assert_uint_eq(route_slot(route, VIEW("$foo$")),
                      hash_bytes(HASH_CRC16_REDIS, false, VIEW("$foo$")) %
                          ROUTE_SLOTS);
    ck_assert_uint_eq(route_slot(route, VIEW("{}foo")),
                      hash_bytes(HASH_CRC16_REDIS, false, VIEW("{}foo")) %
                          ROUTE_SLOTS);
    route_free(&route);
}
END_TEST

START_TEST(even_split_is_that_of_redis_cli)
{
    static const uint32_t lasts[7][7] = {
        {16383},
        {8191, 16383},
        {5460, 10922, 16383},
        {4095, 8191, 12287, 16383},
        {3276, 6553, 9829, 13106, 16383},
        {2730, 5460, 8191, 10922, 13652, 16383},
        {2340, 4680, 7021, 9361, 11702, 14042, 16383},
    };

    for (uint32_t count = 1; count <= 7; count++) {
        struct route *route = split_route(count);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t last = lasts[count - 1][i];
            ck_assert_uint_eq(owner_of(route, last), i);
            if (i + 1 < count)
                ck_assert_uint_eq(owner_of(route, last + 1), i + 1);
        }
        ck_assert_uint_eq(owner_of(route, 0), 0);
        route_free(&route);
    }
}
END_TEST

/* Every number of servers, also where floats begin to round. */
START_TEST(even_split_leaves_no_server_without_slots)
{
    static const uint32_t counts[] = {999, 5000, 16383, 16384};
    struct route_shard_spec *shards = mem_array(16385, sizeof(*shards));

    for (size_t i = 0; i < 16385; i++)
        shards[i] = shard("same", 1);
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        struct route_spec spec = spec_of(shards, counts[i]);
        struct route *route = make_route(&spec);
        ck_assert_uint_eq(owner_of(route, 0), 0);
        ck_assert_uint_eq(owner_of(route, 16383), counts[i] - 1);
        route_free(&route);
    }
    struct route_spec spec = spec_of(shards, 16385);
    expect_refused(&spec, "16385 servers", "16384 slots");
    mem_free(shards);
}
END_TEST

START_TEST(written_slots_go_where_they_are_written)
{
    struct slot_span a[] = {{0, 99}, {200, 16383}};
    struct slot_span b[] = {{100, 150}, {151, 199}};
    struct route_shard_spec shards[] = {owner("a", a, 2), owner("none", 0, 0),
                                        owner("b", b, 2)};
    struct route_spec spec = spec_of(shards, 3);
    struct route *route = make_route(&spec);

    ck_assert_uint_eq(owner_of(route, 0), 0);
    ck_assert_uint_eq(owner_of(route, 99), 0);
    ck_assert_uint_eq(owner_of(route, 100), 2);
    ck_assert_uint_eq(owner_of(route, 151), 2);
    ck_assert_uint_eq(owner_of(route, 199), 2);
    ck_assert_uint_eq(owner_of(route, 200), 0);
    ck_assert_uint_eq(owner_of(route, 16383), 0);
    route_free(&route);
}
END_TEST

START_TEST(slots_given_twice_are_refused_by_name)
{
    struct slot_span a[] = {{0, 8192}}, b[] = {{8192, 16383}};
    struct slot_span twice[] = {{0, 16383}, {5, 5}};
    struct route_shard_spec shards[] = {owner("a", a, 1), owner("b", b, 1)};
    struct route_spec spec = spec_of(shards, 2);

    expect_refused(&spec, "slot 8192 ", "\"a\" and to \"b\"");
    shards[0] = owner("a", twice, 2);
    spec.shard_count = 1;
    expect_refused(&spec, "slot 5 ", "\"a\" and to \"a\"");
}
END_TEST

START_TEST(slots_that_nobody_has_are_refused)
{
    struct slot_span a[] = {{0, 99}}, b[] = {{200, 16382}};
    struct route_shard_spec shards[] = {owner("a", a, 1), owner("b", b, 1)};
    struct route_spec spec = spec_of(shards, 2);

    expect_refused(&spec, "slots 100-199 ", "no server");
    a[0].last = 199;
    expect_refused(&spec, "slots 16383-16383 ", "no server");
}
END_TEST

START_TEST(slots_that_nobody_has_go_to_the_default)
{
    struct slot_span a[] = {{100, 199}};
    struct route_shard_spec shards[] = {owner("a", a, 1), owner("b", 0, 0)};
    shards[1].is_default = true;
    struct route_spec spec = spec_of(shards, 2);
    struct route *route = make_route(&spec);

    ck_assert_uint_eq(owner_of(route, 99), 1);
    ck_assert_uint_eq(owner_of(route, 100), 0);
    ck_assert_uint_eq(owner_of(route, 199), 0);
    ck_assert_uint_eq(owner_of(route, 16383), 1);
    route_free(&route);

    shards[0].is_default = true;
    expect_refused(&spec, "\"a\" and \"b\"", "default");
}
END_TEST

START_TEST(spans_that_make_no_sense_are_refused)
{
    struct slot_span backwards[] = {{10, 9}}, beyond[] = {{0, 16384}};
    struct route_shard_spec shards[] = {owner("a", backwards, 1)};
    struct route_spec spec = spec_of(shards, 1);

    expect_refused(&spec, "10-9", "\"a\"");
    shards[0] = owner("a", beyond, 1);
    expect_refused(&spec, "0-16384", "\"a\"");
}
END_TEST

START_TEST(dead_server_keeps_its_slots)
{
    struct route_shard_spec shards[] = {shard("a", 1), shard("b", 1)};
    shards[0].live = shards[1].live = false;
    struct route_spec spec = spec_of(shards, 2);
    struct route *route = make_route(&spec);

    ck_assert_uint_eq(find(route, "bar"), 0);
    ck_assert_uint_eq(find(route, "foo"), 1);
    route_free(&route);
}
END_TEST

START_TEST(owners_of_a_cluster_may_leave_slots_out)
{
    struct route_shard_spec shards[] = {shard("a", 1), shard("b", 1)};
    uint16_t owners[ROUTE_SLOTS];
    struct route_spec spec = spec_of(shards, 2);
    for (int i = 0; i < ROUTE_SLOTS; i++)
        owners[i] = i == 12182 ? 1 : i == 5061 ? 0 : ROUTE_NO_OWNER;
    spec.slot_owners = owners;
    struct route *route = make_route(&spec);

    ck_assert_uint_eq(find(route, "foo"), 1);
    ck_assert_uint_eq(find(route, "bar"), 0);
    ck_assert_uint_eq(find(route, "other"), ROUTE_NONE);
    route_free(&route);
    owners[7] = 2;
    expect_refused(&spec, "slot 7", "owner");
}
END_TEST

START_TEST(cluster_that_is_not_known_yet_serves_nothing)
{
    uint16_t owners[ROUTE_SLOTS];
    struct route_spec spec = spec_of(NULL, 0);
    memset(owners, 0xff, sizeof(owners));
    spec.slot_owners = owners;
    struct route *route = make_route(&spec);

    ck_assert_uint_eq(find(route, "foo"), ROUTE_NONE);
    ck_assert_uint_eq(route_slot(route, VIEW("foo")), 12182);
    route_free(&route);
}
END_TEST

START_TEST(explanation_names_tag_and_slot)
{
    struct route *route = split_route(3);

    expect_explained(route, VIEW("a{foo}b"),
                     "tag=\"foo\" slot=12182 shard=2 name=n2");
    route_free(&route);
}
END_TEST

int
main(void)
{
    const TTest *const tests[] = {
        slots_are_those_of_redis_cluster,
        slot_of_a_cluster_needs_no_route,
        tag_of_slots_is_always_braces,
        even_split_is_that_of_redis_cli,
        even_split_leaves_no_server_without_slots,
        written_slots_go_where_they_are_written,
        slots_given_twice_are_refused_by_name,
        slots_that_nobody_has_are_refused,
        slots_that_nobody_has_go_to_the_default,
        spans_that_make_no_sense_are_refused,
        dead_server_keeps_its_slots,
        owners_of_a_cluster_may_leave_slots_out,
        cluster_that_is_not_known_yet_serves_nothing,
        explanation_names_tag_and_slot,
    };

    return run_tests("slots", tests, ARRAY_LEN(tests));
}
