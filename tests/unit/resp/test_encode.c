/*
 * What is written is what servers write, and can be read again.
 */
#include "guard.h"
#include "resp/encode.h"
#include "resp/reply_read.h"
#include "resp/reply_scan.h"

/* Compare, and empty the buffer. */
static void
expect(struct buf *out, const char *text)
{
    ck_assert(view_equal(buf_view(out), view_str(text)));
    buf_fini(out);
}

START_TEST(lines_are_written_plainly)
{
    struct buf out = {0};

    encode_simple(&out, "OK");
    expect(&out, "+OK\r\n");
    encode_error(&out, VIEW("ERR no such thing"));
    expect(&out, "-ERR no such thing\r\n");
}
END_TEST

START_TEST(line_ends_in_errors_become_blanks)
{
    struct buf out = {0};

    encode_error(&out, VIEW("ERR a\r\n+OK\nb\r"));
    expect(&out, "-ERR a  +OK b \r\n");
}
END_TEST

START_TEST(integers_are_written_to_both_ends)
{
    struct buf out = {0};

    encode_integer(&out, 0);
    expect(&out, ":0\r\n");
    encode_integer(&out, -10);
    expect(&out, ":-10\r\n");
    encode_integer(&out, INT64_MAX);
    expect(&out, ":9223372036854775807\r\n");
    encode_integer(&out, INT64_MIN);
    expect(&out, ":-9223372036854775808\r\n");
}
END_TEST

START_TEST(bulks_hold_any_bytes)
{
    struct buf out = {0};

    encode_bulk(&out, VIEW("a\0\r\n"));
    ck_assert(view_equal(buf_view(&out), VIEW("$4\r\na\0\r\n\r\n")));
    buf_fini(&out);
    encode_bulk(&out, view_of(NULL, 0));
    expect(&out, "$0\r\n\r\n");
    encode_bulk_str(&out, "hello");
    expect(&out, "$5\r\nhello\r\n");
    encode_bulk_u64(&out, 0);
    expect(&out, "$1\r\n0\r\n");
    encode_bulk_u64(&out, UINT64_MAX);
    expect(&out, "$20\r\n18446744073709551615\r\n");
}
END_TEST

START_TEST(second_protocol_has_no_new_types)
{
    struct buf out = {0};

    encode_null(&out, 2);
    encode_null_array(&out, 2);
    encode_array(&out, 3);
    encode_map(&out, 2, 3);
    encode_set(&out, 2, 3);
    encode_push(&out, 2, 3);
    encode_bool(&out, 2, true);
    encode_bool(&out, 2, false);
    encode_verbatim(&out, 2, VIEW("hi"));
    expect(&out, "$-1\r\n*-1\r\n*3\r\n*6\r\n*3\r\n*3\r\n:1\r\n:0\r\n"
                 "$2\r\nhi\r\n");
}
END_TEST

START_TEST(third_protocol_has_types_of_its_own)
{
    struct buf out = {0};

    encode_null(&out, 3);
    encode_null_array(&out, 3);
    encode_array(&out, 3);
    encode_map(&out, 3, 3);
    encode_set(&out, 3, 3);
    encode_push(&out, 3, 3);
    encode_bool(&out, 3, true);
    encode_bool(&out, 3, false);
    encode_verbatim(&out, 3, VIEW("hi"));
    expect(&out, "_\r\n_\r\n*3\r\n%3\r\n~3\r\n>3\r\n#t\r\n#f\r\n"
                 "=6\r\ntxt:hi\r\n");
}
END_TEST

/* A map of everything, six pairs. */
static void
encode_everything(struct buf *out, int resp)
{
    encode_map(out, resp, 6);
    encode_simple(out, "simple");
    encode_error(out, VIEW("ERR x"));
    encode_integer(out, -5);
    encode_bulk(out, VIEW("\r\n"));
    encode_null(out, resp);
    encode_null_array(out, resp);
    encode_bool(out, resp, true);
    encode_verbatim(out, resp, VIEW("text"));
    encode_set(out, resp, 0);
    encode_array(out, 0);
    encode_push(out, resp, 0);
    encode_bulk_u64(out, 77);
}

START_TEST(everything_written_is_one_reply_to_scanner_and_reader)
{
    for (int resp = 2; resp <= 3; resp++) {
        struct buf out = {0};
        struct reply_scan scan;
        size_t used;
        encode_everything(&out, resp);
        reply_scan_init(&scan);
        ck_assert_int_eq(reply_scan(&scan, guard_copy(0, buf_view(&out)),
                                    out.len, &used),
                         RESP_OK);
        ck_assert_uint_eq(used, out.len);
        struct view rest = buf_view(&out);
        ck_assert(reply_skip(&rest));
        ck_assert_uint_eq(rest.len, 0);
        buf_fini(&out);
    }
}
END_TEST

START_TEST(values_come_back_as_they_were_written)
{
    struct buf out = {0};
    struct reply_item item;

    encode_integer(&out, INT64_MIN);
    encode_bulk(&out, VIEW("a\r\n\0b"));
    encode_verbatim(&out, 3, VIEW("text"));
    struct view rest = buf_view(&out);
    ck_assert(reply_next(&rest, &item));
    ck_assert_int_eq(item.number, INT64_MIN);
    ck_assert(reply_next(&rest, &item));
    ck_assert(view_equal(item.text, VIEW("a\r\n\0b")));
    ck_assert(reply_next(&rest, &item));
    ck_assert(view_equal(item.text, VIEW("text")));
    ck_assert_uint_eq(rest.len, 0);
    buf_fini(&out);
}
END_TEST

int
main(void)
{
    const TTest *const tests[] = {
        lines_are_written_plainly,
        line_ends_in_errors_become_blanks,
        integers_are_written_to_both_ends,
        bulks_hold_any_bytes,
        second_protocol_has_no_new_types,
        third_protocol_has_types_of_its_own,
        everything_written_is_one_reply_to_scanner_and_reader,
        values_come_back_as_they_were_written,
    };
    return run_tests("encode", tests, ARRAY_LEN(tests));
}
