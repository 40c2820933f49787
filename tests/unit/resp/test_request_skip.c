/*
 * Requests that are passed on piece by piece, and those past 4 GiB.
 */
#include "requests.h"

#define HALF_GIGABYTE ((size_t)RESP_MAX_BULK)

/* Feed what follows scan->size in pieces of `step` and count what is used. */
static enum resp_result
skip_in_steps(struct request_scan *scan, struct view rest, size_t step,
              size_t *total)
{
    enum resp_result result = RESP_AGAIN;

    *total = 0;
    while (result == RESP_AGAIN && *total < rest.len) {
        struct view piece = view_of(rest.data + *total,
                                    MIN(step, rest.len - *total));
        size_t used;
        result = request_scan_skip(scan, &OPEN, guard_copy(0, piece),
                                   piece.len, &used);
        if (result == RESP_AGAIN)
            ck_assert_uint_eq(used, piece.len);
        ck_assert_uint_ge(scan->known, scan->size);
        *total += used;
    }
    return result;
}

/* Scan up to `cut`, skip the rest; false if the scan may not be left there. */
static bool
scan_then_skip(struct request_scan *scan, struct view bytes, size_t cut,
               size_t step, enum resp_result *result, size_t *total)
{
    if (show(scan, &OPEN, bytes, cut) != RESP_AGAIN || scan->seen == 0)
        return false;
    *result = skip_in_steps(scan, view_of(bytes.data + cut, bytes.len - cut),
                            step, total);
    return true;
}

static const struct view REQUEST =
    VIEW("*4\r\n$3\r\nSET\r\n$3\r\nkey\r\n$19\r\n0123456789\r\n*1\r\n$00\r\n"
         "$0\r\n\r\n*1\r\n");
#define BEHIND 4

START_TEST(skipping_ends_where_scanning_does)
{
    static const size_t steps[] = {1, 2, 3, 7, 1000};

    for (size_t cut = 0; cut < REQUEST.len - BEHIND; cut++) {
        for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
            struct request_scan scan;
            enum resp_result result;
            size_t total;
            request_scan_init(&scan);
            if (scan_then_skip(&scan, REQUEST, cut, steps[i], &result,
                               &total)) {
                ck_assert_int_eq(result, RESP_OK);
                ck_assert_uint_eq(cut + total, REQUEST.len - BEHIND);
                ck_assert_uint_eq(scan.size, REQUEST.len - BEHIND);
                ck_assert_uint_eq(scan.known, scan.size);
            }
            request_scan_fini(&scan);
        }
    }
}
END_TEST

START_TEST(words_found_before_skipping_stay)
{
    const size_t cut = 30;
    struct request_scan scan;
    enum resp_result result;
    size_t total;

    request_scan_init(&scan);
    ck_assert(scan_then_skip(&scan, REQUEST, cut, 5, &result, &total));
    ck_assert_uint_eq(scan.seen, 2);
    ck_assert_uint_eq(scan.argc, 4);
    ck_assert(view_equal(request_arg(&scan, REQUEST.data, 1), VIEW("key")));
    request_scan_fini(&scan);
}
END_TEST

START_TEST(skipping_finds_the_errors_that_scanning_finds)
{
    static const char *const bad[] = {
        "*2\r\n$1\r\na\r\nx",          "*2\r\n$1\r\na\r\n$x",
        "*2\r\n$1\r\na\r\n$01\r\n",    "*2\r\n$1\r\na\r\n$2\r\nabc\r\n",
        "*2\r\n$1\r\na\r\n$2\r\nab\rx", "*2\r\n$1\r\na\r\n$536870913\r\n",
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct view bytes = view_str(bad[i]);
        struct request_scan whole;
        request_scan_init(&whole);
        ck_assert_int_eq(show(&whole, &OPEN, bytes, bytes.len), RESP_BAD);
        for (size_t cut = strlen("*2\r\n$1\r\na\r\n"); cut < bytes.len;
             cut++) {
            struct request_scan scan;
            enum resp_result result;
            size_t total;
            request_scan_init(&scan);
            if (scan_then_skip(&scan, bytes, cut, 1, &result, &total))
                ck_assert_int_eq(result, RESP_BAD);
            ck_assert_str_eq(scan.error, whole.error);
            request_scan_fini(&scan);
        }
        request_scan_fini(&whole);
    }
}
END_TEST

/* Address space of zeros, of which only what is touched costs memory. */
static char *
reserve(size_t len)
{
    char *bytes = mmap(NULL, len, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    ck_assert_ptr_ne(bytes, MAP_FAILED);
    return bytes;
}

static enum resp_result
skip(struct request_scan *scan, const char *data, size_t len)
{
    size_t used;

    return request_scan_skip(scan, &OPEN, data, len, &used);
}

START_TEST(skipping_stops_at_4_gigabytes)
{
    static const char header[] = "$536870912\r\n";
    char *zeros = reserve(HALF_GIGABYTE);
    struct view start = VIEW("*9\r\n$1\r\na\r\n");
    struct request_scan scan;

    request_scan_init(&scan);
    ck_assert_int_eq(show(&scan, &OPEN, start, start.len), RESP_AGAIN);
    for (int i = 0; i < 7; i++) {
        ck_assert_int_eq(skip(&scan, header, strlen(header)), RESP_AGAIN);
        ck_assert_int_eq(skip(&scan, zeros, HALF_GIGABYTE), RESP_AGAIN);
        ck_assert_int_eq(skip(&scan, "\r\n", 2), RESP_AGAIN);
    }
    ck_assert_uint_gt(scan.size, 7 * HALF_GIGABYTE);
    ck_assert_int_eq(skip(&scan, header, strlen(header)), RESP_BAD);
    ck_assert_str_eq(scan.error, "Protocol error: too big request");
    munmap(zeros, HALF_GIGABYTE);
    request_scan_fini(&scan);
}
END_TEST

/* Write nine words of half a gigabyte each, and where they end. */
static size_t
write_huge_request(char *bytes)
{
    size_t at = 0;

    memcpy(bytes, "*9\r\n", 4);
    at += 4;
    for (int i = 0; i < 9; i++) {
        memcpy(bytes + at, "$536870912\r\n", 12);
        at += 12 + HALF_GIGABYTE;
        memcpy(bytes + at, "\r\n", 2);
        at += 2;
    }
    return at;
}

START_TEST(scanning_stops_at_4_gigabytes)
{
    size_t size = 10 * HALF_GIGABYTE;
    char *bytes = reserve(size);
    size_t len = write_huge_request(bytes);
    struct request_scan scan;

    request_scan_init(&scan);
    ck_assert_int_eq(request_scan(&scan, &OPEN, bytes, len), RESP_BAD);
    ck_assert_str_eq(scan.error, "Protocol error: too big request");
    ck_assert_uint_eq(scan.seen, 7);
    munmap(bytes, size);
    request_scan_fini(&scan);
}
END_TEST

int
main(void)
{
    const TTest *const tests[] = {
        skipping_ends_where_scanning_does,
        words_found_before_skipping_stay,
        skipping_finds_the_errors_that_scanning_finds,
        skipping_stops_at_4_gigabytes,
        scanning_stops_at_4_gigabytes,
    };
    return run_tests("request_skip", tests, ARRAY_LEN(tests));
}
