/*
 * test_describe.c - the replies of COMMAND and its subcommands.
 */
#include "request.h"

#include "command/describe.h"
#include "resp/reply_read.h"
#include "resp/reply_scan.h"

static struct buf out;
static struct describe_more more;

static void
tear_down(void)
{
    buf_fini(&out);
}

/* The reply to a request; it must be exactly one frame. */
static void
ask(const char *line, int resp)
{
    struct request request;
    struct reply_scan scan;
    size_t used;

    buf_fini(&out);
    request_init(&request, line);
    const struct command *row = request_command(&request);
    ck_assert_msg(row != NULL, "unknown: %s", line);
    describe_reply(row, &request.args, resp, &more, &out);
    request_fini(&request);
    reply_scan_init(&scan);
    ck_assert_int_eq(reply_scan(&scan, out.data, out.len, &used), RESP_OK);
    ck_assert_uint_eq(used, out.len);
}

static void
expect(const char *line, int resp, const char *reply)
{
    ask(line, resp);
    expect_bytes(buf_view(&out), reply);
}

static uint64_t
count_of(const char *line, int resp, char type)
{
    struct view rest;
    struct reply_item item;

    ask(line, resp);
    rest = buf_view(&out);
    ck_assert(reply_next(&rest, &item));
    ck_assert_int_eq(item.type, type);
    return item.count;
}

/* Is there a bulk with this text anywhere in the last reply? */
static bool
reply_names(const char *name)
{
    struct view rest = buf_view(&out);
    struct reply_item item;

    while (reply_next(&rest, &item))
        if (item.type == RESP_BULK && view_equal(item.text, view_str(name)))
            return true;
    return false;
}

START_TEST(info_has_the_ten_fields_of_a_server)
{
    expect("COMMAND INFO GeT", 2,
           "*1\r\n*10\r\n$3\r\nget\r\n:2\r\n*2\r\n+readonly\r\n+fast\r\n"
           ":1\r\n:1\r\n:1\r\n*3\r\n+@read\r\n+@string\r\n+@fast\r\n"
           "*0\r\n"
           "*1\r\n*6\r\n$5\r\nflags\r\n*2\r\n+RO\r\n+access\r\n"
           "$12\r\nbegin_search\r\n*4\r\n$4\r\ntype\r\n$5\r\nindex\r\n$4\r\nspec\r\n"
           "*2\r\n$5\r\nindex\r\n:1\r\n$9\r\nfind_keys\r\n*4\r\n$4\r\ntype\r\n"
           "$5\r\nrange\r\n$4\r\nspec\r\n*6\r\n$7\r\nlastkey\r\n:0\r\n"
           "$7\r\nkeystep\r\n:1\r\n$5\r\nlimit\r\n:0\r\n"
           "*0\r\n");
    expect("COMMAND INFO get", 3,
           "*1\r\n*10\r\n$3\r\nget\r\n:2\r\n~2\r\n+readonly\r\n+fast\r\n"
           ":1\r\n:1\r\n:1\r\n~3\r\n+@read\r\n+@string\r\n+@fast\r\n"
           "~0\r\n"
           "~1\r\n%3\r\n$5\r\nflags\r\n~2\r\n+RO\r\n+access\r\n"
           "$12\r\nbegin_search\r\n%2\r\n$4\r\ntype\r\n$5\r\nindex\r\n$4\r\nspec\r\n"
           "%1\r\n$5\r\nindex\r\n:1\r\n$9\r\nfind_keys\r\n%2\r\n$4\r\ntype\r\n"
           "$5\r\nrange\r\n$4\r\nspec\r\n%3\r\n$7\r\nlastkey\r\n:0\r\n"
           "$7\r\nkeystep\r\n:1\r\n$5\r\nlimit\r\n:0\r\n"
           "~0\r\n");
}
END_TEST

START_TEST(info_of_an_unknown_or_refused_command_is_null)
{
    expect("COMMAND INFO nosuch shutdown config|nosuch get|x ", 2,
           "*5\r\n$-1\r\n$-1\r\n$-1\r\n$-1\r\n$-1\r\n");
    expect("COMMAND INFO nosuch", 3, "*1\r\n_\r\n");
}
END_TEST

START_TEST(info_knows_subcommands_by_their_full_name)
{
    expect("COMMAND INFO config|resetstat", 2,
           "*1\r\n*10\r\n$16\r\nconfig|resetstat\r\n:2\r\n*4\r\n+admin\r\n"
           "+noscript\r\n+loading\r\n+stale\r\n:0\r\n:0\r\n:0\r\n*3\r\n"
           "+@admin\r\n+@slow\r\n+@dangerous\r\n*0\r\n*0\r\n*0\r\n");
    ask("COMMAND INFO cluster", 2);
    ck_assert(reply_names("cluster|slots"));
    ck_assert(!reply_names("cluster|failover"));
    ck_assert(!reply_names("clusterscan"));
}
END_TEST

START_TEST(info_gives_positions_as_servers_do)
{
    static const struct {
        const char *name;
        int64_t triple[3];
    } cases[] = {
        {"sort", {1, 1, 1}},         {"georadius", {1, 1, 1}},
        {"zunionstore", {1, 1, 1}},  {"xread", {0, 0, 0}},
        {"eval", {0, 0, 0}},         {"rename", {1, 2, 1}},
        {"sunionstore", {1, -1, 1}}, {"bitop", {2, -1, 1}},
        {"blpop", {1, -2, 1}},       {"mset", {1, -1, 2}},
        {"spublish", {1, 1, 1}},     {"object|freq", {2, 2, 1}},
        {"pfmerge", {1, -1, 1}},     {"lcs", {1, 2, 1}},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *line = mem_printf("COMMAND INFO %s", cases[i].name);
        struct reply_item item;
        ask(line, 2);
        struct view rest = buf_view(&out);
        ck_assert(reply_next(&rest, &item) && reply_next(&rest, &item));
        ck_assert(reply_skip(&rest) && reply_skip(&rest) && reply_skip(&rest));
        for (int j = 0; j < 3; j++) {
            ck_assert(reply_next(&rest, &item));
            ck_assert_msg(item.number == cases[i].triple[j], "%s", line);
        }
        mem_free(line);
    }
}
END_TEST

START_TEST(all_lists_have_the_same_length)
{
    ask("COMMAND COUNT", 2);
    struct view rest = buf_view(&out);
    struct reply_item item;
    ck_assert(reply_next(&rest, &item));
    uint64_t count = (uint64_t)item.number;

    ck_assert_uint_gt(count, 400);
    ck_assert_uint_eq(count_of("COMMAND", 2, '*'), count);
    ck_assert_uint_eq(count_of("COMMAND", 3, '*'), count);
    ck_assert_uint_eq(count_of("COMMAND INFO", 3, '*'), count);
    ck_assert_uint_eq(count_of("COMMAND DOCS", 3, '%'), count * 2);
    ck_assert_uint_eq(count_of("COMMAND DOCS", 2, '*'), count * 2);
    ck_assert_uint_gt(count_of("COMMAND LIST", 2, '*'), count);
}
END_TEST

START_TEST(refused_commands_are_not_listed)
{
    ask("COMMAND LIST", 2);
    ck_assert(reply_names("get"));
    ck_assert(reply_names("config|get"));
    ck_assert(!reply_names("shutdown"));
    ck_assert(!reply_names("config|rewrite"));
    ask("COMMAND DOCS", 2);
    ck_assert(reply_names("config|get"));
    ck_assert(!reply_names("shutdown"));
    ck_assert(!reply_names("config|rewrite"));
}
END_TEST

START_TEST(docs_are_maps_of_what_is_known)
{
    expect("COMMAND DOCS GET nosuch", 3,
           "%1\r\n$3\r\nget\r\n%5\r\n$7\r\nsummary\r\n$22\r\n"
           "Get the value of a key\r\n$5\r\nsince\r\n$5\r\n1.0.0\r\n"
           "$5\r\ngroup\r\n$6\r\nstring\r\n$10\r\ncomplexity\r\n$4\r\n"
           "O(1)\r\n$9\r\narguments\r\n*1\r\n%3\r\n$4\r\nname\r\n$3\r\nkey\r\n"
           "$4\r\ntype\r\n$3\r\nkey\r\n$14\r\nkey_spec_index\r\n:0\r\n");
    expect("COMMAND DOCS vcard", 2,
           "*2\r\n$5\r\nvcard\r\n*6\r\n$7\r\nsummary\r\n$19\r\n"
           "Not documented here\r\n$5\r\nsince\r\n$11\r\nRedis 8.0.0\r\n"
           "$5\r\ngroup\r\n$10\r\nvector_set\r\n");
    expect("COMMAND DOCS nosuch", 2, "*0\r\n");
    expect("COMMAND DOCS nosuch", 3, "%0\r\n");
    ask("COMMAND DOCS xgroup", 3);
    ck_assert(reply_names("subcommands"));
    ck_assert(reply_names("xgroup|setid"));
}
END_TEST

START_TEST(lists_are_filtered)
{
    expect("COMMAND LIST filterby pattern GETR*", 2,
           "*1\r\n$8\r\ngetrange\r\n");
    expect("COMMAND LIST FILTERBY PATTERN config|g*", 2,
           "*1\r\n$10\r\nconfig|get\r\n");
    expect("COMMAND LIST FILTERBY ACLCAT nosuch", 2, "*0\r\n");
    expect("COMMAND LIST FILTERBY MODULE nosuch", 2, "*0\r\n");
    ask("COMMAND LIST FILTERBY ACLCAT BITMAP", 2);
    ck_assert(reply_names("bitop"));
    ck_assert(!reply_names("get"));
    ask("COMMAND LIST FILTERBY MODULE json", 2);
    ck_assert(reply_names("json.get"));
    ck_assert(!reply_names("get"));
}
END_TEST

START_TEST(a_wrong_filter_is_a_syntax_error)
{
    expect("COMMAND LIST x", 2, "-ERR syntax error\r\n");
    expect("COMMAND LIST FILTERBY BAD x", 2, "-ERR syntax error\r\n");
    expect("COMMAND LIST FILTERBY PATTERN", 2, "-ERR syntax error\r\n");
    expect("COMMAND LIST FILTERBY PATTERN a b", 2, "-ERR syntax error\r\n");
}
END_TEST

START_TEST(getkeys_lists_the_keys)
{
    expect("COMMAND GETKEYS MSET a 1 b 2", 2, "*2\r\n$1\r\na\r\n$1\r\nb\r\n");
    expect("COMMAND GETKEYS object freq k", 2, "*1\r\n$1\r\nk\r\n");
    expect("COMMAND GETKEYS MIGRATE h 1 k 0 1", 2, "*1\r\n$1\r\nk\r\n");
    expect("COMMAND GETKEYS EVAL x 0", 2, "*0\r\n");
    expect("COMMAND GETKEYS EVAL x 9 a", 2, "*0\r\n");
}
END_TEST

START_TEST(getkeys_says_why_there_are_none)
{
    expect("COMMAND GETKEYS nosuch a", 2, "-ERR Invalid command specified\r\n");
    expect("COMMAND GETKEYS object nosuch a", 2,
           "-ERR Invalid command specified\r\n");
    expect("COMMAND GETKEYS PING", 2,
           "-ERR The command has no key arguments\r\n");
    expect("COMMAND GETKEYS SPUBLISH a b", 2,
           "-ERR The command has no key arguments\r\n");
    expect("COMMAND GETKEYS OBJECT HELP", 2,
           "-ERR The command has no key arguments\r\n");
    expect("COMMAND GETKEYS GET a b", 2,
           "-ERR Invalid number of arguments specified for command\r\n");
    expect("COMMAND GETKEYS LMPOP 9 a LEFT", 2,
           "-ERR Invalid arguments specified for command\r\n");
    expect("COMMAND GETKEYS SINTERCARD 0 a", 2,
           "-ERR Invalid arguments specified for command\r\n");
    expect("COMMAND GETKEYS XREAD a b c", 2,
           "-ERR Invalid arguments specified for command\r\n");
}
END_TEST

START_TEST(getkeysandflags_tells_how_keys_are_used)
{
    expect("COMMAND GETKEYSANDFLAGS GET a", 2,
           "*1\r\n*2\r\n$1\r\na\r\n*2\r\n+RO\r\n+access\r\n");
    expect("COMMAND GETKEYSANDFLAGS SORT a STORE b", 3,
           "*2\r\n*2\r\n$1\r\na\r\n~2\r\n+RO\r\n+access\r\n"
           "*2\r\n$1\r\nb\r\n~2\r\n+OW\r\n+update\r\n");
    expect("COMMAND GETKEYSANDFLAGS LMOVE a b LEFT RIGHT", 2,
           "*2\r\n*2\r\n$1\r\na\r\n*3\r\n+RW\r\n+access\r\n+delete\r\n"
           "*2\r\n$1\r\nb\r\n*2\r\n+RW\r\n+insert\r\n");
}
END_TEST

START_TEST(help_is_a_list_of_lines)
{
    ck_assert_uint_gt(count_of("COMMAND HELP", 2, '*'), 10);
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("describe");

    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, info_has_the_ten_fields_of_a_server);
    tcase_add_test(tests, info_of_an_unknown_or_refused_command_is_null);
    tcase_add_test(tests, info_knows_subcommands_by_their_full_name);
    tcase_add_test(tests, info_gives_positions_as_servers_do);
    tcase_add_test(tests, all_lists_have_the_same_length);
    tcase_add_test(tests, refused_commands_are_not_listed);
    tcase_add_test(tests, docs_are_maps_of_what_is_known);
    tcase_add_test(tests, lists_are_filtered);
    tcase_add_test(tests, a_wrong_filter_is_a_syntax_error);
    tcase_add_test(tests, getkeys_lists_the_keys);
    tcase_add_test(tests, getkeys_says_why_there_are_none);
    tcase_add_test(tests, getkeysandflags_tells_how_keys_are_used);
    tcase_add_test(tests, help_is_a_list_of_lines);
    return unit_run("command", tests);
}
