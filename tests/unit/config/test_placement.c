/*
 * tests/unit/config/test_placement.c - ranges, slots, and keys that have no
 * effect where they stand.
 */
#include "config_case.h"

#define HEAD "a:\n  listen: h:1\n"
#define RANGE HEAD "  distribution: range\n"
#define BYTES RANGE "  range_by: bytes\n"
#define SLOTS HEAD "  distribution: slots\n"

#define GAP(line, ranges) \
    "t.yml:" line ": warning: a.servers: keys between " ranges " belong to no " \
    "server and are refused; one with default: true would have them\n"

/* The name of the server that has the key, "-" for none. */
static void
expect_server(const struct pool_settings *pool, const char *key,
              const char *name)
{
    struct error error;
    uint64_t dice = 1;
    struct route *route = settings_make_route(pool, &error);

    ck_assert_ptr_nonnull(route);
    uint32_t shard = route_find(route, view_str(key), &dice);
    ck_assert_str_eq(shard == ROUTE_NONE ? "-" : pool->servers[shard].name,
                     name);
    route_free(&route);
}

START_TEST(ranges_by_number_include_both_ends)
{
    struct config_case c;
    const struct pool_settings *pool = case_pool_with(
        &c, GAP("5:3", "10-19 of \"mid\" and 30-18446744073709551615 of \"top\""),
        RANGE "  range_by: number\n  servers:\n"
                  "    - {name: low, address: h:1, to: 9}\n"
                  "    - {name: mid, address: h:1, from: 10, to: 19}\n"
                  "    - {name: top, address: h:2, from: 30}\n");

    expect_server(pool, "user:0", "low");
    expect_server(pool, "user:9", "low");
    expect_server(pool, "user:10", "mid");
    expect_server(pool, "user:19", "mid");
    expect_server(pool, "user:20", "-");
    expect_server(pool, "user:30", "top");
    expect_server(pool, "18446744073709551615", "top");
    expect_server(pool, "user", "-");
    case_fini(&c);
}
END_TEST

START_TEST(ranges_by_bytes_end_before_the_next_key)
{
    struct config_case c;
    const struct pool_settings *pool = case_pool_with(
        &c, GAP("5:3", "\"m\"..\"m\\x00\" of \"mid\" and \"n\".. of \"top\""),
        BYTES "  servers:\n"
                  "    - {name: low, address: h:1, before: m}\n"
                  "    - {name: mid, address: h:1, from: m, before: \"m\\0\"}\n"
                  "    - {name: top, address: h:2, from: n}\n");

    expect_server(pool, "", "low");
    expect_server(pool, "lzz", "low");
    expect_server(pool, "m", "mid");
    expect_server(pool, "ma", "-");
    expect_server(pool, "n", "top");
    expect_server(pool, "\xff\xff", "top");
    case_fini(&c);
}
END_TEST

START_TEST(server_may_have_many_ranges_and_one_the_rest)
{
    struct config_case c;
    const struct pool_settings *pool = case_pool(
        &c, RANGE "  servers:\n"
                  "    - {name: x, address: h:1, ranges: [{from: 1, to: 2},"
                  " {from: 5, to: 6}]}\n"
                  "    - {name: y, address: h:1, default: true}\n");

    ck_assert_uint_eq(pool->servers[0].range_count, 2);
    expect_server(pool, "2", "x");
    expect_server(pool, "3", "y");
    expect_server(pool, "5", "x");
    expect_server(pool, "none", "y");
    case_fini(&c);
}
END_TEST

START_TEST(slots_are_given_as_text_or_list)
{
    struct config_case c;
    const struct pool_settings *pool = case_pool(
        &c, SLOTS "  servers:\n"
                  "    - {name: x, address: h:1, slots: 0-100}\n"
                  "    - {name: y, address: h:1, slots: \"101, 103-200\"}\n"
                  "    - {name: z, address: h:1, slots: [102, 201-16383]}\n");

    ck_assert_uint_eq(pool->servers[1].slot_count, 2);
    ck_assert_uint_eq(pool->servers[1].slots[0].first, 101);
    ck_assert_uint_eq(pool->servers[1].slots[0].last, 101);
    ck_assert_uint_eq(pool->servers[1].slots[1].last, 200);
    ck_assert_uint_eq(pool->servers[2].slot_count, 2);
    expect_server(pool, "foo", "z"); /* slot 12182 */
    case_fini(&c);
}
END_TEST

START_TEST(slots_fix_hash_and_tag_and_may_be_split_evenly)
{
    struct config_case c;
    const struct pool_settings *pool = case_pool(
        &c, SLOTS "  hash_tag: '{}'\n  servers: [h:1:1 x, h:2:1 y]\n");

    ck_assert_int_eq(pool->hash, HASH_CRC16_REDIS);
    ck_assert(pool->has_tag);
    ck_assert_int_eq(memcmp(pool->tag, "{}", 2), 0);
    expect_server(pool, "foo", "y");
    expect_server(pool, "x{foo}", "y");
    expect_server(pool, "bar", "x"); /* slot 5061 */
    case_fini(&c);
}
END_TEST

START_TEST(map_without_a_name_is_called_as_a_line_would_be)
{
    struct config_case c;
    const struct pool_settings *pool = case_pool(
        &c, HEAD "  redis: true\n"
                 "  servers: [{address: h:1}, {address: h:11211},"
                 " {address: /s}, {address: '[::1]:5', weight: 7}]\n");

    ck_assert_str_eq(pool->servers[0].name, "h:1");
    ck_assert_str_eq(pool->servers[1].name, "h");
    ck_assert_str_eq(pool->servers[2].name, "/s:");
    ck_assert_str_eq(pool->servers[3].name, "[::1]:5");
    ck_assert_str_eq(pool->servers[3].address.host, "::1");
    ck_assert_uint_eq(pool->servers[3].weight, 7);
    case_fini(&c);
}
END_TEST

struct refusal {
    const char *text;
    const char *message;
};

static const struct refusal refusals[] = {
    {RANGE "  servers: [{address: h:1, from: 5, to: 4}]\n",
     "t.yml:4:41: error: a.servers.to: found \"4\", allowed a number not below "
     "that of from\n"},
    {RANGE "  servers: [{address: h:1, from: x}]\n",
     "t.yml:4:34: error: a.servers.from: found \"x\", allowed a number from 0 "
     "to 18446744073709551615\n"},
    {RANGE "  servers: [{address: h:1, from: 1, before: 2}]\n",
     "t.yml:4:37: error: a.servers.before: found with range_by: number, "
     "allowed to:, whose number is part of the range\n"},
    {BYTES "  servers: [{address: h:1, from: a, to: b}]\n",
     "t.yml:5:37: error: a.servers.to: found with range_by: bytes, allowed "
     "before:, the first key behind the range\n"},
    {BYTES "  servers: [{address: h:1, from: b, before: b}]\n",
     "t.yml:5:45: error: a.servers.before: found \"b\", allowed a text behind "
     "that of from\n"},
    {BYTES "  servers: [{address: h:1, from: [b]}]\n",
     "t.yml:5:34: error: a.servers.from: found a list, allowed a text\n"},
    {RANGE "  servers: [{address: h:1, ranges: 1}]\n",
     "t.yml:4:36: error: a.servers.ranges: found \"1\", allowed a list of "
     "{from: X, to: Y}\n"},
    {RANGE "  servers: [{address: h:1, ranges: [1-2]}]\n",
     "t.yml:4:37: error: a.servers.ranges: found \"1-2\", allowed {from: X, "
     "to: Y}\n"},
    {RANGE "  servers: [{address: h:1, from: 1, ranges: [{to: 2}]}]\n",
     "t.yml:4:37: error: a.servers.ranges: found together with from, to or "
     "before, allowed one or the other\n"},
    {RANGE "  servers: [{address: h:1, ranges: [{form: 2}]}]\n",
     "t.yml:4:38: error: a.servers.form: found an unknown key, allowed the "
     "keys of pointsman.yml(5); did you mean from?\n"},
    {RANGE "  servers: [{address: h:1, default: 1}]\n",
     "t.yml:4:37: error: a.servers.default: found \"1\", allowed true or "
     "false\n"
     "t.yml:4:13: error: a.servers: found a server without a range, allowed "
     "{name: X, address: Y, from: A, to: B} or one with default: true\n"},
    {RANGE "  servers: [h:1:1]\n",
     "t.yml:4:13: error: a.servers: found a server without a range, allowed "
     "{name: X, address: Y, from: A, to: B} or one with default: true\n"},
    {HEAD "  distribution: range\n  range_by: letters\n"
          "  servers: [{address: h:1, from: 5}]\n",
     "t.yml:4:13: error: a.range_by: found \"letters\", allowed number or "
     "bytes\n"},
    {SLOTS "  servers: [{address: h:1, slots: 0-16384}]\n",
     "t.yml:4:35: error: a.servers.slots: found \"0-16384\", allowed slots "
     "from 0 to 16383 such as 5, 0-8191 or 0-100,200\n"},
    {SLOTS "  servers: [{address: h:1, slots: 5-4}]\n",
     "t.yml:4:35: error: a.servers.slots: found \"5-4\", allowed slots from 0 "
     "to 16383 such as 5, 0-8191 or 0-100,200\n"},
    {SLOTS "  servers: [{address: h:1, slots: [0-16383, -5]}]\n",
     "t.yml:4:45: error: a.servers.slots: found \"-5\", allowed slots from 0 "
     "to 16383 such as 5, 0-8191 or 0-100,200\n"},
    {SLOTS "  servers: [{address: h:1, slots: '1,,2'}]\n",
     "t.yml:4:35: error: a.servers.slots: found \"1,,2\", allowed slots from "
     "0 to 16383 such as 5, 0-8191 or 0-100,200\n"},
    {SLOTS "  servers: [{address: h:1, slots: '1-'}]\n",
     "t.yml:4:35: error: a.servers.slots: found \"1-\", allowed slots from 0 "
     "to 16383 such as 5, 0-8191 or 0-100,200\n"},
    /* Keys without effect. */
    {SLOTS "  hash: md5\n  servers: [h:1:1]\n",
     "t.yml:4:3: error: a.hash: found with distribution slots, where it has "
     "no effect, allowed with ketama, modula, modulo\n"},
    {SLOTS "  hash_chars: signed\n  servers: [h:1:1]\n",
     "t.yml:4:3: error: a.hash_chars: found with distribution slots, where it "
     "has no effect, allowed with ketama, modula, modulo\n"},
    {SLOTS "  hash_tag: '[]'\n  servers: [h:1:1]\n",
     "t.yml:4:13: error: a.hash_tag: found \"[]\", allowed \"{}\" with "
     "distribution slots, or to leave it out\n"},
    {SLOTS "  range_by: number\n  servers: [h:1:1]\n",
     "t.yml:4:3: error: a.range_by: found with distribution slots, where it "
     "has no effect, allowed with range\n"},
    {SLOTS "  servers: [{address: h:1, weight: 2}]\n",
     "t.yml:4:28: error: a.servers.weight: found with distribution slots, "
     "where it has no effect, allowed with ketama, modula\n"},
    {SLOTS "  servers: [{address: h:1, from: 2}]\n",
     "t.yml:4:28: error: a.servers.from: found with distribution slots, where "
     "it has no effect, allowed with range\n"},
    {HEAD "  redis: true\n  servers: [{address: h:1, slots: 1}]\n",
     "t.yml:4:28: error: a.servers.slots: found with distribution ketama, "
     "where it has no effect, allowed with slots\n"},
    {HEAD "  redis: true\n  servers: [{address: h:1, default: true}]\n",
     "t.yml:4:28: error: a.servers.default: found with distribution ketama, "
     "where it has no effect, allowed with range\n"},
    {HEAD "  distribution: modulo\n  servers: [{address: h:1, weight: 1}]\n",
     "t.yml:4:28: error: a.servers.weight: found with distribution modulo, "
     "where it has no effect, allowed with ketama, modula\n"},
    {RANGE "  hash: md5\n  servers: [{address: h:1, from: 2}]\n",
     "t.yml:4:3: error: a.hash: found with distribution range, where it has "
     "no effect, allowed with ketama, modula, modulo\n"},
};

START_TEST(range_slot_or_key_that_makes_no_sense_is_refused)
{
    expect_refused(refusals[_i].text, refusals[_i].message);
}
END_TEST

/* What the route finds is told at the list of servers, in its own words. */
static void
expect_route_refuses(const char *text, const char *place)
{
    struct config_case c = case_parse(text);

    ck_assert_ptr_null(c.settings);
    ck_assert_msg(strncmp(c.messages.data, place, strlen(place)) == 0, "%s",
                  c.messages.data);
    case_fini(&c);
}

START_TEST(overlaps_and_slots_of_nobody_are_refused)
{
    expect_route_refuses(
        RANGE "  servers: [{name: x, address: h:1, from: 1, to: 5}, "
              "{name: y, address: h:1, from: 5}]\n",
        "t.yml:4:3: error: a.servers: ");
    expect_route_refuses(
        RANGE "  servers: [{name: x, address: h:1, from: 1, default: true}, "
              "{name: y, address: h:1, default: true}]\n",
        "t.yml:4:3: error: a.servers: ");
    expect_route_refuses(
        SLOTS "  servers: [{name: x, address: h:1, slots: 0-5}, "
              "{name: y, address: h:1, slots: 5-16383}]\n",
        "t.yml:4:3: error: a.servers: ");
    expect_route_refuses(
        SLOTS "  servers: [{name: x, address: h:1, slots: 0-5}, "
              "{name: y, address: h:1, slots: 7-16383}]\n",
        "t.yml:4:3: error: a.servers: ");
}
END_TEST

START_TEST(keys_of_twemproxy_without_effect_are_only_warned_of)
{
    expect_messages(HEAD "  redis: true\n  distribution: random\n"
                         "  hash: md5\n  hash_tag: '{}'\n  servers: [h:1:1]\n",
                    "t.yml:5:3: warning: a.hash: has no effect with "
                    "distribution random\n"
                    "t.yml:6:3: warning: a.hash_tag: has no effect with "
                    "distribution random\n");
}
END_TEST

#define CLUSTER "a:\n  listen: h:1\n  distribution: slots\n" \
                "  cluster: [h:7000, '[::1]:7001']\n"

START_TEST(cluster_is_given_by_seeds_in_place_of_servers)
{
    struct config_case c =
        case_parse(CLUSTER "  read_from: zone\n  zone: z1\n");

    expect_accepted(&c, "read_from: zone");
    const struct pool_settings *pool = &c.settings->pools[0];
    ck_assert(pool_is_cluster(pool));
    ck_assert_uint_eq(pool->seed_count, 2);
    ck_assert_str_eq(pool->seeds[1].host, "::1");
    ck_assert_uint_eq(pool->seeds[1].port, 7001);
    ck_assert_uint_eq(pool->server_count, 0);
    ck_assert_int_eq(pool->read_from, READ_FROM_ZONE);
    case_fini(&c);
}
END_TEST

START_TEST(cluster_may_be_emulated_by_any_pool)
{
    struct config_case c =
        case_parse("a:\n  listen: h:1\n  redis: true\n"
                   "  cluster_emulation: true\n"
                   "  announce: '[::1]:7000'\n  servers: [h:1:1]\n");

    expect_accepted(&c, "announce: [::1]:7000");
    const struct pool_settings *pool = &c.settings->pools[0];
    ck_assert(pool->cluster_emulation);
    ck_assert_str_eq(pool->announce.host, "::1");
    ck_assert_uint_eq(pool->announce.port, 7000);
    case_fini(&c);
}
END_TEST

START_TEST(cluster_that_makes_no_sense_is_refused)
{
    expect_refused(CLUSTER "  servers: [h:1:1]\n",
                   "t.yml:5:3: error: a.servers: found together with cluster, "
                   "allowed one of the two\n");
    expect_refused("a:\n  listen: h:1\n  redis: true\n  cluster: [h:1]\n",
                   "t.yml:4:3: error: a.cluster: found with distribution "
                   "ketama, allowed with slots\n");
    expect_refused(CLUSTER "  read_from: zone\n",
                   "t.yml:5:3: error: a.read_from: found zone without the key "
                   "zone, allowed only together with it\n");
    expect_refused(SLOTS "  read_from: replica\n  servers: [h:1:1]\n",
                   "t.yml:4:3: error: a.read_from: found without cluster or "
                   "sentinels, allowed only together with one of them\n");
    expect_refused(SLOTS "  zones: {1.2.3.4: z}\n  servers: [h:1:1]\n",
                   "t.yml:4:3: error: a.zones: found without cluster or "
                   "sentinels, allowed only together with one of them\n");
    expect_refused(SLOTS "  zone: z\n  servers: [h:1:1]\n",
                   "t.yml:4:3: error: a.zone: found without cluster or "
                   "sentinels, allowed only together with one of them\n");
    expect_refused(SLOTS "  replica_max_lag: 1s\n  servers: [h:1:1]\n"
                         "  replica_check_interval: 1s\n",
                   "t.yml:4:3: error: a.replica_max_lag: found without "
                   "cluster or sentinels, allowed only together with one of "
                   "them\n"
                   "t.yml:6:3: error: a.replica_check_interval: found without "
                   "cluster or sentinels, allowed only together with one of "
                   "them\n");
    expect_refused(SLOTS "  cluster_refresh_interval: 1s\n"
                         "  cluster_refresh_min: 1s\n  servers: [h:1:1]\n",
                   "t.yml:4:3: error: a.cluster_refresh_interval: found "
                   "without cluster, allowed only together with it\n"
                   "t.yml:5:3: error: a.cluster_refresh_min: found without "
                   "cluster, allowed only together with it\n");
    expect_refused(CLUSTER "  read_from: whoever\n",
                   "t.yml:5:14: error: a.read_from: found \"whoever\", allowed"
                   " primary, replica, prefer_replica, nearest or zone\n");
    expect_refused("a:\n  listen: h:1\n  distribution: slots\n"
                   "  cluster: [/path]\n",
                   "t.yml:4:13: error: a.cluster: found \"/path\", allowed "
                   "host:port or [v6]:port\n");
    expect_refused(CLUSTER "  announce: h:1\n",
                   "t.yml:5:3: error: a.announce: found without "
                   "cluster_emulation, allowed only together with it\n");
    expect_refused(CLUSTER "  announce: 7000\n  cluster_emulation: true\n",
                   "t.yml:5:13: error: a.announce: found \"7000\", allowed "
                   "host:port or [v6]:port\n");
}
END_TEST

/* Each differs from the first in where some key belongs, or in who has it. */
static const char *const placed[] = {
    BYTES "  servers:\n    - {name: x, address: h:1, before: m}\n"
          "    - {name: y, address: h:2, from: m}\n",
    BYTES "  servers:\n    - {name: x, address: h:1, before: n}\n"
          "    - {name: y, address: h:2, from: n}\n",
    BYTES "  servers:\n    - {name: y, address: h:2, from: m}\n"
          "    - {name: x, address: h:1, before: m}\n",
    BYTES "  servers:\n    - {name: x, address: h:1, default: true}\n",
    HEAD "  distribution: ketama\n  servers: [h:1:1 x, h:2:1 y]\n",
    HEAD "  distribution: ketama\n  servers: [h:1:1 x, h:2:2 y]\n",
    HEAD "  distribution: ketama\n  hash: murmur\n"
         "  servers: [h:1:1 x, h:2:1 y]\n",
    HEAD "  distribution: ketama\n  hash_tag: \"{}\"\n"
         "  servers: [h:1:1 x, h:2:1 y]\n",
    SLOTS "  servers:\n    - {name: x, address: h:1, slots: 0-99}\n"
          "    - {name: y, address: h:2, slots: 100-16383}\n",
    SLOTS "  servers:\n    - {name: x, address: h:1, slots: 0-9}\n"
          "    - {name: y, address: h:2, slots: 10-16383}\n",
};

START_TEST(pools_are_told_apart_by_where_keys_belong)
{
    struct config_case one = case_parse(placed[_i]);

    expect_accepted(&one, placed[_i]);
    for (size_t i = 0; i < ARRAY_LEN(placed); i++) {
        struct config_case other = case_parse(placed[i]);
        expect_accepted(&other, placed[i]);
        ck_assert_int_eq(settings_route_alike(&one.settings->pools[0],
                                              &other.settings->pools[0]),
                         i == (size_t)_i);
        case_fini(&other);
    }
    case_fini(&one);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("placement");

    tcase_add_test(tcase, ranges_by_number_include_both_ends);
    tcase_add_test(tcase, ranges_by_bytes_end_before_the_next_key);
    tcase_add_test(tcase, server_may_have_many_ranges_and_one_the_rest);
    tcase_add_test(tcase, slots_are_given_as_text_or_list);
    tcase_add_test(tcase, slots_fix_hash_and_tag_and_may_be_split_evenly);
    tcase_add_test(tcase, map_without_a_name_is_called_as_a_line_would_be);
    tcase_add_loop_test(tcase,
                        range_slot_or_key_that_makes_no_sense_is_refused, 0,
                        ARRAY_LEN(refusals));
    tcase_add_loop_test(tcase, pools_are_told_apart_by_where_keys_belong, 0,
                        ARRAY_LEN(placed));
    tcase_add_test(tcase, overlaps_and_slots_of_nobody_are_refused);
    tcase_add_test(tcase, cluster_may_be_emulated_by_any_pool);
    tcase_add_test(tcase, cluster_is_given_by_seeds_in_place_of_servers);
    tcase_add_test(tcase, cluster_that_makes_no_sense_is_refused);
    tcase_add_test(tcase, keys_of_twemproxy_without_effect_are_only_warned_of);
    return unit_run("config", tcase);
}
