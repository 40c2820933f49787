/*
 * test_combine.c - sets of several shards become one.
 *
 * Each case is combined with its replies whole, cut at every position, and byte
 * by byte; the answer must always be the same.
 */
#include "chains.h"
#include "request.h"

#include "command/combine.h"

#define MAX_PARTS 3
#define NO_ANSWER "-ERR proxy: the reply of a shard is no answer to "

struct combine_case {
    const char *request;
    int resp;
    const char *replies[MAX_PARTS];
    enum merge_result result;
    const char *reply;
};

static struct buf out;

static void
set_up(void)
{
    chunk_pool_init(&pool);
}

static void
tear_down(void)
{
    buf_fini(&out);
    chunk_pool_fini(&pool);
}

static struct combine *
combine_of(struct request *request, const char *line)
{
    request_init(request, line);
    return combine_new(request_command(request), &request->args);
}

static void
combine_cut(const struct combine *combine, const struct combine_case *test,
            size_t cut, size_t step)
{
    struct chain replies[MAX_PARTS] = {0};
    struct chain reply = {0};
    uint32_t count = combine_key_count(combine);

    for (uint32_t p = 0; p < count; p++)
        push_pieces(&replies[p], view_str(test->replies[p]), cut, step);
    ck_assert_int_eq(combine_merge(combine, replies, test->resp, &pool, &reply),
                     test->result);
    expect_chain(&reply, test->reply);
    chain_clear(&reply);
    for (uint32_t p = 0; p < count; p++)
        chain_clear(&replies[p]);
}

static const struct combine_case cases[] = {
    {"SUNION a b", 2, {"*2\r\n$1\r\ny\r\n$1\r\nx\r\n", "*1\r\n$1\r\ny\r\n"},
     MERGE_OK, "*2\r\n$1\r\nx\r\n$1\r\ny\r\n"},
    {"SINTER a b a", 3,
     {"~2\r\n$1\r\ny\r\n$1\r\nx\r\n", "~1\r\n$1\r\ny\r\n",
      "~2\r\n$1\r\ny\r\n$1\r\nx\r\n"},
     MERGE_OK, "~1\r\n$1\r\ny\r\n"},
    {"SDIFF a b", 2, {"*2\r\n$0\r\n\r\n$1\r\nx\r\n", "*1\r\n$1\r\nx\r\n"},
     MERGE_OK, "*1\r\n$0\r\n\r\n"},
    {"SDIFF a b", 2, {"*0\r\n", "*1\r\n$1\r\nx\r\n"}, MERGE_OK, "*0\r\n"},
    {"SINTERCARD 2 a b LIMIT 1", 2,
     {"*2\r\n$1\r\ny\r\n$1\r\nx\r\n", "*2\r\n$1\r\ny\r\n$1\r\nx\r\n"},
     MERGE_OK, ":1\r\n"},
    {"ZUNION 2 a b WITHSCORES", 2,
     {"*4\r\n$1\r\nx\r\n$3\r\n0.1\r\n$1\r\ny\r\n$1\r\n3\r\n",
      "*2\r\n$1\r\nx\r\n$3\r\n0.2\r\n"},
     MERGE_OK,
     "*4\r\n$1\r\nx\r\n$19\r\n0.30000000000000004\r\n$1\r\ny\r\n$1\r\n3\r\n"},
    {"ZUNION 2 a b WITHSCORES", 3,
     {"*1\r\n*2\r\n$1\r\nx\r\n,inf\r\n", "*1\r\n*2\r\n$1\r\nx\r\n,-inf\r\n"},
     MERGE_OK, "*1\r\n*2\r\n$1\r\nx\r\n,0\r\n"},
    {"ZINTER 2 a b AGGREGATE MAX WITHSCORES", 3,
     {"*1\r\n*2\r\n$1\r\nx\r\n,2\r\n",
      "*2\r\n*2\r\n$1\r\ny\r\n,1\r\n*2\r\n$1\r\nx\r\n,inf\r\n"},
     MERGE_OK, "*1\r\n*2\r\n$1\r\nx\r\n,inf\r\n"},
    {"ZDIFF 2 a b", 2,
     {"*4\r\n$1\r\nb\r\n$1\r\n1\r\n$1\r\na\r\n$1\r\n1\r\n", "*0\r\n"},
     MERGE_OK, "*2\r\n$1\r\na\r\n$1\r\nb\r\n"},
    {"ZINTERCARD 2 a b", 2, {"*0\r\n", "*0\r\n"}, MERGE_OK, ":0\r\n"},
    {"SUNION a b", 2, {"*0\r\n", "-WRONGTYPE no\r\n"}, MERGE_ERROR,
     "-WRONGTYPE no\r\n"},
    {"SUNION a b", 2, {"*1\r\n:1\r\n", "*0\r\n"}, MERGE_BAD_REPLY,
     NO_ANSWER "'sunion'\r\n"},
    {"SUNION a b", 2, {"*0\r\n", "$-1\r\n"}, MERGE_BAD_REPLY,
     NO_ANSWER "'sunion'\r\n"},
    {"ZUNION 2 a b", 2, {"*1\r\n$1\r\nx\r\n", "*0\r\n"}, MERGE_BAD_REPLY,
     NO_ANSWER "'zunion'\r\n"},
    {"ZUNION 2 a b", 3, {"*1\r\n*1\r\n$1\r\nx\r\n", "*0\r\n"}, MERGE_BAD_REPLY,
     NO_ANSWER "'zunion'\r\n"},
};

START_TEST(sets_are_combined_however_they_are_cut)
{
    const struct combine_case *test = &cases[_i];
    struct request request;
    size_t longest = 0;

    struct combine *combine = combine_of(&request, test->request);
    ck_assert_ptr_nonnull(combine);
    for (uint32_t p = 0; p < combine_key_count(combine); p++)
        longest = MAX(longest, strlen(test->replies[p]));
    for (size_t cut = 0; cut <= longest; cut++)
        combine_cut(combine, test, cut, longest);
    combine_cut(combine, test, 1, 1);
    combine_free(&combine);
    request_fini(&request);
}
END_TEST

static void
expect_part(const char *line, uint32_t part, const char *text)
{
    struct request request;
    struct combine *combine = combine_of(&request, line);

    ck_assert_ptr_nonnull(combine);
    combine_encode(combine, &request.args, part, &out);
    expect_bytes(buf_view(&out), text);
    buf_fini(&out);
    combine_free(&combine);
    request_fini(&request);
}

START_TEST(each_part_reads_one_key_whole)
{
    expect_part("SDIFF a b", 1, "*2\r\n$6\r\nSUNION\r\n$1\r\nb\r\n");
    expect_part("SINTERCARD 2 a b LIMIT 3", 0,
                "*2\r\n$6\r\nSUNION\r\n$1\r\na\r\n");
    expect_part("ZINTERCARD 2 a b", 0,
                "*4\r\n$6\r\nZUNION\r\n$1\r\n1\r\n$1\r\na\r\n"
                "$10\r\nWITHSCORES\r\n");
    expect_part("ZUNION 2 a b AGGREGATE MIN WEIGHTS 2 -0.5", 1,
                "*6\r\n$6\r\nZUNION\r\n$1\r\n1\r\n$1\r\nb\r\n$7\r\nWEIGHTS\r\n"
                "$4\r\n-0.5\r\n$10\r\nWITHSCORES\r\n");
    expect_part("BITOP xor t a b", 1, "*2\r\n$3\r\nGET\r\n$1\r\nb\r\n");
    expect_part("ZRANGESTORE t a 0 9 REV", 0,
                "*6\r\n$6\r\nzrange\r\n$1\r\na\r\n$1\r\n0\r\n$1\r\n9\r\n"
                "$3\r\nREV\r\n$10\r\nWITHSCORES\r\n");
    expect_part("GEOSEARCHSTORE t a FROMMEMBER m BYRADIUS 1 m", 0,
                "*8\r\n$9\r\ngeosearch\r\n$1\r\na\r\n$10\r\nFROMMEMBER\r\n"
                "$1\r\nm\r\n$8\r\nBYRADIUS\r\n$1\r\n1\r\n$1\r\nm\r\n"
                "$8\r\nWITHHASH\r\n");
}
END_TEST

static const char *const others[] = {
    "GET a", "ZUNIONSTORE a 0 b", "ZUNIONSTORE a 2 b",
    "ZUNIONSTORE a 1 b WITHSCORES", "ZDIFFSTORE a 1 b WEIGHTS 1", "ZUNION 0 a", "ZUNION x a b",
    "ZUNION 3 a b", "ZUNION 2 a b WEIGHTS 1", "ZUNION 2 a b WEIGHTS 1 x",
    "ZUNION 2 a b WEIGHTS 1 nan", "ZUNION 2 a b AGGREGATE", "ZUNION 2 a b FOO",
    "ZUNION 2 a b AGGREGATE AVG", "ZDIFF 2 a b WEIGHTS 1 2", "ZUNION 2 a b LIMIT 1",
    "ZINTERCARD 2 a b WITHSCORES", "SINTERCARD 2 a b LIMIT x",
    "SINTERCARD 2 a b LIMIT",
    "BITOP ANDOR t a b", "BITOP NOT t a b", "ZRANGE a 0 1", "GEOSEARCH a x y z",
    "ZRANGESTORE t a [a [b bylex", "ZRANGESTORE t a 0 1 WITHSCORES",
    "GEOSEARCHSTORE t a FROMMEMBER m BYRADIUS 1 m storedist",
};

static const struct {
    const char *request;
    const char *replies[MAX_PARTS];
    uint64_t count;
    struct view value;
} dumped[] = {
    {"SUNIONSTORE t a b",
     {"*1\r\n$1\r\ny\r\n", "*2\r\n$1\r\ny\r\n$1\r\nx\r\n"},
     2,
     VIEW("\x02\x02\x01x\x01y\x08\0\x15\x17\x61\xd7\xb8\x9d\x20\x09")},
    {"ZINTERSTORE t 2 a b aggregate max",
     {"*2\r\n$1\r\nx\r\n$1\r\n1\r\n", "*1\r\n*2\r\n$1\r\nx\r\n,2\r\n"},
     1,
     VIEW("\x05\x01\x01x\0\0\0\0\0\0\0@\x08\0\x25\x0b\x7e\xe1\xee\x5f\x58\x4c")},
    {"SDIFFSTORE t a b", {"*0\r\n", "*0\r\n"}, 0, {NULL, 0}},
    {"BITOP AND t a b", {"$2\r\nac\r\n", "$3\r\nbaz\r\n"}, 3, VIEW("`a\0")},
    {"BITOP OR t a b", {"$2\r\nab\r\n", "$-1\r\n"}, 2, VIEW("ab")},
    {"BITOP XOR t a b", {"_\r\n", "$2\r\nab\r\n"}, 2, VIEW("ab")},
    {"BITOP XOR t a b", {"$2\r\nab\r\n", "$1\r\na\r\n"}, 2, VIEW("\0b")},
    {"BITOP NOT t a", {"$2\r\n\xff\x0f\r\n"}, 2, VIEW("\0\xf0")},
    {"BITOP AND t a b", {"$-1\r\n", "_\r\n"}, 0, {NULL, 0}},
    {"ZRANGESTORE t a 0 1",
     {"*2\r\n$1\r\nx\r\n$1\r\n2\r\n"},
     1,
     VIEW("\x05\x01\x01x\0\0\0\0\0\0\0@\x08\0\x25\x0b\x7e\xe1\xee\x5f\x58\x4c")},
    {"GEOSEARCHSTORE t a FROMMEMBER m BYRADIUS 1 m",
     {"*1\r\n*2\r\n$1\r\nx\r\n:2\r\n"},
     1,
     VIEW("\x05\x01\x01x\0\0\0\0\0\0\0@\x08\0\x25\x0b\x7e\xe1\xee\x5f\x58\x4c")},
};

START_TEST(what_is_stored_is_dumped)
{
    struct chain replies[MAX_PARTS] = {0};
    struct chain reply = {0};
    struct combined combined = {0};
    struct request request;

    struct combine *combine = combine_of(&request, dumped[_i].request);
    uint32_t count = combine_key_count(combine);
    for (uint32_t p = 0; p < count; p++)
        push_pieces(&replies[p], view_str(dumped[_i].replies[p]), 0, 1);
    ck_assert_int_eq(combine_dump(combine, replies, &pool, &combined, &reply),
                     MERGE_OK);
    ck_assert_uint_eq(combined.count, dumped[_i].count);
    ck_assert(view_equal(buf_view(&combined.value), dumped[_i].value));
    ck_assert(chain_is_empty(&reply));
    for (uint32_t p = 0; p < count; p++)
        chain_clear(&replies[p]);
    buf_fini(&combined.value);
    combine_free(&combine);
    request_fini(&request);
}
END_TEST

START_TEST(what_is_not_in_order_is_left_to_servers)
{
    struct request request;

    ck_assert_ptr_null(combine_of(&request, others[_i]));
    request_fini(&request);
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("combine");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, sets_are_combined_however_they_are_cut, 0,
                        ARRAY_LEN(cases));
    tcase_add_test(tests, each_part_reads_one_key_whole);
    tcase_add_loop_test(tests, what_is_stored_is_dumped, 0,
                        ARRAY_LEN(dumped));
    tcase_add_loop_test(tests, what_is_not_in_order_is_left_to_servers, 0,
                        ARRAY_LEN(others));
    return unit_run("command", tests);
}
