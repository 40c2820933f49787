/*
 * test_learnt.c - replies to COMMAND INFO become rows.
 */
#include "request.h"

#include "command/keys.h"
#include "command/learnt.h"

#define TEXT(text) "+" text "\r\n"
#define NAME "$3\r\nfoo\r\n"
#define NO_KEYS ":0\r\n:0\r\n:0\r\n"
#define INDEX(at)                                                    \
    TEXT("begin_search")                                             \
    "*4\r\n" TEXT("type") TEXT("index") TEXT("spec") "*2\r\n" TEXT("index") \
        ":" at "\r\n"
#define RANGE(last, step, limit)                                          \
    TEXT("find_keys")                                                     \
    "*4\r\n" TEXT("type") TEXT("range") TEXT("spec") "*6\r\n" TEXT("lastkey") \
        ":" last "\r\n" TEXT("keystep") ":" step "\r\n" TEXT("limit")     \
            ":" limit "\r\n"

static struct learnt *learnt;
static const struct command *row;

static void
set_up(void)
{
    learnt = NULL;
    row = NULL;
}

static void
tear_down(void)
{
    if (learnt != NULL)
        learnt_free(&learnt);
}

/* Of bytes that end at an unreadable page. */
static enum learnt_result
learn(const char *reply)
{
    struct guard bytes = guard_copy(reply, strlen(reply));

    tear_down();
    enum learnt_result result =
        learnt_read(view_of(bytes.data, strlen(reply)), &row, &learnt);
    guard_free(&bytes);
    return result;
}

/* The keys of a request, one behind the other. */
static void
expect_keys(const char *line, const char *wanted)
{
    struct request request;
    struct key_list keys;
    struct buf found = {0};

    request_init(&request, line);
    key_list_init(&keys);
    ck_assert_int_eq(command_keys(&learnt->command, &request.args, &keys),
                     KEYS_OK);
    for (uint32_t i = 0; i < keys.count; i++)
        buf_append_view(&found, command_arg(&request.args, keys.at[i]));
    expect_bytes(buf_view(&found), wanted);
    buf_fini(&found);
    key_list_fini(&keys);
    request_fini(&request);
}

START_TEST(a_name_that_nobody_knows_is_null)
{
    ck_assert_int_eq(learn("*1\r\n*-1\r\n"), LEARNT_UNKNOWN);
    ck_assert_int_eq(learn("*1\r\n$-1\r\n"), LEARNT_UNKNOWN);
    ck_assert_int_eq(learn("*1\r\n_\r\n"), LEARNT_UNKNOWN);
}
END_TEST

START_TEST(other_replies_tell_nothing)
{
    ck_assert_int_eq(learn(""), LEARNT_BAD);
    ck_assert_int_eq(learn("-NOPERM no\r\n"), LEARNT_BAD);
    ck_assert_int_eq(learn("*0\r\n"), LEARNT_BAD);
    ck_assert_int_eq(learn("*1\r\n*2\r\n" NAME ":2\r\n"), LEARNT_BAD);
    ck_assert_int_eq(learn("*1\r\n*6\r\n" NAME ":2\r\n*0\r\n+x\r\n:1\r\n:1\r\n"),
                     LEARNT_BAD);
    ck_assert_int_eq(learn("*1\r\n*6\r\n" NAME ":99999\r\n*0\r\n" NO_KEYS),
                     LEARNT_BAD);
}
END_TEST

START_TEST(six_fields_of_an_old_server_do)
{
    ck_assert_int_eq(learn("*1\r\n*6\r\n" NAME ":-3\r\n*2\r\n+readonly\r\n"
                           "+module\r\n:1\r\n:-1\r\n:2\r\n"),
                     LEARNT_NEW);
    ck_assert_str_eq(learnt->command.name, "foo");
    ck_assert_int_eq(learnt->command.arity, -3);
    ck_assert_int_eq(learnt->command.class, CLASS_ROUTE);
    ck_assert((learnt->command.flags & COMMAND_READONLY) != 0);
    ck_assert_str_eq(learnt->command.categories, "@slow @read");
    expect_keys("foo a 1 b 2", "ab");
}
END_TEST

START_TEST(one_key_is_found_at_once)
{
    ck_assert_int_eq(learn("*1\r\n*6\r\n" NAME ":2\r\n*1\r\n+write\r\n"
                           ":1\r\n:1\r\n:1\r\n"),
                     LEARNT_NEW);
    ck_assert_int_eq(learnt->command.first_key, 1);
    ck_assert_int_eq(learnt->command.last_key, 1);
    /* A request may be too short for it: then it is looked at. */
    ck_assert_int_eq(learn("*1\r\n*6\r\n" NAME ":-1\r\n*1\r\n+write\r\n"
                           ":1\r\n:1\r\n:1\r\n"),
                     LEARNT_NEW);
    ck_assert_int_eq(learnt->command.first_key, 0);
    expect_keys("foo", "");
    expect_keys("foo a", "a");
}
END_TEST

START_TEST(key_specifications_say_where_keys_are)
{
    ck_assert_int_eq(
        learn("*1\r\n*10\r\n" NAME ":-4\r\n*2\r\n+write\r\n+movablekeys\r\n"
              ":1\r\n:1\r\n:1\r\n*1\r\n+@mine\r\n*0\r\n"
              "*2\r\n*6\r\n" TEXT("flags") "*2\r\n+OW\r\n+update\r\n" INDEX("1")
                  RANGE("0", "1", "0")
              "*8\r\n" TEXT("notes") "$1\r\nx\r\n" TEXT("flags")
              "*1\r\n+RO\r\n" INDEX("2") TEXT("find_keys") "*4\r\n"
              TEXT("type") TEXT("keynum") TEXT("spec") "*6\r\n"
              TEXT("keynumidx") ":0\r\n" TEXT("firstkey") ":1\r\n"
              TEXT("keystep") ":1\r\n*0\r\n"),
        LEARNT_NEW);
    ck_assert_str_eq(learnt->command.categories, "@mine");
    expect_keys("foo to 2 a b WEIGHTS", "toab");
}
END_TEST

START_TEST(keys_behind_a_word_are_found_in_resp3)
{
    ck_assert_int_eq(
        learn("*1\r\n*10\r\n" NAME ":-4\r\n~1\r\n+readonly\r\n" NO_KEYS
              "~0\r\n~0\r\n~1\r\n%3\r\n" TEXT("flags") "~1\r\n+RO\r\n"
              TEXT("begin_search") "%2\r\n" TEXT("type") TEXT("keyword")
              TEXT("spec") "%2\r\n" TEXT("keyword") TEXT("STREAMS")
              TEXT("startfrom") ":1\r\n"
              TEXT("find_keys") "%2\r\n" TEXT("type") TEXT("range") TEXT("spec")
              "%3\r\n" TEXT("lastkey") ":-1\r\n" TEXT("keystep") ":1\r\n"
              TEXT("limit") ":2\r\n~0\r\n"),
        LEARNT_NEW);
    expect_keys("foo COUNT 2 streams a b 0 0", "ab");
}
END_TEST

START_TEST(keys_that_are_not_told_need_a_single_server)
{
    ck_assert_int_eq(learn("*1\r\n*10\r\n" NAME ":-2\r\n*2\r\n+module\r\n"
                           "+movablekeys\r\n:1\r\n:1\r\n:1\r\n*0\r\n*0\r\n*0\r\n"
                           "*0\r\n"),
                     LEARNT_NEW);
    ck_assert_int_eq(learnt->command.class, CLASS_ANY);
    /* One specification that is not complete spoils all. */
    ck_assert_int_eq(
        learn("*1\r\n*10\r\n" NAME ":-2\r\n*2\r\n+module\r\n+movablekeys\r\n"
              ":1\r\n:1\r\n:1\r\n*0\r\n*0\r\n"
              "*1\r\n*6\r\n" TEXT("flags") "*1\r\n+incomplete\r\n" INDEX("1")
                  RANGE("0", "1", "0") "*0\r\n"),
        LEARNT_NEW);
    ck_assert_int_eq(learnt->command.class, CLASS_ANY);
}
END_TEST

START_TEST(what_may_change_the_connection_is_refused)
{
    ck_assert_int_eq(
        learn("*1\r\n*6\r\n" NAME ":-2\r\n*0\r\n" NO_KEYS), LEARNT_NEW);
    ck_assert_int_eq(learnt->command.class, CLASS_REFUSE);
    ck_assert_int_eq(learn("*1\r\n*6\r\n" NAME ":-2\r\n*2\r\n+pubsub\r\n"
                           "+module\r\n:1\r\n:1\r\n:1\r\n"),
                     LEARNT_NEW);
    ck_assert_int_eq(learnt->command.class, CLASS_REFUSE);
}
END_TEST

START_TEST(what_may_block_has_a_connection_of_its_own)
{
    ck_assert_int_eq(learn("*1\r\n*6\r\n" NAME ":-2\r\n*1\r\n+blocking\r\n"
                           ":1\r\n:1\r\n:1\r\n"),
                     LEARNT_NEW);
    ck_assert_int_eq(learnt->command.class, CLASS_ROUTE_PIN);
}
END_TEST

START_TEST(another_name_of_a_row_is_that_row)
{
    ck_assert_int_eq(learn("*1\r\n*6\r\n$3\r\nget\r\n:2\r\n*0\r\n:1\r\n:1\r\n"
                           ":1\r\n"),
                     LEARNT_RENAMED);
    ck_assert_ptr_eq(row, command_by_id(COMMAND_ID_GET));
}
END_TEST

START_TEST(subcommands_are_found_by_their_names)
{
    ck_assert_int_eq(
        learn("*1\r\n*10\r\n" NAME ":-2\r\n*1\r\n+module\r\n" NO_KEYS
              "*0\r\n*0\r\n*0\r\n*1\r\n"
              "*10\r\n$7\r\nfoo|bar\r\n:3\r\n*1\r\n+write\r\n:2\r\n:2\r\n:1\r\n"
              "*0\r\n*0\r\n*0\r\n*0\r\n"),
        LEARNT_NEW);
    ck_assert((learnt->command.flags & COMMAND_CONTAINER) != 0);
    const struct command *sub =
        command_find_sub(&learnt->command, VIEW("BAR"));
    ck_assert_ptr_nonnull(sub);
    ck_assert_int_eq(sub->arity, 3);
    ck_assert_int_eq(sub->first_key, 2);
    ck_assert_ptr_null(command_find_sub(&learnt->command, VIEW("ba")));
}
END_TEST

START_TEST(a_reply_that_is_cut_anywhere_tells_nothing)
{
    static const char whole[] =
        "*1\r\n*10\r\n" NAME ":-4\r\n*1\r\n+write\r\n:1\r\n:1\r\n:1\r\n*0\r\n"
        "*0\r\n*1\r\n*6\r\n" TEXT("flags") "*1\r\n+OW\r\n" INDEX("1")
            RANGE("0", "1", "0") "*0\r\n";
    char cut[sizeof(whole)];

    ck_assert_int_eq(learn(whole), LEARNT_NEW);
    for (size_t len = 0; len + 1 < sizeof(whole); len++) {
        memcpy(cut, whole, len);
        cut[len] = '\0';
        ck_assert_int_eq(learn(cut), LEARNT_BAD);
    }
}
END_TEST

static void
expect_described(int resp, const char *wanted)
{
    struct buf found = {0};

    learnt_describe(learnt, resp, &found);
    expect_bytes(buf_view(&found), wanted);
    buf_fini(&found);
}

#define ENTRY_2                                                              \
    "*10\r\n" NAME ":-2\r\n*1\r\n+write\r\n:1\r\n:1\r\n:1\r\n*0\r\n*0\r\n"  \
    "*1\r\n*6\r\n+flags\r\n*1\r\n+RW\r\n" INDEX("1") RANGE("0", "1", "0")     \
    "*0\r\n"
#define ENTRY_3                                                              \
    "*10\r\n" NAME ":-2\r\n~1\r\n+write\r\n:1\r\n:1\r\n:1\r\n~0\r\n~0\r\n"  \
    "~1\r\n%3\r\n+flags\r\n~1\r\n+RW\r\n"                                    \
    "+begin_search\r\n%2\r\n+type\r\n+index\r\n+spec\r\n%1\r\n+index\r\n"    \
    ":1\r\n+find_keys\r\n%2\r\n+type\r\n+range\r\n+spec\r\n%3\r\n"           \
    "+lastkey\r\n:0\r\n+keystep\r\n:1\r\n+limit\r\n:0\r\n~0\r\n"

START_TEST(it_is_described_in_either_version_of_the_protocol)
{
    ck_assert_int_eq(learn("*1\r\n" ENTRY_2), LEARNT_NEW);
    expect_described(2, ENTRY_2);
    expect_described(3, ENTRY_3);
    ck_assert_int_eq(learn("*1\r\n" ENTRY_3), LEARNT_NEW);
    expect_described(2, ENTRY_2);
    expect_described(3, ENTRY_3);
}
END_TEST

START_TEST(an_old_server_describes_it_in_few_fields)
{
    ck_assert_int_eq(learn("*1\r\n*6\r\n" NAME ":2\r\n*0\r\n" NO_KEYS),
                     LEARNT_NEW);
    expect_described(2, "*6\r\n" NAME ":2\r\n*0\r\n" NO_KEYS);
    expect_described(3, "*6\r\n" NAME ":2\r\n~0\r\n" NO_KEYS);
}
END_TEST

/* The documents of a container with an argument in an argument; `map` and `set` begin
 * what is one in version 3: with twice as many elements in version 2. */
#define DOCS(map1, map2, map3, set1)                                         \
    map1 NAME map3 TEXT("summary") TEXT("does it")                           \
        TEXT("doc_flags") set1 TEXT("deprecated")                            \
        TEXT("history") set1 "*2\r\n" TEXT("1.2") TEXT("more")               \
        TEXT("arguments") "*1\r\n" map2 TEXT("flags") set1 TEXT("optional")  \
        TEXT("arguments") "*1\r\n" map1 TEXT("name") TEXT("x")               \
        TEXT("subcommands") map1 TEXT("foo|bar") map1 TEXT("group")          \
        TEXT("module") TEXT("since") ":3\r\n"
#define DOCS_2 DOCS("*2\r\n", "*4\r\n", "*12\r\n", "*1\r\n")
#define DOCS_3 DOCS("%1\r\n", "%2\r\n", "%6\r\n", "~1\r\n")

static void
expect_docs(int resp, const char *wanted)
{
    struct buf found = {0};

    learnt_describe_docs(learnt, resp, &found);
    expect_bytes(buf_view(&found), wanted);
    buf_fini(&found);
}

START_TEST(its_documents_are_told_in_either_version_of_the_protocol)
{
    ck_assert_int_eq(learn("*1\r\n" ENTRY_2), LEARNT_NEW);
    ck_assert(learnt_take_docs(learnt, view_str(DOCS_2)));
    expect_docs(2, &DOCS_2[4]);
    expect_docs(3, &DOCS_3[4]);
    ck_assert(learnt_take_docs(learnt, view_str(DOCS_3)));
    expect_docs(2, &DOCS_2[4]);
    expect_docs(3, &DOCS_3[4]);
}
END_TEST

START_TEST(other_replies_are_no_documents)
{
    static const char *const others[] = {
        "", "*0\r\n", "%0\r\n", "-ERR no\r\n", "*2\r\n" NAME "$-1\r\n",
        "*2\r\n" NAME "*2\r\n" TEXT("arguments") TEXT("none"),
        "*4\r\n" NAME "*0\r\n" NAME "*0\r\n",
    };

    ck_assert_int_eq(learn("*1\r\n" ENTRY_2), LEARNT_NEW);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        ck_assert(!learnt_take_docs(learnt, view_str(others[i])));
    for (size_t len = 0; len < strlen(DOCS_2); len++) {
        struct guard bytes = guard_copy(DOCS_2, len);
        ck_assert(!learnt_take_docs(learnt, view_of(bytes.data, len)));
        guard_free(&bytes);
    }
    ck_assert(learnt->docs == NULL);
}
END_TEST

START_TEST(arguments_in_arguments_have_an_end)
{
    struct buf docs = {0};

    buf_append_str(&docs, "*2\r\n" NAME "*2\r\n");
    for (int i = 0; i < 1000; i++)
        buf_append_str(&docs, TEXT("arguments") "*1\r\n*2\r\n");
    buf_append_str(&docs, TEXT("name") TEXT("x"));
    ck_assert_int_eq(learn("*1\r\n" ENTRY_2), LEARNT_NEW);
    ck_assert(!learnt_take_docs(learnt, buf_view(&docs)));
    buf_fini(&docs);
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("learnt");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_name_that_nobody_knows_is_null);
    tcase_add_test(tests, other_replies_tell_nothing);
    tcase_add_test(tests, six_fields_of_an_old_server_do);
    tcase_add_test(tests, one_key_is_found_at_once);
    tcase_add_test(tests, key_specifications_say_where_keys_are);
    tcase_add_test(tests, keys_behind_a_word_are_found_in_resp3);
    tcase_add_test(tests, keys_that_are_not_told_need_a_single_server);
    tcase_add_test(tests, what_may_change_the_connection_is_refused);
    tcase_add_test(tests, what_may_block_has_a_connection_of_its_own);
    tcase_add_test(tests, another_name_of_a_row_is_that_row);
    tcase_add_test(tests, subcommands_are_found_by_their_names);
    tcase_add_test(tests, a_reply_that_is_cut_anywhere_tells_nothing);
    tcase_add_test(tests, it_is_described_in_either_version_of_the_protocol);
    tcase_add_test(tests, an_old_server_describes_it_in_few_fields);
    tcase_add_test(tests,
                   its_documents_are_told_in_either_version_of_the_protocol);
    tcase_add_test(tests, other_replies_are_no_documents);
    tcase_add_test(tests, arguments_in_arguments_have_an_end);
    return unit_run("command", tests);
}
