/*
 * test_fanout_merge.c - the replies of all shards become one.
 *
 * Each case is merged with its replies whole, cut at every position, and byte
 * by byte; the answer must always be the same.
 */
#include "chains.h"
#include "request.h"

#include "command/fanout_merge.h"

#define MAX_SHARDS 3
#define MAYBE " (proxy: other parts may have been executed)\r\n"
#define NO_ANSWER "-ERR proxy: the reply of a shard is no answer to "

struct fanout_case {
    const char *request;
    const char *replies[MAX_SHARDS];
    enum merge_result result;
    const char *reply;
};

static uint64_t dice;

static void
set_up(void)
{
    chunk_pool_init(&pool);
    dice = 0;
}

static void
tear_down(void)
{
    chunk_pool_fini(&pool);
}

/* Merge with the replies cut in one way; what was in `out` before stays. */
static void
merge_cut(const struct fanout *fanout, const struct fanout_case *test,
          size_t cut, size_t step)
{
    struct chain replies[MAX_SHARDS] = {0};
    struct chain out = {0};
    uint32_t count = 0;

    for (; count < MAX_SHARDS && test->replies[count] != NULL; count++)
        push_pieces(&replies[count], view_str(test->replies[count]), cut, step);
    push_apart(&out, "before", 6);
    enum merge_result result =
        fanout_merge(fanout, replies, count, &pool, &out);
    ck_assert_int_eq(result, test->result);
    chain_drop(&out, 6);
    expect_chain(&out, test->reply);
    chain_clear(&out);
    for (uint32_t i = 0; i < count; i++)
        chain_clear(&replies[i]);
}

static void
expect_merge(const struct fanout_case *test)
{
    struct request request;
    struct fanout fanout;
    size_t longest = 0;

    request_init(&request, test->request);
    fanout_init(&fanout, request_command(&request), &request.args, dice);
    ck_assert(fanout_is_known(fanout.command));
    for (uint32_t i = 0; i < MAX_SHARDS && test->replies[i] != NULL; i++)
        longest = MAX(longest, strlen(test->replies[i]));
    for (size_t cut = 0; cut <= longest; cut++)
        merge_cut(&fanout, test, cut, SIZE_MAX / 2);
    merge_cut(&fanout, test, 0, 1);
    merge_cut(&fanout, test, 1, 3);
    request_fini(&request);
}

#define EXPECT_ALL(cases)                              \
    for (size_t i_ = 0; i_ < ARRAY_LEN(cases); i_++) { \
        expect_merge(&(cases)[i_]);                    \
    }

START_TEST(every_row_of_the_class_has_a_way_to_be_merged)
{
    for (int id = 0; id < COMMAND_ID_COUNT; id++) {
        const struct command *command = command_by_id((enum command_id)id);
        ck_assert_msg(fanout_is_known(command) ==
                          (command->class == CLASS_FANOUT),
                      "%s", command->name);
    }
}
END_TEST

START_TEST(integers_are_added)
{
    static const struct fanout_case cases[] = {
        {"DBSIZE", {":1\r\n", ":0\r\n", ":12\r\n"}, MERGE_OK, ":13\r\n"},
        {"DBSIZE", {":7\r\n"}, MERGE_OK, ":7\r\n"},
        {"SLOWLOG LEN", {":1\r\n", ":2\r\n"}, MERGE_OK, ":3\r\n"},
        {"LATENCY RESET", {":0\r\n", ":1\r\n"}, MERGE_OK, ":1\r\n"},
        {"PUBSUB NUMPAT", {":4\r\n", ":5\r\n"}, MERGE_OK, ":9\r\n"},
    };

    EXPECT_ALL(cases);
}
END_TEST

START_TEST(who_runs_a_script_tells_of_it)
{
    static const struct fanout_case cases[] = {
        {"FUNCTION STATS",
         {"*4\r\n+running_script\r\n*-1\r\n+engines\r\n:1\r\n",
          "*4\r\n+running_script\r\n*1\r\n+f\r\n+engines\r\n:2\r\n"},
         MERGE_OK,
         "*4\r\n+running_script\r\n*1\r\n+f\r\n+engines\r\n:2\r\n"},
        {"FUNCTION STATS",
         {"%2\r\n+running_script\r\n_\r\n+engines\r\n:1\r\n",
          "%2\r\n+running_script\r\n%0\r\n+engines\r\n:2\r\n",
          "%2\r\n+running_script\r\n_\r\n+engines\r\n:3\r\n"},
         MERGE_OK,
         "%2\r\n+running_script\r\n%0\r\n+engines\r\n:2\r\n"},
        {"FUNCTION STATS",
         {"%2\r\n+running_script\r\n_\r\n+engines\r\n:1\r\n",
          "%2\r\n+running_script\r\n_\r\n+engines\r\n:2\r\n"},
         MERGE_OK,
         "%2\r\n+running_script\r\n_\r\n+engines\r\n:1\r\n"},
    };

    EXPECT_ALL(cases);
}
END_TEST

START_TEST(keys_stand_one_behind_the_other)
{
    static const struct fanout_case cases[] = {
        {"KEYS *",
         {"*2\r\n$1\r\na\r\n$2\r\nbb\r\n", "*0\r\n", "*1\r\n$0\r\n\r\n"},
         MERGE_OK,
         "*3\r\n$1\r\na\r\n$2\r\nbb\r\n$0\r\n\r\n"},
        {"KEYS *", {"*0\r\n", "*0\r\n"}, MERGE_OK, "*0\r\n"},
        {"TS.MRANGE - + FILTER a=b",
         {"%1\r\n$1\r\na\r\n*0\r\n", "%1\r\n$1\r\nb\r\n*0\r\n"},
         MERGE_OK,
         "%2\r\n$1\r\na\r\n*0\r\n$1\r\nb\r\n*0\r\n"},
    };

    EXPECT_ALL(cases);
}
END_TEST

START_TEST(channels_are_named_once)
{
    static const struct fanout_case cases[] = {
        {"PUBSUB CHANNELS",
         {"*2\r\n$1\r\nb\r\n$1\r\na\r\n", "*2\r\n$1\r\nc\r\n$1\r\nb\r\n",
          "*0\r\n"},
         MERGE_OK,
         "*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n"},
        {"PUBSUB SHARDCHANNELS x*", {"*0\r\n", "*0\r\n"}, MERGE_OK, "*0\r\n"},
        {"TS.QUERYINDEX a=b",
         {"~1\r\n$1\r\na\r\n", "~1\r\n$1\r\na\r\n"},
         MERGE_OK,
         "~1\r\n$1\r\na\r\n"},
    };

    EXPECT_ALL(cases);
}
END_TEST

START_TEST(subscribers_are_added_by_channel)
{
    static const struct fanout_case cases[] = {
        {"PUBSUB NUMSUB x y",
         {"*4\r\n$1\r\nx\r\n:1\r\n$1\r\ny\r\n:0\r\n",
          "*4\r\n$1\r\nx\r\n:2\r\n$1\r\ny\r\n:0\r\n"},
         MERGE_OK,
         "*4\r\n$1\r\nx\r\n:3\r\n$1\r\ny\r\n:0\r\n"},
        {"PUBSUB NUMSUB", {"*0\r\n", "*0\r\n"}, MERGE_OK, "*0\r\n"},
        {"PUBSUB NUMSUB x",
         {"*2\r\n$1\r\nx\r\n:1\r\n", "*0\r\n"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'pubsub|numsub'\r\n"},
    };

    EXPECT_ALL(cases);
}
END_TEST

START_TEST(a_script_exists_that_all_shards_have)
{
    static const struct fanout_case cases[] = {
        {"SCRIPT EXISTS x y z",
         {"*3\r\n:1\r\n:1\r\n:0\r\n", "*3\r\n:1\r\n:0\r\n:0\r\n"},
         MERGE_OK,
         "*3\r\n:1\r\n:0\r\n:0\r\n"},
    };

    EXPECT_ALL(cases);
}
END_TEST

#define ENTRY(id, time) "*3\r\n:" #id "\r\n:" #time "\r\n*1\r\n$1\r\nx\r\n"

START_TEST(a_log_begins_with_the_newest)
{
    static const struct fanout_case cases[] = {
        {"SLOWLOG GET 3",
         {"*2\r\n" ENTRY(9, 300) ENTRY(8, 100),
          "*2\r\n" ENTRY(5, 300) ENTRY(4, 200)},
         MERGE_OK,
         "*3\r\n" ENTRY(9, 300) ENTRY(5, 300) ENTRY(4, 200)},
        {"SLOWLOG GET",
         {"*1\r\n" ENTRY(1, 1), "*1\r\n" ENTRY(2, 2)},
         MERGE_OK,
         "*2\r\n" ENTRY(2, 2) ENTRY(1, 1)},
        {"SLOWLOG GET -1",
         {"*1\r\n" ENTRY(1, 1), "*0\r\n"},
         MERGE_OK,
         "*1\r\n" ENTRY(1, 1)},
        {"SLOWLOG GET",
         {"*1\r\n:1\r\n", "*0\r\n"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'slowlog|get'\r\n"},
    };

    EXPECT_ALL(cases);
}
END_TEST

START_TEST(when_all_succeed_the_first_speaks)
{
    static const struct fanout_case cases[] = {
        {"FLUSHALL", {"+OK\r\n", "+OK\r\n"}, MERGE_OK, "+OK\r\n"},
        {"SCRIPT LOAD x",
         {"$3\r\nabc\r\n", "$3\r\nabc\r\n"},
         MERGE_OK,
         "$3\r\nabc\r\n"},
        {"FUNCTION LOAD x",
         {"$3\r\nlib\r\n", "$3\r\nlib\r\n"},
         MERGE_OK,
         "$3\r\nlib\r\n"},
    };

    EXPECT_ALL(cases);
}
END_TEST

START_TEST(an_error_of_all_is_theirs_and_one_of_some_is_told_with_care)
{
    static const struct fanout_case cases[] = {
        {"FLUSHALL",
         {"-ERR syntax\r\n", "-ERR syntax\r\n"},
         MERGE_ERROR,
         "-ERR syntax\r\n"},
        {"FLUSHALL",
         {"+OK\r\n", "-LOADING b\r\n"},
         MERGE_ERROR,
         "-LOADING b" MAYBE},
        {"FLUSHALL", {"-ERR a\r\n", "-ERR b\r\n"}, MERGE_ERROR, "-ERR a" MAYBE},
        {"DBSIZE", {":1\r\n", "-LOADING b\r\n"}, MERGE_ERROR, "-LOADING b\r\n"},
        {"DBSIZE",
         {":1\r\n", "!9\r\nLOADING b\r\n"},
         MERGE_ERROR,
         "-LOADING b\r\n"},
        {"DBSIZE",
         {":1\r\n", "+OK\r\n"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'dbsize'\r\n"},
        {"KEYS *",
         {"*1\r\n$1\r\nx\r\n", "*2000000000\r\n"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'keys'\r\n"},
        {"KEYS *",
         {"*-1\r\n", "*0\r\n"},
         MERGE_BAD_REPLY,
         NO_ANSWER "'keys'\r\n"},
    };

    EXPECT_ALL(cases);
}
END_TEST

START_TEST(one_script_that_ends_is_enough)
{
    static const struct fanout_case cases[] = {
        {"SCRIPT KILL", {"-NOTBUSY a\r\n", "+OK\r\n"}, MERGE_OK, "+OK\r\n"},
        {"SCRIPT KILL",
         {"-NOTBUSY a\r\n", "-NOTBUSY a\r\n"},
         MERGE_ERROR,
         "-NOTBUSY a\r\n"},
        {"FUNCTION KILL",
         {"-NOTBUSY a\r\n", "-UNKILLABLE b\r\n", "-ERR c\r\n"},
         MERGE_ERROR,
         "-UNKILLABLE b\r\n"},
        {"SCRIPT KILL",
         {"-NOTBUSY a\r\n", "-ERR b\r\n"},
         MERGE_ERROR,
         "-ERR b\r\n"},
    };

    EXPECT_ALL(cases);
}
END_TEST

START_TEST(a_random_key_is_anybodys_that_has_one)
{
    static const struct fanout_case first = {"RANDOMKEY",
                                             {"_\r\n", "$1\r\na\r\n",
                                              "$1\r\nb\r\n"},
                                             MERGE_OK,
                                             "$1\r\na\r\n"};
    static const struct fanout_case second = {"RANDOMKEY",
                                              {"$-1\r\n", "$1\r\na\r\n",
                                               "$1\r\nb\r\n"},
                                              MERGE_OK,
                                              "$1\r\nb\r\n"};
    static const struct fanout_case none[] = {
        {"RANDOMKEY", {"$-1\r\n", "$-1\r\n"}, MERGE_OK, "$-1\r\n"},
        {"RANDOMKEY", {"_\r\n", "_\r\n"}, MERGE_OK, "_\r\n"},
    };

    dice = 4;
    expect_merge(&first);
    dice = 5;
    expect_merge(&second);
    EXPECT_ALL(none);
}
END_TEST

/* What a head begins with, whole and cut at each position. */
static void
expect_head(const char *reply, char type, int64_t count, size_t len)
{
    for (size_t cut = 0; cut < strlen(reply); cut++) {
        struct fanout_head head = {0};
        struct chain chain = {0};

        push_pieces(&chain, view_str(reply), cut, SIZE_MAX / 2);
        ck_assert(fanout_add_head(&head, &chain) == (type != 0));
        if (type != 0) {
            ck_assert_int_eq(head.type, type);
            ck_assert_int_eq(head.count, count);
            ck_assert_uint_eq(head.len, len);
        }
        chain_clear(&chain);
    }
}

START_TEST(a_head_is_read_before_the_rest_is_here)
{
    expect_head("*2\r\n$100000\r\nabc", '*', 2, 4);
    expect_head("~1000000\r\n", '~', 1000000, 10);
    expect_head("%0\r\n", '%', 0, 4);
    expect_head("*-1\r\n", 0, 0, 0);
    expect_head("-NOPERM no\r\n", 0, 0, 0);
    expect_head("$3\r\nabc\r\n", 0, 0, 0);
    expect_head("*2\r", 0, 0, 0);
    expect_head("|1\r\n+a\r\n+b\r\n*1\r\n", 0, 0, 0);
}
END_TEST

START_TEST(heads_are_added_if_they_go_together)
{
    static const char *const replies[] = {"*2\r\n", "*0\r\n", "*40\r\n$1\r\n"};
    struct fanout_head head = {0};
    struct chain chain = {0};

    for (size_t i = 0; i < ARRAY_LEN(replies); i++) {
        push_pieces(&chain, view_str(replies[i]), 0, SIZE_MAX / 2);
        ck_assert(fanout_add_head(&head, &chain));
        chain_clear(&chain);
    }
    ck_assert_int_eq(head.count, 42);
    push_pieces(&chain, VIEW("~1\r\n"), 0, SIZE_MAX / 2);
    ck_assert(!fanout_add_head(&head, &chain));
    chain_clear(&chain);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("fanout_merge");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, every_row_of_the_class_has_a_way_to_be_merged);
    tcase_add_test(tcase, integers_are_added);
    tcase_add_test(tcase, who_runs_a_script_tells_of_it);
    tcase_add_test(tcase, keys_stand_one_behind_the_other);
    tcase_add_test(tcase, channels_are_named_once);
    tcase_add_test(tcase, subscribers_are_added_by_channel);
    tcase_add_test(tcase, a_script_exists_that_all_shards_have);
    tcase_add_test(tcase, a_log_begins_with_the_newest);
    tcase_add_test(tcase, when_all_succeed_the_first_speaks);
    tcase_add_test(tcase,
                   an_error_of_all_is_theirs_and_one_of_some_is_told_with_care);
    tcase_add_test(tcase, one_script_that_ends_is_enough);
    tcase_add_test(tcase, a_random_key_is_anybodys_that_has_one);
    tcase_add_test(tcase, a_head_is_read_before_the_rest_is_here);
    tcase_add_test(tcase, heads_are_added_if_they_go_together);
    return unit_run("command", tcase);
}
