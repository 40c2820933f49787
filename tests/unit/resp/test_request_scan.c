/*
 * Requests that are as they should be: where they end, what is in them.
 */
#include "requests.h"

#define TWELVE_WORDS                                               \
    "*12\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n$1\r\nd\r\n$1\r\ne\r\n" \
    "$1\r\nf\r\n$1\r\ng\r\n$1\r\nh\r\n$1\r\ni\r\n$1\r\nj\r\n"         \
    "$1\r\nk\r\n$1\r\nl\r\n"

static const char *const GOOD[] = {
    "*1\r\n$4\r\nPING\r\n",
    "*2\r\n$3\r\nGET\r\n$6\r\nkey:01\r\n",
    "*3\r\n$3\r\nSET\r\n$0\r\n\r\n$11\r\n\r\n$5\r\n*1\r\nx\r\n",
    "*1\r\n$0\r\n\r\n",
    "*2\r\n$4\r\nECHO\r\n$4\r\nPOST\r\n",
    TWELVE_WORDS,
    "*2\r\n$5\r\nposts\r\n$5\r\nHost:\r\n",
};

static struct view
good(size_t i)
{
    return view_str(GOOD[i]);
}

/* MSET-like: `count` words of `len` bytes. */
static void
build(struct buf *out, uint32_t count, uint32_t len)
{
    buf_printf(out, "*%u\r\n", count);
    for (uint32_t i = 0; i < count; i++) {
        buf_printf(out, "$%u\r\n", len);
        memset(buf_reserve(out, len), 'a' + (int)(i % 26), len);
        out->len += len;
        buf_append_str(out, "\r\n");
    }
}

START_TEST(request_is_the_same_however_it_is_cut)
{
    for (size_t i = 0; i < ARRAY_LEN(GOOD); i++) {
        struct request_scan scan;
        request_scan_init(&scan);
        ck_assert_int_eq(scan_all_ways(&scan, &OPEN, good(i)), RESP_OK);
        ck_assert_int_eq(scan.kind, REQUEST_ARRAY);
        ck_assert_uint_eq(scan.size, good(i).len);
        ck_assert_uint_eq(scan.known, scan.size);
        ck_assert_uint_eq(scan.seen, scan.argc);
        request_scan_fini(&scan);
    }
}
END_TEST

START_TEST(request_ends_before_the_next_one)
{
    for (size_t i = 0; i < ARRAY_LEN(GOOD); i++) {
        struct request_scan scan;
        struct buf two = {0};
        request_scan_init(&scan);
        buf_append_view(&two, good(i));
        buf_append_str(&two, "*9 nonsense\r\n");
        ck_assert_int_eq(scan_all_ways(&scan, &OPEN, buf_view(&two)), RESP_OK);
        ck_assert_uint_eq(scan.size, good(i).len);
        buf_fini(&two);
        request_scan_fini(&scan);
    }
}
END_TEST

START_TEST(every_prefix_of_a_request_asks_for_more)
{
    for (size_t i = 0; i < ARRAY_LEN(GOOD); i++) {
        struct view bytes = good(i);
        for (size_t len = 0; len < bytes.len; len++) {
            struct request_scan scan;
            request_scan_init(&scan);
            ck_assert_int_eq(show(&scan, &OPEN, bytes, len), RESP_AGAIN);
            ck_assert_uint_eq(scan.size, len);
            ck_assert_uint_le(scan.known, bytes.len);
            request_scan_fini(&scan);
        }
    }
}
END_TEST

START_TEST(words_are_found_where_they_stand)
{
    struct view bytes = VIEW("*3\r\n$3\r\nSET\r\n$0\r\n\r\n$4\r\n\r\n\r\n\r\n");
    struct request_scan scan;

    request_scan_init(&scan);
    ck_assert_int_eq(scan_all_ways(&scan, &OPEN, bytes), RESP_OK);
    ck_assert_uint_eq(scan.argc, 3);
    ck_assert(view_equal(request_arg(&scan, bytes.data, 0), VIEW("SET")));
    ck_assert(view_equal(request_arg(&scan, bytes.data, 1), VIEW("")));
    ck_assert(view_equal(request_arg(&scan, bytes.data, 2), VIEW("\r\n\r\n")));
    request_scan_fini(&scan);
}
END_TEST

START_TEST(words_may_hold_any_byte)
{
    struct view bytes = VIEW("*2\r\n$4\r\n\0\xff\r\n\r\n$3\r\n$1\r\r\n");
    struct request_scan scan;

    request_scan_init(&scan);
    ck_assert_int_eq(scan_all_ways(&scan, &OPEN, bytes), RESP_OK);
    ck_assert(
        view_equal(request_arg(&scan, bytes.data, 0), VIEW("\0\xff\r\n")));
    request_scan_fini(&scan);
}
END_TEST

START_TEST(lengths_of_all_sizes_are_read)
{
    static const uint32_t lens[] = {1,  9,   10,   11,   99,    100,
                                    999, 1000, 9999, 10000, 100000};

    for (size_t i = 0; i < ARRAY_LEN(lens); i++) {
        struct request_scan scan;
        struct buf text = {0};
        request_scan_init(&scan);
        build(&text, 2, lens[i]);
        ck_assert_int_eq(show(&scan, &OPEN, buf_view(&text), text.len),
                         RESP_OK);
        ck_assert_uint_eq(scan.args[1].len, lens[i]);
        ck_assert_uint_eq(scan.size, text.len);
        expect_steps_agree(&OPEN, buf_view(&text), 0, 997, &scan, RESP_OK);
        buf_fini(&text);
        request_scan_fini(&scan);
    }
}
END_TEST

START_TEST(many_words_are_kept_and_a_large_list_is_given_back)
{
    struct request_scan scan;
    struct buf text = {0};

    request_scan_init(&scan);
    build(&text, 5000, 3);
    ck_assert_int_eq(show(&scan, &OPEN, buf_view(&text), text.len), RESP_OK);
    ck_assert_uint_eq(scan.seen, 5000);
    for (uint32_t i = 0; i < scan.seen; i++) {
        struct view word = request_arg(&scan, text.data, i);
        ck_assert_uint_eq(word.len, 3);
        ck_assert_int_eq(word.data[2], 'a' + (int)(i % 26));
    }
    expect_steps_agree(&OPEN, buf_view(&text), 0, 61, &scan, RESP_OK);

    request_scan_reset(&scan);
    ck_assert_ptr_eq(scan.args, scan.few);
    buf_fini(&text);
    request_scan_fini(&scan);
}
END_TEST

START_TEST(list_of_words_of_medium_size_is_kept_for_the_next_request)
{
    struct request_scan scan;
    struct buf text = {0};

    request_scan_init(&scan);
    build(&text, 100, 3);
    ck_assert_int_eq(show(&scan, &OPEN, buf_view(&text), text.len), RESP_OK);
    struct resp_arg *args = scan.args;

    request_scan_reset(&scan);
    ck_assert_int_eq(show(&scan, &OPEN, buf_view(&text), text.len), RESP_OK);
    ck_assert_ptr_eq(scan.args, args);
    ck_assert_uint_eq(scan.seen, 100);
    buf_fini(&text);
    request_scan_fini(&scan);
}
END_TEST

START_TEST(pipeline_is_scanned_one_by_one_with_one_scanner)
{
    struct request_scan scan;
    struct buf all = {0};
    size_t at = 0, found = 0;

    for (size_t i = 0; i < ARRAY_LEN(GOOD); i++)
        buf_append_view(&all, good(i));
    buf_append_str(&all, "PING\r\n");
    request_scan_init(&scan);
    while (at < all.len) {
        struct view rest = view_of(all.data + at, all.len - at);
        request_scan_reset(&scan);
        ck_assert_int_eq(show(&scan, &OPEN, rest, rest.len), RESP_OK);
        at += scan.size;
        found++;
    }
    ck_assert_uint_eq(found, ARRAY_LEN(GOOD) + 1);
    ck_assert_int_eq(scan.kind, REQUEST_INLINE);
    buf_fini(&all);
    request_scan_fini(&scan);
}
END_TEST

START_TEST(length_of_a_word_tells_how_much_is_to_come)
{
    struct view bytes = VIEW("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1000\r\nabc");
    struct request_scan scan;

    request_scan_init(&scan);
    ck_assert_int_eq(show(&scan, &OPEN, bytes, bytes.len), RESP_AGAIN);
    ck_assert_uint_eq(scan.argc, 3);
    ck_assert_uint_eq(scan.seen, 2);
    ck_assert(scan.in_bulk);
    ck_assert_uint_eq(scan.bulk_len, 1000);
    ck_assert_uint_eq(scan.size, bytes.len);
    ck_assert_uint_eq(scan.known, bytes.len - 3 + 1000 + 2);
    request_scan_fini(&scan);
}
END_TEST

START_TEST(empty_requests_are_skipped_without_reply)
{
    static const char *const empty[] = {
        "\r\n",    "\n",      " \t \r\n",  "\v\f\n",
        "*0\r\n",  "*-1\r\n", "*-10\r\n", "*-999999999999999999\r\n",
    };

    for (size_t i = 0; i < ARRAY_LEN(empty); i++) {
        struct request_scan scan;
        struct buf text = {0};
        request_scan_init(&scan);
        buf_printf(&text, "%sPING\r\n", empty[i]);
        ck_assert_int_eq(scan_all_ways(&scan, &OPEN, buf_view(&text)),
                         RESP_OK);
        ck_assert_int_eq(scan.kind, REQUEST_EMPTY);
        ck_assert_uint_eq(scan.size, strlen(empty[i]));
        buf_fini(&text);
        request_scan_fini(&scan);
    }
}
END_TEST

START_TEST(inline_request_ends_at_its_line_end)
{
    static const char *const lines[] = {
        "PING\r\n", "PING\n", "  SET a \"b c\" \r\n", "\"\"\r\n", "\"open\n",
        "$4\r\n",   "ECHO POST\n"};

    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct request_scan scan;
        struct buf text = {0};
        request_scan_init(&scan);
        buf_printf(&text, "%s*1\r\n", lines[i]);
        ck_assert_int_eq(scan_all_ways(&scan, &OPEN, buf_view(&text)),
                         RESP_OK);
        ck_assert_int_eq(scan.kind, REQUEST_INLINE);
        ck_assert_uint_eq(scan.size, strlen(lines[i]));
        buf_fini(&text);
        request_scan_fini(&scan);
    }
}
END_TEST

int
main(void)
{
    const TTest *const tests[] = {
        request_is_the_same_however_it_is_cut,
        request_ends_before_the_next_one,
        every_prefix_of_a_request_asks_for_more,
        words_are_found_where_they_stand,
        words_may_hold_any_byte,
        lengths_of_all_sizes_are_read,
        many_words_are_kept_and_a_large_list_is_given_back,
        list_of_words_of_medium_size_is_kept_for_the_next_request,
        pipeline_is_scanned_one_by_one_with_one_scanner,
        length_of_a_word_tells_how_much_is_to_come,
        empty_requests_are_skipped_without_reply,
        inline_request_ends_at_its_line_end,
    };
    return run_tests("request_scan", tests, ARRAY_LEN(tests));
}
