/*
 * Replies of all types: where they end, in pieces of any size.
 */
#include <stdio.h>

#include "base/buf.h"
#include "guard.h"
#include "resp/reply_read.h"
#include "resp/reply_scan.h"

struct reply {
    const char *text;
    char type;
};

static const struct reply GOOD[] = {
    {"+OK\r\n", '+'},
    {"+\r\n", '+'},
    {"+PONG and more\r\n", '+'},
    {"-ERR no\r\n", '-'},
    {"-MOVED 1 127.0.0.1:7000\r\n", '-'},
    {":0\r\n", ':'},
    {":-1\r\n", ':'},
    {":1000\r\n", ':'},
    {":9223372036854775807\r\n", ':'},
    {":-9223372036854775808\r\n", ':'},
    {"$0\r\n\r\n", '$'},
    {"$5\r\nhello\r\n", '$'},
    {"$10\r\n0123\r\n6789\r\n", '$'},
    {"$-1\r\n", '$'},
    {"*-1\r\n", '*'},
    {"*0\r\n", '*'},
    {"*1\r\n*0\r\n", '*'},
    {"*3\r\n$1\r\na\r\n$-1\r\n:7\r\n", '*'},
    {"*2\r\n*2\r\n+a\r\n-b\r\n*1\r\n*1\r\n$1\r\nc\r\n", '*'},
    {"_\r\n", '_'},
    {"#t\r\n", '#'},
    {"#f\r\n", '#'},
    {",1.5e3\r\n", ','},
    {",-inf\r\n", ','},
    {"(3492890328409238509324850943850943825024385\r\n", '('},
    {"!9\r\nERR\r\nlong\r\n", '!'},
    {"=8\r\ntxt:Some\r\n", '='},
    {"%0\r\n", '%'},
    {"%2\r\n+a\r\n:1\r\n+b\r\n%1\r\n+c\r\n_\r\n", '%'},
    {"~3\r\n+a\r\n#t\r\n,1\r\n", '~'},
    {">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n", '>'},
    {"|1\r\n+ttl\r\n:3600\r\n$1\r\na\r\n", '$'},
    {"|0\r\n:1\r\n", ':'},
    {"|1\r\n+a\r\n%1\r\n+b\r\n+c\r\n|1\r\n+d\r\n+e\r\n*0\r\n", '*'},
    {"*2\r\n|1\r\n+a\r\n+b\r\n:1\r\n:2\r\n", '*'},
    {"*1\r\n|0\r\n|1\r\n*0\r\n*1\r\n_\r\n#t\r\n", '*'},
    {"%1\r\n|1\r\n+x\r\n+y\r\n+key\r\n|1\r\n+x\r\n+y\r\n$1\r\nv\r\n", '%'},
};

static const char *const BAD[] = {
    "x",           "\r\n",       "+a\nb\r\n",  "+\n",         "+a\rb\r\n",
    "-ERR\n\r\n",  ":\r\n",      ":1a\r\n",    ":+1\r\n",     ": 1\r\n",
    ":01\r\n",     ":-\r\n",     ":-0\r\n",    ":--1\r\n",    ":1-\r\n",
    ":1\rx",       ":9223372036854775808\r\n", ":-9223372036854775809\r\n",
    "$\r\n",       "$-2\r\n",    "$-\r\n",     "$-01\r\n",    "$01\r\n",
    "$+1\r\na\r\n", "$1 \r\na\r\n", "$1\na\r\n", "$1\r\nab\r\n",
    "$1\r\na\rb",  "$1\r\na\n",  "$0\r\na",    "$?\r\n",      "*?\r\n",
    "%?\r\n",      "~?\r\n",     "*-2\r\n",    "*x\r\n",      "*1\r\nx",
    "%-1\r\n",     "~-1\r\n",    ">-1\r\n",    "|-1\r\n",     "!-1\r\n",
    "=-1\r\n",     "_x\r\n",     "#\r\n",      "#x\r\n",      "#tt\r\n",
    ";4\r\nabcd\r\n", ".\r\n",   "*9223372036854775807\r\n",
    "%1152921504606846977\r\n",  "*2\r\n+a\r\n$1\r\nabc",
    "$99999999999999999999\r\n",
};

/* Feed pieces of `step` bytes after one of `first`; *total is what was used. */
static enum resp_result
feed(struct reply_scan *scan, struct view bytes, size_t first, size_t step,
     size_t *total)
{
    enum resp_result result = RESP_AGAIN;
    size_t next = MIN(first, bytes.len), used;

    *total = 0;
    do {
        struct view piece = view_of(bytes.data + *total, next);
        result = reply_scan(scan, guard_copy(0, piece), piece.len, &used);
        *total += used;
        if (result == RESP_AGAIN)
            ck_assert_uint_eq(used, piece.len);
        if (result != RESP_BAD)
            ck_assert_uint_eq(scan->size, *total);
        ck_assert_uint_ge(scan->known, scan->size);
        next = MIN(step, bytes.len - *total);
    } while (result == RESP_AGAIN && *total < bytes.len);
    return result;
}

static void
expect_end(struct view bytes, size_t first, size_t step, size_t size,
           char type)
{
    struct reply_scan scan;
    size_t total;

    reply_scan_init(&scan);
    ck_assert_int_eq(feed(&scan, bytes, first, step, &total), RESP_OK);
    ck_assert_uint_eq(total, size);
    ck_assert_uint_eq(scan.size, size);
    ck_assert_uint_eq(scan.known, size);
    ck_assert_int_eq(scan.type, type);
    ck_assert_ptr_null(scan.deep); /* nothing is kept between replies */
}

START_TEST(reply_ends_at_the_same_byte_however_it_is_cut)
{
    for (size_t i = 0; i < ARRAY_LEN(GOOD); i++) {
        struct buf two = {0};
        size_t size = strlen(GOOD[i].text);
        buf_printf(&two, "%s$3\r\nabc\r\n", GOOD[i].text);
        struct view alone = view_of(two.data, size);
        expect_end(alone, size, 1, size, GOOD[i].type);
        expect_end(buf_view(&two), two.len, 1, size, GOOD[i].type);
        expect_end(alone, 1, 1, size, GOOD[i].type);
        expect_end(alone, 0, 1, size, GOOD[i].type);
        for (size_t cut = 1; cut < size; cut++)
            expect_end(buf_view(&two), cut, two.len, size, GOOD[i].type);
        buf_fini(&two);
    }
}
END_TEST

START_TEST(every_prefix_of_a_reply_asks_for_more)
{
    for (size_t i = 0; i < ARRAY_LEN(GOOD); i++) {
        size_t size = strlen(GOOD[i].text), total;
        for (size_t len = 0; len < size; len++) {
            struct reply_scan scan;
            reply_scan_init(&scan);
            ck_assert_int_eq(
                feed(&scan, view_of(GOOD[i].text, len), len, 1, &total),
                RESP_AGAIN);
            ck_assert_uint_le(scan.known, size);
        }
    }
}
END_TEST

START_TEST(stream_of_replies_is_scanned_with_one_scanner)
{
    struct buf all = {0};

    for (size_t i = 0; i < ARRAY_LEN(GOOD); i++)
        buf_append_str(&all, GOOD[i].text);
    for (size_t step = 1; step < 40; step++) {
        struct reply_scan scan;
        size_t at = 0, total;
        reply_scan_init(&scan);
        for (size_t i = 0; i < ARRAY_LEN(GOOD); i++) {
            struct view rest = view_of(all.data + at, all.len - at);
            ck_assert_int_eq(feed(&scan, rest, step, step, &total), RESP_OK);
            ck_assert_uint_eq(total, strlen(GOOD[i].text));
            ck_assert_int_eq(scan.type, GOOD[i].type);
            at += total;
        }
        ck_assert_uint_eq(at, all.len);
    }
    buf_fini(&all);
}
END_TEST

static void
expect_bad(struct view bytes, size_t first, size_t step, const char **why)
{
    struct reply_scan scan;
    size_t total;

    reply_scan_init(&scan);
    ck_assert_int_eq(feed(&scan, bytes, first, step, &total), RESP_BAD);
    ck_assert_ptr_nonnull(scan.error);
    if (*why != NULL)
        ck_assert_str_eq(scan.error, *why);
    *why = scan.error;
    /* A stream that was given up stays so. */
    ck_assert_int_eq(feed(&scan, VIEW("+OK\r\n"), 5, 1, &total), RESP_BAD);
}

START_TEST(bad_replies_are_refused_for_one_reason_however_cut)
{
    for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
        struct view bytes = view_str(BAD[i]);
        const char *why = NULL;
        expect_bad(bytes, bytes.len, 1, &why);
        expect_bad(bytes, 1, 1, &why);
        for (size_t cut = 1; cut < bytes.len; cut++)
            expect_bad(bytes, cut, bytes.len, &why);
    }
}
END_TEST

START_TEST(streamed_forms_are_refused_by_name)
{
    const char *why = "streamed replies are not supported";

    expect_bad(VIEW("$?\r\n"), 4, 1, &why);
    expect_bad(VIEW("*?\r\n"), 4, 1, &why);
    expect_bad(VIEW("*1\r\n%?\r\n"), 8, 1, &why);
}
END_TEST

START_TEST(bulk_in_progress_tells_how_much_is_to_come)
{
    struct view bytes = VIEW("*2\r\n$1000000000000\r\nabc");
    struct reply_scan scan;
    size_t total;

    reply_scan_init(&scan);
    ck_assert_int_eq(feed(&scan, bytes, bytes.len, 1, &total), RESP_AGAIN);
    ck_assert_int_eq(scan.type, '*');
    ck_assert_uint_eq(scan.known, bytes.len - 3 + 1000000000000u + 2);
}
END_TEST

START_TEST(known_size_of_a_bulk_stays_true_to_its_end)
{
    struct view bytes = VIEW("$5\r\nhello\r\n");

    for (size_t len = 4; len < bytes.len; len++) {
        struct reply_scan scan;
        size_t total;
        reply_scan_init(&scan);
        ck_assert_int_eq(
            feed(&scan, view_of(bytes.data, len), len, 1, &total), RESP_AGAIN);
        ck_assert_uint_eq(scan.known, bytes.len);
    }
}
END_TEST

/* `depth` arrays of one element around an integer. */
static struct buf
nested(size_t depth)
{
    struct buf text = {0};

    for (size_t i = 0; i < depth; i++)
        buf_append_str(&text, "*1\r\n");
    buf_append_str(&text, ":1\r\n");
    return text;
}

START_TEST(nesting_ends_at_its_limit)
{
    struct buf deep = nested(RESP_MAX_DEPTH);
    struct buf deeper = nested(RESP_MAX_DEPTH + 1);
    const char *why = "a reply is nested too deeply";

    expect_end(buf_view(&deep), deep.len, 1, deep.len, '*');
    expect_end(buf_view(&deep), 1, 1, deep.len, '*');
    expect_bad(buf_view(&deeper), deeper.len, 1, &why);
    expect_bad(buf_view(&deeper), 1, 1, &why);
    buf_fini(&deep);
    buf_fini(&deeper);
}
END_TEST

/* Also where a level is not the last element of the one around it. */
START_TEST(scan_that_stops_deep_inside_is_given_back)
{
    struct buf text = {0};
    struct reply_scan scan;
    size_t total;

    for (size_t i = 0; i < REPLY_LEVELS_INLINE * 3; i++)
        buf_append_str(&text, "*2\r\n");
    reply_scan_init(&scan);
    ck_assert_int_eq(feed(&scan, buf_view(&text), text.len, 1, &total),
                     RESP_AGAIN);
    ck_assert_ptr_nonnull(scan.deep);
    reply_scan_fini(&scan);
    ck_assert_ptr_null(scan.deep);
    buf_append_str(&text, ":0\r\n");
    for (size_t i = 0; i < REPLY_LEVELS_INLINE * 3; i++)
        buf_append_str(&text, ":1\r\n");
    expect_end(buf_view(&text), 1, 1, text.len, '*');
    buf_fini(&text);
}
END_TEST

START_TEST(long_arrays_and_lines_are_scanned)
{
    struct buf text = {0};

    buf_append_str(&text, "*20001\r\n");
    for (int i = 0; i < 10000; i++)
        buf_append_str(&text, "$1\r\nx\r\n:5\r\n");
    buf_append_char(&text, '+');
    for (int i = 0; i < 70000; i++)
        buf_append_char(&text, 'y');
    buf_append_str(&text, "\r\n");
    expect_end(buf_view(&text), text.len, 1, text.len, '*');
    expect_end(buf_view(&text), 1, 1, text.len, '*');
    expect_end(buf_view(&text), 11, 777, text.len, '*');
    buf_fini(&text);
}
END_TEST

START_TEST(what_was_scanned_is_skipped_by_the_reader)
{
    for (size_t i = 0; i < ARRAY_LEN(GOOD); i++) {
        struct view bytes = view_str(GOOD[i].text);
        struct view rest = view_of(guard_copy(0, bytes), bytes.len);
        ck_assert(reply_skip(&rest));
        ck_assert_uint_eq(rest.len, 0);
    }
}
END_TEST

int
main(void)
{
    const TTest *const tests[] = {
        reply_ends_at_the_same_byte_however_it_is_cut,
        every_prefix_of_a_reply_asks_for_more,
        stream_of_replies_is_scanned_with_one_scanner,
        bad_replies_are_refused_for_one_reason_however_cut,
        streamed_forms_are_refused_by_name,
        bulk_in_progress_tells_how_much_is_to_come,
        known_size_of_a_bulk_stays_true_to_its_end,
        nesting_ends_at_its_limit,
        scan_that_stops_deep_inside_is_given_back,
        long_arrays_and_lines_are_scanned,
        what_was_scanned_is_skipped_by_the_reader,
    };
    return run_tests("reply_scan", tests, ARRAY_LEN(tests));
}
