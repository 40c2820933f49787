/*
 * test_split.c - cutting one request into one a shard or slot.
 */
#include "request.h"
#include "routes.h"

#include "command/split.h"

static struct route *route;
static struct request request;
static struct split split;
static uint64_t dice;
static uint32_t bad_key;

static void
set_up(void)
{
    route = route_by_letter();
}

static void
tear_down(void)
{
    split_fini(&split);
    request_fini(&request);
    route_free(&route);
}

static enum split_result
make(const char *line)
{
    request_init(&request, line);
    return split_make(&split, request_command(&request), &request.args, route,
                      false, &dice, &bad_key);
}

/* Start again within one test. */
static void
drop(void)
{
    split_fini(&split);
    request_fini(&request);
}

/* The part's request, as a line of words, after a check of its frame. */
static void
expect_part(uint32_t i, uint32_t shard, const char *line)
{
    struct request want;
    struct buf out = {0};

    ck_assert_uint_lt(i, split.part_count);
    ck_assert_uint_eq(split.parts[i].shard, shard);
    buf_append_str(&out, "before");
    split_encode(&split, &request.args, i,
                 split_encoded_size(&split, &request.args, i), &out);
    request_init(&want, line);
    char *text = mem_printf("before%.*s", (int)want.bytes.len, want.bytes.data);
    expect_bytes(buf_view(&out), text);
    mem_free(text);
    request_fini(&want);
    buf_fini(&out);
}

START_TEST(mget_goes_to_each_shard_once)
{
    ck_assert_int_eq(make("MGET c1 a1 a2 c2 b1"), SPLIT_OK);
    ck_assert_uint_eq(split.key_count, 5);
    ck_assert_uint_eq(split.part_count, 3);
    expect_part(0, 2, "MGET c1 c2");
    expect_part(1, 0, "MGET a1 a2");
    expect_part(2, 1, "MGET b1");
}
END_TEST

START_TEST(order_groups_the_key_numbers)
{
    static const uint32_t order[] = {0, 3, 1, 2, 4};

    ck_assert_int_eq(make("DEL c1 a1 a2 c2 b1"), SPLIT_OK);
    for (uint32_t i = 0; i < 5; i++)
        ck_assert_uint_eq(split.order[i], order[i]);
    ck_assert_uint_eq(split.parts[0].first, 0);
    ck_assert_uint_eq(split.parts[0].count, 2);
    ck_assert_uint_eq(split.parts[1].first, 2);
    ck_assert_uint_eq(split.parts[2].first, 4);
    ck_assert_uint_eq(split.parts[2].count, 1);
}
END_TEST

START_TEST(one_shard_is_one_part)
{
    ck_assert_int_eq(make("exists a1"), SPLIT_OK);
    ck_assert_uint_eq(split.part_count, 1);
    expect_part(0, 0, "exists a1");
}
END_TEST

START_TEST(repeated_keys_stay_in_order)
{
    ck_assert_int_eq(make("MSET a 1 b 2 a 3 a 4"), SPLIT_OK);
    ck_assert_uint_eq(split.part_count, 2);
    expect_part(0, 0, "MSET a 1 a 3 a 4");
    expect_part(1, 1, "MSET b 2");
}
END_TEST

START_TEST(streams_go_with_their_ids_and_do_not_wait)
{
    ck_assert_int_eq(make("XREAD COUNT 2 BLOCK 9 STREAMS b1 a1 b2 1 $ 3"),
                     SPLIT_OK);
    expect_part(0, 1, "XREAD COUNT 2 STREAMS b1 b2 1 3");
    expect_part(1, 0, "XREAD COUNT 2 STREAMS a1 $");
    split.cut_at = 0;
    expect_part(1, 0, "XREAD COUNT 2 BLOCK 9 STREAMS a1 $");
    drop();
    ck_assert_int_eq(make("xread count block streams a b 1 2"), SPLIT_OK);
    expect_part(1, 1, "xread count block streams b 2");
    drop();
    ck_assert_int_eq(make("XREAD STREAMS a b 1"), SPLIT_BAD_ARGS);
    drop();
    ck_assert_int_eq(make("XREAD COUNT 1 2"), SPLIT_BAD_ARGS);
}
END_TEST

START_TEST(what_belongs_to_a_key_goes_with_it)
{
    ck_assert_int_eq(make("JSON.MSET a $ 1 b . 2 a $.x 3"), SPLIT_OK);
    expect_part(0, 0, "JSON.MSET a $ 1 a $.x 3");
    expect_part(1, 1, "JSON.MSET b . 2");
    drop();
    ck_assert_int_eq(make("TS.MADD b 1 2 a 3 4"), SPLIT_OK);
    expect_part(0, 1, "TS.MADD b 1 2");
    expect_part(1, 0, "TS.MADD a 3 4");
}
END_TEST

START_TEST(a_tail_goes_to_every_part)
{
    ck_assert_int_eq(make("JSON.MGET a b c $..x"), SPLIT_OK);
    ck_assert_uint_eq(split.key_count, 3);
    expect_part(0, 0, "JSON.MGET a $..x");
    expect_part(1, 1, "JSON.MGET b $..x");
    expect_part(2, 2, "JSON.MGET c $..x");
}
END_TEST

START_TEST(empty_words_are_values)
{
    ck_assert_int_eq(make("MSET a  b "), SPLIT_OK);
    expect_part(0, 0, "MSET a ");
    expect_part(1, 1, "MSET b ");
}
END_TEST

START_TEST(words_that_do_not_come_out_even_are_bad)
{
    static const char *const lines[] = {
        "MSET a 1 b",        "MSET a",      "MSET",      "JSON.MSET a $",
        "JSON.MSET a $ 1 b", "JSON.MGET a", "JSON.MGET", "MGET",
        "TS.MADD a 1 2 b 1",
    };

    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        ck_assert_int_eq(make(lines[i]), SPLIT_BAD_ARGS);
        ck_assert_ptr_null(split.parts);
        drop();
    }
    ck_assert_int_eq(make("MGET a"), SPLIT_OK);
}
END_TEST

START_TEST(a_key_without_a_shard_is_named)
{
    ck_assert_int_eq(make("MGET a b nowhere c"), SPLIT_NO_SHARD);
    ck_assert_uint_eq(bad_key, 3);
    ck_assert_uint_eq(split.part_count, 0);
    drop();
    ck_assert_int_eq(make("MSET a nowhere zzz b"), SPLIT_NO_SHARD);
    ck_assert_uint_eq(bad_key, 3);
}
END_TEST

START_TEST(a_cluster_is_cut_by_slot)
{
    route_free(&route);
    route = route_by_slots(3);
    request_init(&request, "MGET {x}1 foo {x}2 bar {foo}3");
    const struct command *mget = request_command(&request);

    ck_assert_int_eq(split_make(&split, mget, &request.args, route, true, &dice,
                                &bad_key),
                     SPLIT_OK);
    ck_assert_uint_eq(split.part_count, 3);
    ck_assert_uint_eq(split.parts[0].slot, route_slot(route, VIEW("x")));
    ck_assert_uint_eq(split.parts[1].slot, 12182);
    ck_assert_uint_eq(split.parts[1].shard, 2);
    ck_assert_uint_eq(split.parts[2].slot, 5061);
    ck_assert_uint_eq(split.parts[2].shard, 0);
    expect_part(1, 2, "MGET foo {foo}3");
    split_fini(&split);

    ck_assert_int_eq(split_make(&split, mget, &request.args, route, false,
                                &dice, &bad_key),
                     SPLIT_OK);
    ck_assert_uint_le(split.part_count, 3);
    ck_assert_uint_eq(split.parts[0].slot, 0);
}
END_TEST

/* Every key is in exactly one part, that of its own slot, in order. */
static void
expect_partition(void)
{
    uint8_t *seen = mem_array(split.key_count, 1);
    uint32_t total = 0;

    for (uint32_t p = 0; p < split.part_count; p++) {
        const struct split_part *part = &split.parts[p];
        ck_assert_uint_eq(part->first, total);
        total += part->count;
        for (uint32_t i = 0; i < part->count; i++) {
            uint32_t key = split.order[part->first + i];
            ck_assert_uint_eq(seen[key]++, 0);
            ck_assert(i == 0 || split.order[part->first + i - 1] < key);
            ck_assert_uint_eq(route_slot(route,
                                         command_arg(&request.args, key + 1)),
                              part->slot);
        }
        ck_assert(p == 0 ||
                  split.order[part[-1].first] < split.order[part->first]);
    }
    ck_assert_uint_eq(total, split.key_count);
    mem_free(seen);
}

START_TEST(ten_thousand_keys_are_each_in_one_part)
{
    struct view *words = mem_array(10001, sizeof(*words));

    route_free(&route);
    route = route_by_slots(16);
    words[0] = VIEW("MGET");
    for (unsigned i = 1; i <= 10000; i++)
        words[i] = view_str(mem_printf("key:%u", i / 2));
    request_init_words(&request, words, 10001);
    ck_assert_int_eq(split_make(&split, request_command(&request),
                                &request.args, route, true, &dice, &bad_key),
                     SPLIT_OK);
    ck_assert_uint_gt(split.part_count, 3000);
    expect_partition();
    for (unsigned i = 1; i <= 10000; i++)
        mem_free((void *)(uintptr_t)words[i].data);
    mem_free(words);
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("split");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, mget_goes_to_each_shard_once);
    tcase_add_test(tests, order_groups_the_key_numbers);
    tcase_add_test(tests, one_shard_is_one_part);
    tcase_add_test(tests, repeated_keys_stay_in_order);
    tcase_add_test(tests, streams_go_with_their_ids_and_do_not_wait);
    tcase_add_test(tests, what_belongs_to_a_key_goes_with_it);
    tcase_add_test(tests, a_tail_goes_to_every_part);
    tcase_add_test(tests, empty_words_are_values);
    tcase_add_test(tests, words_that_do_not_come_out_even_are_bad);
    tcase_add_test(tests, a_key_without_a_shard_is_named);
    tcase_add_test(tests, a_cluster_is_cut_by_slot);
    tcase_add_test(tests, ten_thousand_keys_are_each_in_one_part);
    return unit_run("command", tests);
}
