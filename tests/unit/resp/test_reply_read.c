/*
 * The contents of replies that are here whole.
 */
#include "guard.h"
#include "resp/reply_read.h"

static struct reply_item
only(struct view bytes)
{
    struct view rest = view_of(guard_copy(0, bytes), bytes.len);
    struct reply_item item;

    ck_assert(reply_next(&rest, &item));
    ck_assert_uint_eq(rest.len, 0);
    ck_assert(view_equal(item.raw, bytes));
    return item;
}

static void
expect_text(struct view bytes, char type, struct view text)
{
    struct reply_item item = only(bytes);

    ck_assert_int_eq(item.type, type);
    ck_assert(!item.is_null);
    ck_assert_uint_eq(item.count, 0);
    ck_assert(view_equal(item.text, text));
}

START_TEST(texts_are_found_in_all_types_that_have_one)
{
    expect_text(VIEW("+OK\r\n"), RESP_SIMPLE, VIEW("OK"));
    expect_text(VIEW("+\r\n"), RESP_SIMPLE, VIEW(""));
    expect_text(VIEW("-ERR no\r\n"), RESP_ERROR, VIEW("ERR no"));
    expect_text(VIEW("$4\r\na\r\nb\r\n"), RESP_BULK, VIEW("a\r\nb"));
    expect_text(VIEW("$0\r\n\r\n"), RESP_BULK, VIEW(""));
    expect_text(VIEW(",1.5\r\n"), RESP_DOUBLE, VIEW("1.5"));
    expect_text(VIEW("(12345678901234567890\r\n"), RESP_BIG_NUMBER,
                VIEW("12345678901234567890"));
    expect_text(VIEW("!6\r\nERR no\r\n"), RESP_BULK_ERROR, VIEW("ERR no"));
    expect_text(VIEW("=6\r\ntxt:hi\r\n"), RESP_VERBATIM, VIEW("hi"));
    expect_text(VIEW("=2\r\nhi\r\n"), RESP_VERBATIM, VIEW("hi"));
    expect_text(VIEW(":-12\r\n"), RESP_INTEGER, VIEW("-12"));
}
END_TEST

START_TEST(numbers_and_booleans_have_their_value)
{
    ck_assert_int_eq(only(VIEW(":-12\r\n")).number, -12);
    ck_assert_int_eq(only(VIEW(":9223372036854775807\r\n")).number, INT64_MAX);
    ck_assert_int_eq(only(VIEW(":-9223372036854775808\r\n")).number,
                     INT64_MIN);
    ck_assert_int_eq(only(VIEW("#t\r\n")).number, 1);
    ck_assert_int_eq(only(VIEW("#f\r\n")).number, 0);
}
END_TEST

START_TEST(nulls_of_both_protocols_are_null)
{
    ck_assert(only(VIEW("$-1\r\n")).is_null);
    ck_assert(only(VIEW("*-1\r\n")).is_null);
    ck_assert(only(VIEW("_\r\n")).is_null);
    ck_assert_int_eq(only(VIEW("*-1\r\n")).type, RESP_ARRAY);
}
END_TEST

START_TEST(aggregates_count_what_follows)
{
    struct view rest = VIEW("*2\r\n%1\r\n+a\r\n:1\r\n~1\r\n$1\r\nb\r\n:9\r\n");
    struct reply_item item;

    ck_assert(reply_next(&rest, &item));
    ck_assert_uint_eq(item.count, 2);
    ck_assert(view_equal(item.raw, VIEW("*2\r\n")));
    ck_assert(reply_next(&rest, &item));
    ck_assert_int_eq(item.type, RESP_MAP);
    ck_assert_uint_eq(item.count, 2);
    ck_assert(reply_next(&rest, &item));
    ck_assert(view_equal(item.text, VIEW("a")));
    ck_assert(reply_next(&rest, &item));
    ck_assert_int_eq(item.number, 1);
    ck_assert(reply_skip(&rest));
    ck_assert(view_equal(rest, VIEW(":9\r\n")));
}
END_TEST

START_TEST(skipping_passes_over_what_is_nested)
{
    struct view rest =
        VIEW("*2\r\n*2\r\n+a\r\n*0\r\n|1\r\n+k\r\n*1\r\n_\r\n#t\r\n+next\r\n");

    ck_assert(reply_skip(&rest));
    ck_assert(view_equal(rest, VIEW("+next\r\n")));
    ck_assert(reply_skip(&rest));
    ck_assert_uint_eq(rest.len, 0);
    ck_assert(!reply_skip(&rest));
}
END_TEST

START_TEST(attributes_are_passed_over)
{
    struct view rest = VIEW("|1\r\n+k\r\n*1\r\n:5\r\n|0\r\n:7\r\n");
    struct reply_item item;

    ck_assert(reply_next(&rest, &item));
    ck_assert_int_eq(item.type, RESP_INTEGER);
    ck_assert_int_eq(item.number, 7);
    ck_assert(view_equal(item.raw, VIEW(":7\r\n")));
    ck_assert_uint_eq(rest.len, 0);
}
END_TEST

START_TEST(cut_replies_are_reported_and_the_cursor_stays)
{
    struct view bytes =
        VIEW("*4\r\n|1\r\n+k\r\n+v\r\n$5\r\nhello\r\n:12\r\n#t\r\n"
             "=5\r\ntxt:x\r\n");

    for (size_t len = 0; len < bytes.len; len++) {
        struct view rest = view_of(
            guard_copy(0, view_of(bytes.data, len)), len);
        struct view before = rest;
        ck_assert(!reply_skip(&rest));
        ck_assert_ptr_eq(rest.data, before.data);
        ck_assert_uint_eq(rest.len, before.len);
    }
}
END_TEST

START_TEST(what_is_no_reply_is_reported)
{
    static const char *const bad[] = {
        "",       "x\r\n",    "\r\n\r\n",  "+OK",       "+OK\r",
        "+OK\rx", ":x\r\n",   ":\r\n",     "$x\r\n",    "$-2\r\n",
        "$5\r\n", "$1\r\nab", "*x\r\n",    "*-2\r\n",   "*100\r\n",
        "#x\r\n", "_x\r\n",   "%-1\r\n",   "!-1\r\n",   "|1\r\n+a\r\n",
        "$1\r\nabc\r\n",      "$18446744073709551615\r\n",
        "%18446744073709551615\r\n",       "|1\r\n+a\r\nx\r\n:1\r\n",
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct view bytes = view_str(bad[i]);
        struct view rest = view_of(guard_copy(0, bytes), bytes.len);
        struct reply_item item;
        ck_assert(!reply_next(&rest, &item));
        ck_assert_uint_eq(rest.len, bytes.len);
    }
}
END_TEST

int
main(void)
{
    const TTest *const tests[] = {
        texts_are_found_in_all_types_that_have_one,
        numbers_and_booleans_have_their_value,
        nulls_of_both_protocols_are_null,
        aggregates_count_what_follows,
        skipping_passes_over_what_is_nested,
        attributes_are_passed_over,
        cut_replies_are_reported_and_the_cursor_stays,
        what_is_no_reply_is_reported,
    };
    return run_tests("reply_read", tests, ARRAY_LEN(tests));
}
