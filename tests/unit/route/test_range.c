/*
 * Ranges of numbers and of bytes: ends, gaps, overlaps, odd keys.
 */
#include "route_test.h"

static struct range_spec
numbers(uint64_t from, uint64_t to)
{
    return (struct range_spec){.from_number = from, .to_number = to};
}

/* NULL for `before`: no upper end. */
static struct range_spec
texts(const char *from, const char *before)
{
    struct range_spec range = {.from_bytes = view_str(from),
                               .no_before = before == NULL};

    if (before != NULL)
        range.before_bytes = view_str(before);
    return range;
}

static struct route_shard_spec
owner(const char *name, const struct range_spec *ranges, size_t count)
{
    struct route_shard_spec made = shard(name, 1);

    made.ranges = ranges;
    made.range_count = count;
    return made;
}

static struct route_spec
spec_of(enum range_by by, const struct route_shard_spec *shards, size_t count)
{
    return (struct route_spec){.distribution = DISTRIBUTION_RANGE,
                               .range_by = by,
                               .shards = shards,
                               .shard_count = count};
}

/* low: 1-1000; high: 1001-2000 and 5000-; nothing between. */
static const struct range_spec low[] = {{.from_number = 1, .to_number = 1000}};
static const struct range_spec high[] = {
    {.from_number = 5000, .to_number = UINT64_MAX},
    {.from_number = 1001, .to_number = 2000},
};

START_TEST(numbers_are_inclusive_at_both_ends)
{
    struct route_shard_spec shards[] = {owner("high", high, 2),
                                        owner("low", low, 1)};
    struct route_spec spec = spec_of(RANGE_BY_NUMBER, shards, 2);
    struct route *route = make_route(&spec);

    ck_assert_uint_eq(find(route, "1"), 1);
    ck_assert_uint_eq(find(route, "1000"), 1);
    ck_assert_uint_eq(find(route, "1001"), 0);
    ck_assert_uint_eq(find(route, "2000"), 0);
    ck_assert_uint_eq(find(route, "5000"), 0);
    ck_assert_uint_eq(find(route, "18446744073709551615"), 0);
    route_free(&route);
}
END_TEST

START_TEST(number_is_the_first_run_of_digits)
{
    struct route_shard_spec shards[] = {owner("low", low, 1),
                                        owner("high", high, 2)};
    struct route_spec spec = spec_of(RANGE_BY_NUMBER, shards, 2);
    spec.has_tag = true;
    memcpy(spec.tag, "{}", 2);
    struct route *route = make_route(&spec);

    ck_assert_uint_eq(find(route, "user:7:1500"), 0);
    ck_assert_uint_eq(find(route, "user:1500:7"), 1);
    ck_assert_uint_eq(find(route, "u1500"), 1);
    ck_assert_uint_eq(find(route, "-1500"), 1);
    ck_assert_uint_eq(find(route, "0000000000000000000000000000007x"), 0);
    ck_assert_uint_eq(find(route, "7.5"), 0);
    /* In the tag, if there is one. */
    ck_assert_uint_eq(find(route, "7:{user:1500}"), 1);
    ck_assert_uint_eq(find(route, "7:{}"), 0);
    route_free(&route);
}
END_TEST

START_TEST(keys_outside_every_range_are_refused)
{
    static const char *const outside[] = {"",
                                          "name",
                                          "{}",
                                          "\xc2\xb2",
                                          "0",
                                          "2001",
                                          "4999",
                                          "user:0",
                                          "18446744073709551616",
                                          "99999999999999999999999999",
                                          "n:0:7"};
    struct route_shard_spec shards[] = {owner("low", low, 1),
                                        owner("high", high, 2)};
    struct route_spec spec = spec_of(RANGE_BY_NUMBER, shards, 2);
    struct route *route = make_route(&spec);

    for (size_t i = 0; i < ARRAY_LEN(outside); i++)
        ck_assert_msg(find(route, outside[i]) == ROUTE_NONE, "%s", outside[i]);
    route_free(&route);
}
END_TEST

START_TEST(keys_outside_every_range_go_to_the_default)
{
    struct route_shard_spec shards[] = {owner("low", low, 1),
                                        owner("high", high, 2),
                                        owner("rest", NULL, 0)};
    shards[2].is_default = true;
    struct route_spec spec = spec_of(RANGE_BY_NUMBER, shards, 3);
    struct route *route = make_route(&spec);

    ck_assert_uint_eq(find(route, "name"), 2);
    ck_assert_uint_eq(find(route, "0"), 2);
    ck_assert_uint_eq(find(route, "3000"), 2);
    ck_assert_uint_eq(find(route, "99999999999999999999999999"), 2);
    ck_assert_uint_eq(find(route, "500"), 0);
    route_free(&route);
}
END_TEST

START_TEST(number_reads_the_key_and_nothing_else)
{
    struct route_shard_spec shards[] = {owner("low", low, 1),
                                        owner("high", high, 2)};
    struct route_spec spec = spec_of(RANGE_BY_NUMBER, shards, 2);
    struct route *route = make_route(&spec);
    char *end = guarded_end();
    struct view key = VIEW("user:1500:name");
    uint64_t dice = 0;

    for (size_t cut = 0; cut <= key.len; cut++) {
        struct view copy = guarded(end, view_of(key.data, cut));
        /* "", then "1", "15", "150" and "1500". */
        uint32_t expected = cut < 6 ? ROUTE_NONE : cut < 9 ? 0 : 1;
        ck_assert_uint_eq(route_find(route, copy, &dice), expected);
    }
    route_free(&route);
}
END_TEST

START_TEST(bytes_include_from_and_exclude_before)
{
    struct range_spec first[] = {texts("", "g")};
    struct range_spec second[] = {texts("g", "p"), texts("x", NULL)};
    struct route_shard_spec shards[] = {owner("first", first, 1),
                                        owner("second", second, 2)};
    struct route_spec spec = spec_of(RANGE_BY_BYTES, shards, 2);
    struct route *route = make_route(&spec);
    uint64_t dice = 0;

    ck_assert_uint_eq(find(route, ""), 0);
    ck_assert_uint_eq(find(route, "apple"), 0);
    ck_assert_uint_eq(find(route, "fzzzz"), 0);
    ck_assert_uint_eq(find(route, "g"), 1);
    ck_assert_uint_eq(find(route, "ozzzz"), 1);
    ck_assert_uint_eq(find(route, "p"), ROUTE_NONE);
    ck_assert_uint_eq(find(route, "wzzzz"), ROUTE_NONE);
    ck_assert_uint_eq(find(route, "x"), 1);
    /* Bytes are unsigned, and may be 0. */
    ck_assert_uint_eq(find(route, "\xff\xff"), 1);
    ck_assert_uint_eq(route_find(route, VIEW("\0"), &dice), 0);
    ck_assert_uint_eq(route_find(route, VIEW("g\0"), &dice), 1);
    route_free(&route);
}
END_TEST

START_TEST(table_keeps_its_own_bytes)
{
    char from[] = "a", before[] = "m", name[] = "owner";
    struct range_spec range[] = {texts(from, before)};
    struct route_shard_spec shards[] = {owner(name, range, 1)};
    struct route_spec spec = spec_of(RANGE_BY_BYTES, shards, 1);
    struct route *route = make_route(&spec);
    from[0] = before[0] = name[0] = 'z';

    ck_assert_uint_eq(find(route, "b"), 0);
    ck_assert_uint_eq(find(route, "n"), ROUTE_NONE);
    expect_explained(route, VIEW("b"),
                     "tag=\"b\" range=\"a\"..\"m\" shard=0 name=owner");
    route_free(&route);
}
END_TEST

START_TEST(many_ranges_are_searched_right)
{
    struct range_spec ranges[2][100];
    /* 0-9 first, 10-19 second, 20-29 first ... written in any order. */
    for (uint64_t i = 0; i < 200; i++) {
        uint64_t at = (i * 77) % 200;
        ranges[at % 2][i / 2] = numbers(at * 10, at * 10 + 9);
    }
    struct route_shard_spec shards[] = {owner("even", ranges[0], 100),
                                        owner("odd", ranges[1], 100)};
    struct route_spec spec = spec_of(RANGE_BY_NUMBER, shards, 2);
    struct route *route = make_route(&spec);

    for (unsigned i = 0; i < 2000; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%u", i);
        ck_assert_uint_eq(find(route, key), i / 10 % 2);
    }
    ck_assert_uint_eq(find(route, "2000"), ROUTE_NONE);
    route_free(&route);
}
END_TEST

static void
expect_overlap(enum range_by by, struct range_spec a, struct range_spec b,
               const char *word)
{
    struct route_shard_spec shards[] = {owner("one", &a, 1),
                                        owner("two", &b, 1)};
    struct route_spec spec = spec_of(by, shards, 2);

    expect_refused(&spec, "\"one\"", "\"two\"");
    expect_refused(&spec, "overlap", word);
}

START_TEST(overlaps_are_refused_by_name)
{
    expect_overlap(RANGE_BY_NUMBER, numbers(1, 10), numbers(10, 20), "10-20");
    expect_overlap(RANGE_BY_NUMBER, numbers(10, 20), numbers(1, 10), "1-10");
    expect_overlap(RANGE_BY_NUMBER, numbers(5, 5), numbers(5, 5), "5-5");
    expect_overlap(RANGE_BY_NUMBER, numbers(0, UINT64_MAX), numbers(7, 8),
                   "7-8");
    expect_overlap(RANGE_BY_BYTES, texts("a", "n"), texts("m", "z"),
                   "\"m\"..\"z\"");
    expect_overlap(RANGE_BY_BYTES, texts("", NULL), texts("m", "z"), "\"\"..");
    expect_overlap(RANGE_BY_BYTES, texts("a", NULL), texts("a", "b"),
                   "\"a\"..\"b\"");
}
END_TEST

START_TEST(overlaps_within_a_server_are_refused)
{
    struct range_spec ranges[] = {numbers(1, 10), numbers(20, 30),
                                  numbers(25, 27)};
    struct route_shard_spec shards[] = {owner("one", ranges, 3)};
    struct route_spec spec = spec_of(RANGE_BY_NUMBER, shards, 1);

    expect_refused(&spec, "20-30", "25-27");
}
END_TEST

START_TEST(neighbours_do_not_overlap)
{
    struct range_spec a = texts("", "m"), b = texts("m", NULL);
    struct route_shard_spec shards[] = {owner("a", &a, 1), owner("b", &b, 1)};
    struct route_spec spec = spec_of(RANGE_BY_BYTES, shards, 2);
    struct route *route = make_route(&spec);

    ck_assert_uint_eq(find(route, "l"), 0);
    ck_assert_uint_eq(find(route, "m"), 1);
    route_free(&route);
}
END_TEST

START_TEST(empty_ranges_are_refused)
{
    struct range_spec backwards = numbers(10, 9), nothing = texts("b", "b");
    struct route_shard_spec shards[] = {owner("one", &backwards, 1)};
    struct route_spec spec = spec_of(RANGE_BY_NUMBER, shards, 1);

    expect_refused(&spec, "10-9", "\"one\"");
    shards[0] = owner("one", &nothing, 1);
    spec.range_by = RANGE_BY_BYTES;
    expect_refused(&spec, "\"b\"..\"b\"", "\"one\"");
}
END_TEST

START_TEST(no_ranges_at_all_and_two_defaults_are_refused)
{
    struct route_shard_spec shards[] = {owner("one", NULL, 0),
                                        owner("two", NULL, 0)};
    struct route_spec spec = spec_of(RANGE_BY_NUMBER, shards, 2);

    expect_refused(&spec, "no server", "range");
    shards[0].is_default = shards[1].is_default = true;
    expect_refused(&spec, "\"one\"", "\"two\"");
}
END_TEST

START_TEST(dead_server_keeps_its_range)
{
    struct route_shard_spec shards[] = {owner("low", low, 1),
                                        owner("high", high, 2)};
    shards[0].live = false;
    struct route_spec spec = spec_of(RANGE_BY_NUMBER, shards, 2);
    struct route *route = make_route(&spec);

    ck_assert_uint_eq(find(route, "7"), 0);
    route_free(&route);
}
END_TEST

START_TEST(explanation_names_number_and_range)
{
    struct route_shard_spec shards[] = {owner("low", low, 1),
                                        owner("high", high, 2)};
    struct route_spec spec = spec_of(RANGE_BY_NUMBER, shards, 2);
    struct route *route = make_route(&spec);

    expect_explained(route, VIEW("user:7"),
                     "tag=\"user:7\" number=7 range=1-1000 shard=0 name=low");
    expect_explained(route, VIEW("user:3000"),
                     "tag=\"user:3000\" number=3000 range=none shard=none");
    expect_explained(route, VIEW("user"),
                     "tag=\"user\" number=none shard=none");
    route_free(&route);
}
END_TEST

static void
expect_gap(const struct route_spec *spec, const char *ranges)
{
    struct route *route = make_route(spec);
    struct buf text = {0};

    ck_assert(route_gap(route, &text) == (ranges != NULL));
    if (ranges != NULL)
        ck_assert(view_equal(buf_view(&text), view_str(ranges)));
    buf_fini(&text);
    route_free(&route);
}

START_TEST(gap_between_ranges_is_found)
{
    struct route_shard_spec shards[] = {owner("high", high, 2),
                                        owner("low", low, 1)};
    struct route_spec spec = spec_of(RANGE_BY_NUMBER, shards, 2);

    expect_gap(&spec, "1001-2000 of \"high\" and 5000-18446744073709551615 of "
                      "\"high\"");
    shards[1].is_default = true;
    expect_gap(&spec, NULL);
    spec.shards = &shards[1];
    spec.shard_count = 1;
    shards[1].is_default = false;
    expect_gap(&spec, NULL);
}
END_TEST

START_TEST(gap_between_texts_is_found)
{
    const struct range_spec first = texts("", "m"), next = texts("m", "t"),
                            last = texts("tt", NULL);
    struct route_shard_spec shards[] = {owner("a", &first, 1),
                                        owner("b", &next, 1),
                                        owner("c", &last, 1)};
    struct route_spec spec = spec_of(RANGE_BY_BYTES, shards, 3);

    expect_gap(&spec, "\"m\"..\"t\" of \"b\" and \"tt\".. of \"c\"");
    spec.shard_count = 2;
    expect_gap(&spec, NULL);
}
END_TEST

START_TEST(other_distributions_have_no_gaps)
{
    struct route_shard_spec shards[] = {shard("a", 1), shard("b", 1)};
    struct route_spec spec = {.distribution = DISTRIBUTION_KETAMA,
                              .shards = shards,
                              .shard_count = 2};

    expect_gap(&spec, NULL);
}
END_TEST

int
main(void)
{
    const TTest *const tests[] = {
        numbers_are_inclusive_at_both_ends,
        number_is_the_first_run_of_digits,
        keys_outside_every_range_are_refused,
        keys_outside_every_range_go_to_the_default,
        number_reads_the_key_and_nothing_else,
        bytes_include_from_and_exclude_before,
        table_keeps_its_own_bytes,
        many_ranges_are_searched_right,
        overlaps_are_refused_by_name,
        overlaps_within_a_server_are_refused,
        neighbours_do_not_overlap,
        empty_ranges_are_refused,
        no_ranges_at_all_and_two_defaults_are_refused,
        dead_server_keeps_its_range,
        explanation_names_number_and_range,
        gap_between_ranges_is_found,
        gap_between_texts_is_found,
        other_distributions_have_no_gaps,
    };

    return run_tests("range", tests, ARRAY_LEN(tests));
}
