/*
 * test_merge.c - the replies of the parts become one.
 *
 * Each case is merged with its replies whole, cut at every position, and byte
 * by byte; the answer must always be the same.
 */
#include "chains.h"
#include "request.h"
#include "routes.h"

#include "command/split.h"

#define MAX_PARTS 3
#define MAYBE " (proxy: other parts may have been executed)\r\n"
#define NO_ANSWER "-ERR proxy: the reply of a shard is no answer to "

struct merge_case {
    const char *request;
    const char *replies[MAX_PARTS];
    enum merge_result result;
    const char *reply;
};

static struct route *route;
static uint64_t dice;

static void
set_up(void)
{
    chunk_pool_init(&pool);
    route = route_by_letter();
}

static void
tear_down(void)
{
    route_free(&route);
    chunk_pool_fini(&pool);
}

/* Merge with the replies cut in one way; what was in `out` before stays. */
static void
merge_cut(const struct split *split, const struct merge_case *test, size_t cut,
          size_t step)
{
    struct chain replies[MAX_PARTS] = {0};
    struct chain out = {0};

    for (uint32_t p = 0; p < split->part_count; p++)
        push_pieces(&replies[p], view_str(test->replies[p]), cut, step);
    push_apart(&out, "before", 6);
    enum merge_result result = merge_replies(split, replies, 2, &pool, &out);
    ck_assert_int_eq(result, test->result);
    chain_drop(&out, 6);
    expect_chain(&out, test->reply);
    chain_clear(&out);
    for (uint32_t p = 0; p < split->part_count; p++)
        chain_clear(&replies[p]);
}

static void
expect_merge(const struct merge_case *test)
{
    struct request request;
    struct split split;
    uint32_t bad_key;
    size_t longest = 0;

    request_init(&request, test->request);
    ck_assert_int_eq(split_make(&split, request_command(&request),
                                &request.args, route, false, &dice, &bad_key),
                     SPLIT_OK);
    for (uint32_t p = 0; p < split.part_count; p++)
        longest = MAX(longest, strlen(test->replies[p]));
    for (size_t cut = 0; cut <= longest; cut++)
        merge_cut(&split, test, cut, SIZE_MAX / 2);
    merge_cut(&split, test, 0, 1);
    merge_cut(&split, test, 1, 3);
    split_fini(&split);
    request_fini(&request);
}

#define EXPECT_ALL(cases)                              \
    for (size_t i_ = 0; i_ < ARRAY_LEN(cases); i_++) { \
        expect_merge(&(cases)[i_]);                    \
    }

START_TEST(values_come_in_the_order_asked)
{
    static const struct merge_case cases[] = {
        {"MGET a1 b1 a2 c1",
         {"*2\r\n$2\r\nA1\r\n$2\r\nA2\r\n", "*1\r\n$0\r\n\r\n",
          "*1\r\n$4\r\n\r\nC1\r\n"},
         MERGE_OK,
         "*4\r\n$2\r\nA1\r\n$0\r\n\r\n$2\r\nA2\r\n$4\r\n\r\nC1\r\n"},
        {"MGET a", {"*1\r\n$1\r\nx\r\n"}, MERGE_OK, "*1\r\n$1\r\nx\r\n"},
        {"MGET a b a b",
         {"*2\r\n$1\r\n1\r\n$1\r\n1\r\n", "*2\r\n$1\r\n2\r\n$1\r\n2\r\n"},
         MERGE_OK,
         "*4\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n1\r\n$1\r\n2\r\n"},
        {"JSON.MGET a b $",
         {"*1\r\n$3\r\n[1]\r\n", "*1\r\n$3\r\n[2]\r\n"},
         MERGE_OK,
         "*2\r\n$3\r\n[1]\r\n$3\r\n[2]\r\n"},
    };

    EXPECT_ALL(cases);
}
END_TEST

START_TEST(nulls_and_nested_elements_pass_as_they_are)
{
    static const struct merge_case cases[] = {
        {"MGET a b",
         {"*1\r\n$-1\r\n", "*1\r\n$-1\r\n"},
         MERGE_OK,
         "*2\r\n$-1\r\n$-1\r\n"},
        {"MGET a b",
         {"*1\r\n_\r\n", "*1\r\n$1\r\nx\r\n"},
         MERGE_OK,
         "*2\r\n_\r\n$1\r\nx\r\n"},
        {"JSON.MGET a b $",
         {"*1\r\n*2\r\n:1\r\n*0\r\n", "*1\r\n%1\r\n+k\r\n,1.5\r\n"},
         MERGE_OK,
         "*2\r\n*2\r\n:1\r\n*0\r\n%1\r\n+k\r\n,1.5\r\n"},
        {"TS.MADD a 1 1 b 2 2 a 3 3",
         {"*2\r\n:1\r\n-TSDB: no\r\n", "*1\r\n:2\r\n"},
         MERGE_OK,
         "*3\r\n:1\r\n:2\r\n-TSDB: no\r\n"},
    };

    EXPECT_ALL(cases);
}
END_TEST

START_TEST(streams_come_in_the_order_asked)
{
    static const struct merge_case cases[] = {
        {"XREAD STREAMS a1 b1 a2 b2 0 0 0 0",
         {"*2\r\n*2\r\n$2\r\na1\r\n*0\r\n*2\r\n$2\r\na2\r\n*0\r\n",
          "*1\r\n*2\r\n$2\r\nb1\r\n*1\r\n:1\r\n"},
         MERGE_OK,
         "*3\r\n*2\r\n$2\r\na1\r\n*0\r\n"
         "*2\r\n$2\r\nb1\r\n*1\r\n:1\r\n*2\r\n$2\r\na2\r\n*0\r\n"},
        {"XREAD STREAMS a b 0 0", {"*-1\r\n", "*-1\r\n"}, MERGE_OK, "*-1\r\n"},
        {"XREAD STREAMS b a 0 0",
         {"_\r\n", "%1\r\n$1\r\na\r\n*1\r\n:1\r\n"},
         MERGE_OK,
         "%1\r\n$1\r\na\r\n*1\r\n:1\r\n"},
        {"XREAD STREAMS a b 0 x",
         {"*-1\r\n", "-ERR Invalid stream ID\r\n"},
         MERGE_ERROR,
         "-ERR Invalid stream ID\r\n"},
    };

    EXPECT_ALL(cases);
}
END_TEST

START_TEST(attributes_of_a_reply_are_left_out)
{
    static const struct merge_case cases[] = {
        {"MGET a b",
         {"|1\r\n+ttl\r\n:1\r\n*1\r\n$1\r\nx\r\n", "*1\r\n_\r\n"},
         MERGE_OK,
         "*2\r\n$1\r\nx\r\n_\r\n"},
        {"DEL a b",
         {":1\r\n", "|1\r\n+ttl\r\n*1\r\n:2\r\n:1\r\n"},
         MERGE_OK,
         ":2\r\n"},
    };

    EXPECT_ALL(cases);
}
END_TEST

START_TEST(integers_are_added)
{
    static const struct merge_case cases[] = {
        {"DEL a b c", {":1\r\n", ":0\r\n", ":12\r\n"}, MERGE_OK, ":13\r\n"},
        {"EXISTS a a", {":2\r\n"}, MERGE_OK, ":2\r\n"},
        {"TOUCH a b", {":0\r\n", ":0\r\n"}, MERGE_OK, ":0\r\n"},
        {"UNLINK a b",
         {":9223372036854775806\r\n", ":1\r\n"},
         MERGE_OK,
         ":9223372036854775807\r\n"},
    };

    EXPECT_ALL(cases);
}
END_TEST

START_TEST(all_ok_is_ok)
{
    static const struct merge_case cases[] = {
        {"MSET a 1 b 2 c 3",
         {"+OK\r\n", "+OK\r\n", "+OK\r\n"},
         MERGE_OK,
         "+OK\r\n"},
        {"JSON.MSET a $ 1", {"+OK\r\n"}, MERGE_OK, "+OK\r\n"},
    };

    EXPECT_ALL(cases);
}
END_TEST

START_TEST(the_first_error_is_the_answer)
{
    static const struct merge_case cases[] = {
        {"MGET a b c",
         {"*1\r\n_\r\n", "-LOADING b\r\n", "-OOM c\r\n"},
         MERGE_ERROR,
         "-LOADING b\r\n"},
        {"MGET a b", {"*bad", "-LOADING b\r\n"}, MERGE_ERROR, "-LOADING b\r\n"},
        {"EXISTS a b", {":1\r\n", "-ERR x\r\n"}, MERGE_ERROR, "-ERR x\r\n"},
        {"MGET a b",
         {"!5\r\nERR x\r\n", "*1\r\n_\r\n"},
         MERGE_ERROR,
         "-ERR x\r\n"},
        {"MGET a b",
         {"!7\r\nERR\r\nxy\r\n", "*1\r\n_\r\n"},
         MERGE_ERROR,
         "-ERR  xy\r\n"},
        {"MGET a b",
         {"|1\r\n+k\r\n:1\r\n-ERR x\r\n", ":1\r\n"},
         MERGE_ERROR,
         "-ERR x\r\n"},
    };

    EXPECT_ALL(cases);
}
END_TEST

START_TEST(a_failed_write_says_that_parts_may_have_run)
{
    static const struct merge_case cases[] = {
        {"MSET a 1 b 2",
         {"+OK\r\n", "-OOM no\r\n"},
         MERGE_ERROR,
         "-OOM no" MAYBE},
        {"DEL a b",
         {"!6\r\nERR no\r\n", ":1\r\n"},
         MERGE_ERROR,
         "-ERR no" MAYBE},
        {"MSET a 1 b 2",
         {"+OK\r\n", "+QUEUED\r\n"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'mset'" MAYBE},
        {"MSET a 1", {"-OOM no\r\n"}, MERGE_ERROR, "-OOM no\r\n"},
        {"DEL a", {"-ERR no\r\n"}, MERGE_ERROR, "-ERR no\r\n"},
    };

    EXPECT_ALL(cases);
}
END_TEST

START_TEST(arrays_of_the_wrong_shape_are_no_answer)
{
    static const struct merge_case cases[] = {
        {"XREAD STREAMS a b 0 0",
         {"*1\r\n:1\r\n", "*-1\r\n"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'xread'\r\n"},
        {"XREAD STREAMS a b 0 0",
         {"*1\r\n*2\r\n$1\r\nz\r\n*0\r\n", "*-1\r\n"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'xread'\r\n"},
        {"MGET a b",
         {"*1\r\n_\r\n", "*2\r\n_\r\n_\r\n"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'mget'\r\n"},
        {"MGET a b",
         {"*1\r\n_\r\n", "*2\r\n_\r\n"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'mget'\r\n"},
        {"MGET a b",
         {"*1\r\n_\r\n", "*0\r\n"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'mget'\r\n"},
        {"MGET a b",
         {"*1\r\n_\r\n", "*-1\r\n"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'mget'\r\n"},
        {"MGET a b",
         {"*1\r\n_\r\n", "$1\r\nx\r\n"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'mget'\r\n"},
        {"MGET a b",
         {"*1\r\n_\r\n", "~1\r\n_\r\n"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'mget'\r\n"},
        {"MGET a b",
         {"*1\r\n_\r\n", "*1\r\n_\r\n_\r\n"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'mget'\r\n"},
        {"MGET a b",
         {"*1\r\n_\r\n", "*1\r\n"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'mget'\r\n"},
        {"MGET a b",
         {"*1\r\n_\r\n", "*1\r\n$3\r\nab"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'mget'\r\n"},
        {"MGET a b",
         {"*1\r\n_\r\n", "*1\r\n?\r\n"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'mget'\r\n"},
        {"MGET a b",
         {"", "*1\r\n_\r\n"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'mget'\r\n"},
        {"MGET a b",
         {"|1\r\n+k\r\n", "*1\r\n_\r\n"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'mget'\r\n"},
        {"MGET a b",
         {"-cut", "*1\r\n_\r\n"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'mget'\r\n"},
    };

    EXPECT_ALL(cases);
}
END_TEST

START_TEST(anything_but_an_integer_or_ok_is_no_answer)
{
    static const struct merge_case cases[] = {
        {"EXISTS a b",
         {":1\r\n", "+OK\r\n"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'exists'\r\n"},
        {"EXISTS a b",
         {":1\r\n", ":1\r\n:1\r\n"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'exists'\r\n"},
        {"EXISTS a b",
         {":1\r\n", ":x\r\n"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'exists'\r\n"},
        {"EXISTS a b",
         {":1\r\n", ":1"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'exists'\r\n"},
        {"EXISTS a b",
         {":9223372036854775807\r\n", ":1\r\n"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'exists'\r\n"},
        {"EXISTS a b",
         {":1\r\n", ":100000000000000000000\r\n"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'exists'\r\n"},
        {"MSET a 1", {"+OKAY\r\n"}, MERGE_BAD_REPLY, NO_ANSWER "'mset'\r\n"},
        {"MSET a 1", {"$2\r\nOK\r\n"}, MERGE_BAD_REPLY, NO_ANSWER "'mset'\r\n"},
    };

    EXPECT_ALL(cases);
}
END_TEST

/* One reply to MGET of `count` values of `len` letters. */
static void
values_reply(struct buf *reply, size_t count, size_t len)
{
    buf_printf(reply, "*%zu\r\n", count);
    for (size_t i = 0; i < count; i++) {
        buf_printf(reply, "$%zu\r\n", len);
        memset(buf_reserve(reply, len), 'v', len);
        reply->len += len;
        buf_append_str(reply, "\r\n");
    }
}

/* How many bytes of the merged chain stand in the reply's own chunk. */
static size_t
bytes_shared(size_t value_len)
{
    struct request request;
    struct split split;
    struct chain reply = {0}, out = {0};
    struct buf bytes = {0};
    uint32_t bad_key;
    size_t shared = 0;

    request_init(&request, "MGET a1 a2");
    ck_assert_int_eq(split_make(&split, request_command(&request),
                                &request.args, route, false, &dice, &bad_key),
                     SPLIT_OK);
    values_reply(&bytes, 2, value_len);
    push_apart(&reply, bytes.data, bytes.len);
    const struct chunk *own = chain_at(&reply, 0)->chunk;
    ck_assert_int_eq(merge_replies(&split, &reply, 3, &pool, &out), MERGE_OK);
    for (uint32_t i = 0; i < out.count; i++)
        if (chain_at(&out, i)->chunk == own)
            shared += chain_at(&out, i)->len;
    chain_clear(&reply);
    buf_append_char(&bytes, '\0');
    expect_chain(&out, bytes.data);
    chain_clear(&out);
    buf_fini(&bytes);
    split_fini(&split);
    request_fini(&request);
    return shared;
}

START_TEST(large_values_are_not_copied)
{
    ck_assert_uint_eq(bytes_shared(1), 0);
    ck_assert_uint_eq(bytes_shared(500), 0);
    ck_assert_uint_eq(bytes_shared(504), 2 * 512);
    ck_assert_uint_eq(bytes_shared(100000), 2 * (100000 + 11));
}
END_TEST

/* Replies of ten thousand keys, each value being its key. */
START_TEST(ten_thousand_values_keep_their_order)
{
    static const char letters[] = "abc";
    struct view *words = mem_array(10001, sizeof(*words));
    struct buf replies[MAX_PARTS] = {{0}}, want = {0};
    struct chain chains[MAX_PARTS] = {0}, out = {0};
    struct request request;
    struct split split;
    uint32_t bad_key;

    words[0] = VIEW("MGET");
    buf_append_str(&want, "*10000\r\n");
    for (unsigned i = 1; i <= 10000; i++) {
        words[i] = view_str(mem_printf("%c%u", letters[i * i % 7 % 3], i));
        buf_printf(&want, "$%zu\r\n%s\r\n", words[i].len, words[i].data);
    }
    buf_append_char(&want, '\0');
    request_init_words(&request, words, 10001);
    ck_assert_int_eq(split_make(&split, request_command(&request),
                                &request.args, route, false, &dice, &bad_key),
                     SPLIT_OK);
    for (uint32_t p = 0; p < split.part_count; p++) {
        const struct split_part *part = &split.parts[p];
        buf_printf(&replies[p], "*%u\r\n", part->count);
        for (uint32_t i = 0; i < part->count; i++) {
            struct view key = words[1 + split.order[part->first + i]];
            buf_printf(&replies[p], "$%zu\r\n%s\r\n", key.len, key.data);
        }
        push_pieces(&chains[p], buf_view(&replies[p]), 0, 1460);
        buf_fini(&replies[p]);
    }
    ck_assert_int_eq(merge_replies(&split, chains, 2, &pool, &out), MERGE_OK);
    expect_chain(&out, want.data);
    /* Small elements are written together, not each to an extent. */
    ck_assert_uint_lt(out.count, 20);

    chain_clear(&out);
    for (uint32_t p = 0; p < MAX_PARTS; p++)
        chain_clear(&chains[p]);
    for (unsigned i = 1; i <= 10000; i++)
        mem_free((void *)(uintptr_t)words[i].data);
    mem_free(words);
    buf_fini(&want);
    split_fini(&split);
    request_fini(&request);
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("merge");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, values_come_in_the_order_asked);
    tcase_add_test(tests, nulls_and_nested_elements_pass_as_they_are);
    tcase_add_test(tests, streams_come_in_the_order_asked);
    tcase_add_test(tests, attributes_of_a_reply_are_left_out);
    tcase_add_test(tests, integers_are_added);
    tcase_add_test(tests, all_ok_is_ok);
    tcase_add_test(tests, the_first_error_is_the_answer);
    tcase_add_test(tests, a_failed_write_says_that_parts_may_have_run);
    tcase_add_test(tests, arrays_of_the_wrong_shape_are_no_answer);
    tcase_add_test(tests, anything_but_an_integer_or_ok_is_no_answer);
    tcase_add_test(tests, large_values_are_not_copied);
    tcase_add_test(tests, ten_thousand_values_keep_their_order);
    return unit_run("command", tests);
}
