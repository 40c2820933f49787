/*
 * Which part of a key counts: twemproxy's rule in all its corners.
 */
#include "route_test.h"

struct tag_case {
    const char *tag, *key, *part;
};

static const struct tag_case cases[] = {
    {"{}", "user:{42}:name", "42"},
    {"{}", "{42}", "42"},
    {"{}", "plain", "plain"},
    {"{}", "", ""},
    /* An empty tag is none, and there is no second attempt. */
    {"{}", "{}", "{}"},
    {"{}", "{}{42}", "{}{42}"},
    {"{}", "a{}b{42}", "a{}b{42}"},
    /* The first that opens, and the first behind it that closes. */
    {"{}", "{a}{b}", "a"},
    {"{}", "{{a}}", "{a"},
    {"{}", "}{a}", "a"},
    {"{}", "a}b{c}d", "c"},
    {"{}", "{a}}", "a"},
    /* One of the two is missing, or they stand the wrong way round. */
    {"{}", "{", "{"},
    {"{}", "}", "}"},
    {"{}", "abc{", "abc{"},
    {"{}", "a{b", "a{b"},
    {"{}", "a}b", "a}b"},
    {"{}", "a}b{c", "a}b{c"},
    /* Any two characters will do, twice the same included. */
    {"$$", "a$b$c", "b"},
    {"$$", "a$b$c$d$", "b"},
    {"$$", "$$a$", "$$a$"},
    {"$$", "a$b", "a$b"},
    {"[]", "a{b}[c]", "c"},
    {"ab", "xaYYbz", "YY"},
    {"\xff\xfe", "x\xff\x80\xfez", "\x80"},
};

START_TEST(tag_is_between_the_first_pair)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct view part = tag_part(cases[i].tag, view_str(cases[i].key));
        ck_assert_msg(view_equal(part, view_str(cases[i].part)),
                      "%s in \"%s\": \"%.*s\"", cases[i].tag, cases[i].key,
                      (int)part.len, part.data);
    }
}
END_TEST

START_TEST(tag_may_hold_any_byte)
{
    struct view part = tag_part("{}", VIEW("\0{a\0b}c"));

    ck_assert(view_equal(part, VIEW("a\0b")));
    ck_assert(view_equal(tag_part("{}", VIEW("{\0}")), VIEW("\0")));
}
END_TEST

START_TEST(tag_reads_the_key_and_nothing_else)
{
    char *end = guarded_end();

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct view key = view_str(cases[i].key);
        for (size_t cut = 0; cut <= key.len; cut++) {
            struct view copy = guarded(end, view_of(key.data, cut));
            struct view whole = tag_part(cases[i].tag, view_of(key.data, cut));
            ck_assert(view_equal(tag_part(cases[i].tag, copy), whole));
        }
    }
}
END_TEST

START_TEST(keys_with_one_tag_live_together)
{
    struct route_shard_spec shards[] = {shard("a", 1), shard("b", 1),
                                        shard("c", 1), shard("d", 1)};
    struct route_spec spec = {.distribution = DISTRIBUTION_KETAMA,
                              .hash = HASH_FNV1A_64,
                              .has_tag = true,
                              .tag = {'{', '}'},
                              .shards = shards,
                              .shard_count = ARRAY_LEN(shards)};
    struct route *route = make_route(&spec);
    char key[64];

    for (int i = 0; i < 1000; i++) {
        char alone[16];
        snprintf(alone, sizeof(alone), "%d", i);
        snprintf(key, sizeof(key), "user:{%d}:%d", i, i * 31);
        ck_assert_uint_eq(find(route, key), find(route, alone));
        ck_assert(
            view_equal(route_tagged(route, view_str(key)), view_str(alone)));
    }
    route_free(&route);
}
END_TEST

START_TEST(without_a_tag_the_whole_key_counts)
{
    struct route_shard_spec shards[] = {shard("a", 1), shard("b", 1)};
    struct route_spec spec = {.distribution = DISTRIBUTION_MODULA,
                              .hash = HASH_MURMUR,
                              .shards = shards,
                              .shard_count = ARRAY_LEN(shards)};
    struct route *route = make_route(&spec);

    ck_assert(view_equal(route_tagged(route, VIEW("a{b}c")), VIEW("a{b}c")));
    route_free(&route);
}
END_TEST

int
main(void)
{
    const TTest *const tests[] = {
        tag_is_between_the_first_pair,      tag_may_hold_any_byte,
        tag_reads_the_key_and_nothing_else, keys_with_one_tag_live_together,
        without_a_tag_the_whole_key_counts,
    };

    return run_tests("tag", tests, ARRAY_LEN(tests));
}
