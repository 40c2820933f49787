/*
 * Requests that are refused: in the words of redis-server, at any cut.
 */
#include "requests.h"

struct refusal {
    const char *text;
    const char *error; /* behind "Protocol error: " */
};

static const struct refusal REFUSALS[] = {
    {"*x\r\n", "invalid multibulk length"},
    {"*\r\n", "invalid multibulk length"},
    {"*+1\r\n", "invalid multibulk length"},
    {"* 1\r\n", "invalid multibulk length"},
    {"*1 \r\n", "invalid multibulk length"},
    {"*01\r\n", "invalid multibulk length"},
    {"*00\r\n", "invalid multibulk length"},
    {"*-0\r\n", "invalid multibulk length"},
    {"*-\r\n", "invalid multibulk length"},
    {"*-02\r\n", "invalid multibulk length"},
    {"*-1x\r\n", "invalid multibulk length"},
    {"*-99999999999999999999\r\n", "invalid multibulk length"},
    {"*--1\r\n", "invalid multibulk length"},
    {"*1\n$4\r\nPING\r\n", "invalid multibulk length"},
    {"*1\rx$4\r\nPING\r\n", "invalid multibulk length"},
    {"*2147483648\r\n", "invalid multibulk length"},
    {"*4294967297\r\n", "invalid multibulk length"},
    {"*18446744073709551617\r\n", "invalid multibulk length"},
    {"*1\r\n$\r\n", "invalid bulk length"},
    {"*1\r\n$abc\r\n", "invalid bulk length"},
    {"*1\r\n$-1\r\n", "invalid bulk length"},
    {"*1\r\n$+4\r\nPING\r\n", "invalid bulk length"},
    {"*1\r\n$ 4\r\nPING\r\n", "invalid bulk length"},
    {"*1\r\n$4 \r\nPING\r\n", "invalid bulk length"},
    {"*1\r\n$04\r\nPING\r\n", "invalid bulk length"},
    {"*1\r\n$4\nPING\r\n", "invalid bulk length"},
    {"*1\r\n$4\r.PING\r\n", "invalid bulk length"},
    {"*1\r\n$536870913\r\n", "invalid bulk length"},
    {"*1\r\n$4294967300\r\nPING\r\n", "invalid bulk length"},
    {"*1\r\n$18446744073709551620\r\nPING\r\n", "invalid bulk length"},
    {"*2\r\n$4\r\nECHO\r\n$a\r\n", "invalid bulk length"},
    {"*1\r\nx\r\n", "expected '$', got 'x'"},
    {"*1\r\n*1\r\n", "expected '$', got '*'"},
    {"*1\r\n\r\n", "expected '$', got ' '"},
    {"*1\r\n\n", "expected '$', got ' '"},
    {"*1\r\n\xff\r\n", "expected '$', got '\xff'"},
    {"*2\r\n$4\r\nECHO\r\n+OK\r\n", "expected '$', got '+'"},
    {"*1\r\n$4\r\nPINGxx*1\r\n", "expected CRLF after bulk"},
    {"*1\r\n$4\r\nPING\rx*1\r\n", "expected CRLF after bulk"},
    {"*1\r\n$4\r\nPING\n\n*1\r\n", "expected CRLF after bulk"},
    {"*1\r\n$0\r\nPING\r\n", "expected CRLF after bulk"},
    {"*2\r\n$4\r\nPINGS\r\n$1\r\na\r\n", "expected CRLF after bulk"},
};

static void
expect_refusal(const struct request_limits *limits, struct view bytes,
               const char *error)
{
    struct request_scan scan;
    struct buf text = {0};

    request_scan_init(&scan);
    buf_printf(&text, "Protocol error: %s", error);
    buf_append_char(&text, '\0');
    ck_assert_int_eq(scan_all_ways(&scan, limits, bytes), RESP_BAD);
    ck_assert_str_eq(scan.error, text.data);
    /* A request that was refused stays so. */
    ck_assert_int_eq(show(&scan, limits, bytes, bytes.len), RESP_BAD);
    buf_fini(&text);
    request_scan_fini(&scan);
}

START_TEST(bad_requests_are_refused_in_the_words_of_servers)
{
    for (size_t i = 0; i < ARRAY_LEN(REFUSALS); i++)
        expect_refusal(&OPEN, view_str(REFUSALS[i].text), REFUSALS[i].error);
}
END_TEST

START_TEST(nul_where_a_word_is_due_is_shown_as_a_blank)
{
    expect_refusal(&OPEN, VIEW("*1\r\n\0\r\n"), "expected '$', got ' '");
}
END_TEST

START_TEST(largest_count_and_length_of_servers_are_accepted)
{
    struct view count = VIEW("*2147483647\r\n$1\r\na\r\n");
    struct view length = VIEW("*1\r\n$536870912\r\nabc");
    struct request_scan scan;

    request_scan_init(&scan);
    ck_assert_int_eq(scan_all_ways(&scan, &OPEN, count), RESP_AGAIN);
    ck_assert_uint_eq(scan.argc, 2147483647u);
    ck_assert_uint_eq(scan.seen, 1);

    request_scan_reset(&scan);
    ck_assert_int_eq(scan_all_ways(&scan, &OPEN, length), RESP_AGAIN);
    ck_assert_uint_eq(scan.bulk_len, 536870912u);
    ck_assert_uint_eq(scan.known, length.len - 3 + 536870912u + 2);
    request_scan_fini(&scan);
}
END_TEST

START_TEST(own_limits_are_kept_to_the_byte_and_the_word)
{
    const struct request_limits limits = {3, 5, false};
    struct request_scan scan;

    request_scan_init(&scan);
    ck_assert_int_eq(
        scan_all_ways(&scan, &limits,
                      VIEW("*3\r\n$1\r\na\r\n$5\r\nabcde\r\n$0\r\n\r\n")),
        RESP_OK);
    expect_refusal(&limits, VIEW("*4\r\n"), "invalid multibulk length");
    expect_refusal(&limits, VIEW("*1\r\n$6\r\nabcdef\r\n"),
                   "invalid bulk length");
    request_scan_fini(&scan);
}
END_TEST

START_TEST(strangers_may_send_ten_words_of_16_kilobytes)
{
    struct request_limits narrow = {1000, RESP_MAX_BULK, true};
    struct request_scan scan;
    struct buf text = {0};

    request_scan_init(&scan);
    buf_append_str(&text, "*2\r\n$4\r\nECHO\r\n$16384\r\n");
    memset(buf_reserve(&text, 16384), 'x', 16384);
    text.len += 16384;
    buf_append_str(&text, "\r\n");
    ck_assert_int_eq(show(&scan, &CLOSED, buf_view(&text), text.len), RESP_OK);
    expect_steps_agree(&CLOSED, buf_view(&text), 0, 1, &scan, RESP_OK);

    request_scan_reset(&scan);
    ck_assert_int_eq(scan_all_ways(&scan, &CLOSED, VIEW("*10\r\n$1\r\na\r\n")),
                     RESP_AGAIN);
    expect_refusal(&CLOSED, VIEW("*11\r\n"),
                   "unauthenticated multibulk length");
    expect_refusal(&narrow, VIEW("*1001\r\n"),
                   "unauthenticated multibulk length");
    expect_refusal(&narrow, VIEW("*2147483648\r\n"),
                   "invalid multibulk length");
    expect_refusal(&CLOSED, VIEW("*1\r\n$16385\r\n"),
                   "unauthenticated bulk length");
    expect_refusal(&CLOSED, VIEW("*1\r\n$536870913\r\n"),
                   "invalid bulk length");
    buf_fini(&text);
    request_scan_fini(&scan);
}
END_TEST

/* `start` followed by bytes `c` up to `len` bytes in all. */
static struct buf
long_line(const char *start, char c, size_t len)
{
    struct buf text = {0};
    size_t more = len - strlen(start);

    buf_append_str(&text, start);
    memset(buf_reserve(&text, more), c, more);
    text.len += more;
    return text;
}

static void
expect_too_long(const char *before, const char *start, const char *error)
{
    size_t len = strlen(before) + RESP_MAX_LINE;
    struct buf text = long_line(start, '1', len + 1);
    struct request_scan scan;

    request_scan_init(&scan);
    ck_assert_int_eq(show(&scan, &OPEN, buf_view(&text), len), RESP_AGAIN);
    ck_assert_int_eq(show(&scan, &OPEN, buf_view(&text), len + 1), RESP_BAD);
    ck_assert_str_eq(scan.error, error);
    expect_steps_agree(&OPEN, buf_view(&text), 0, 1000, &scan, RESP_BAD);
    expect_steps_agree(&OPEN, buf_view(&text), 0, len + 1, &scan, RESP_BAD);
    buf_fini(&text);
    request_scan_fini(&scan);
}

START_TEST(lines_over_64_kilobytes_are_refused)
{
    expect_too_long("", "*1", "Protocol error: too big mbulk count string");
    expect_too_long("*1\r\n", "*1\r\n$1",
                    "Protocol error: too big bulk count string");
    expect_too_long("", "PING ", "Protocol error: too big inline request");
}
END_TEST

START_TEST(overlong_number_is_no_length_once_its_line_ends)
{
    struct buf text = long_line("*1", '1', 30000);

    buf_append_str(&text, "\r\n");
    struct request_scan scan;
    request_scan_init(&scan);
    ck_assert_int_eq(show(&scan, &OPEN, buf_view(&text), text.len), RESP_BAD);
    ck_assert_str_eq(scan.error, "Protocol error: invalid multibulk length");
    expect_steps_agree(&OPEN, buf_view(&text), 0, 999, &scan, RESP_BAD);
    buf_fini(&text);
    request_scan_fini(&scan);
}
END_TEST

START_TEST(inline_request_of_64_kilobytes_is_accepted)
{
    struct buf text = long_line("PING ", 'a', RESP_MAX_LINE);
    struct request_scan scan;

    buf_append_str(&text, "\n");
    request_scan_init(&scan);
    ck_assert_int_eq(show(&scan, &OPEN, buf_view(&text), text.len), RESP_OK);
    expect_steps_agree(&OPEN, buf_view(&text), 0, 999, &scan, RESP_OK);
    expect_steps_agree(&OPEN, buf_view(&text), RESP_MAX_LINE, 1, &scan,
                       RESP_OK);
    buf_fini(&text);
    request_scan_fini(&scan);
}
END_TEST

START_TEST(other_protocols_are_told_at_once)
{
    expect_refusal(&OPEN, VIEW("\x16\x03\x01\0\xa5\x01"),
                   "NUL byte in inline request");
    expect_refusal(&OPEN, VIEW("PING\0\r\n"), "NUL byte in inline request");
}
END_TEST

START_TEST(requests_of_web_pages_are_closed_without_a_word)
{
    static const char *const posts[] = {
        "POST / HTTP/1.1\r\n",
        "post\n",
        " Host: example.org\r\n",
        "HOST:\r\n",
        "\"POST\" x\r\n",
        "*1\r\n$4\r\nPOST\r\n",
        "*1\r\n$4\r\npOsT\r\n",
        "*2\r\n$5\r\nHost:\r\n$1\r\na\r\n",
        "*2\r\n$5\r\nhost:\r\nnonsense",
    };

    for (size_t i = 0; i < ARRAY_LEN(posts); i++) {
        struct request_scan scan;
        request_scan_init(&scan);
        ck_assert_int_eq(scan_all_ways(&scan, &OPEN, view_str(posts[i])),
                         RESP_BAD);
        ck_assert_str_eq(scan.error, "");
        request_scan_fini(&scan);
    }
}
END_TEST

int
main(void)
{
    const TTest *const tests[] = {
        bad_requests_are_refused_in_the_words_of_servers,
        nul_where_a_word_is_due_is_shown_as_a_blank,
        largest_count_and_length_of_servers_are_accepted,
        own_limits_are_kept_to_the_byte_and_the_word,
        strangers_may_send_ten_words_of_16_kilobytes,
        lines_over_64_kilobytes_are_refused,
        overlong_number_is_no_length_once_its_line_ends,
        inline_request_of_64_kilobytes_is_accepted,
        other_protocols_are_told_at_once,
        requests_of_web_pages_are_closed_without_a_word,
    };
    return run_tests("request_errors", tests, ARRAY_LEN(tests));
}
