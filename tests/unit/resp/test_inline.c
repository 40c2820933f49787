/*
 * Requests typed as a line: the words that redis-server 7.0 makes of them.
 */
#include <stdio.h>

#include "guard.h"
#include "resp/inline.h"

struct sample {
    const char *line;
    uint32_t argc;
    const char *encoded;
};

static const struct sample SAMPLES[] = {
    {"PING", 1, "*1\r\n$4\r\nPING\r\n"},
    {"PING\n", 1, "*1\r\n$4\r\nPING\r\n"},
    {"PING\r\n", 1, "*1\r\n$4\r\nPING\r\n"},
    {"PING\r\r\n", 1, "*1\r\n$4\r\nPING\r\n"},
    {" \tGET  key\t\r\n", 2, "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n"},
    {"\vping\f", 1, "*1\r\n$5\r\nping\f\r\n"},
    {"echo\va", 1, "*1\r\n$6\r\necho\va\r\n"},
    {"a\rb", 2, "*2\r\n$1\r\na\r\n$1\r\nb\r\n"},
    {"\"\"", 1, "*1\r\n$0\r\n\r\n"},
    {"a \"\" ''", 3, "*3\r\n$1\r\na\r\n$0\r\n\r\n$0\r\n\r\n"},
    {"foo\"bar\"", 1, "*1\r\n$6\r\nfoobar\r\n"},
    {"\"a b\" 'c d'", 2, "*2\r\n$3\r\na b\r\n$3\r\nc d\r\n"},
    {"\"a\"\vb", 2, "*2\r\n$1\r\na\r\n$1\r\nb\r\n"},
    {"\"a'b\" 'c\"d'", 2, "*2\r\n$3\r\na'b\r\n$3\r\nc\"d\r\n"},
    {"\"\\n\\r\\t\\b\\a\\q\\\\\\\"\"", 1, "*1\r\n$8\r\n\n\r\t\b\aq\\\"\r\n"},
    {"\"\\x41\\x7a\\xFf\"", 1, "*1\r\n$3\r\nAz\xff\r\n"},
    {"\"\\x4\\xg1\\x\"", 1, "*1\r\n$6\r\nx4xg1x\r\n"},
    {"'\\'\\n\\x41'", 1, "*1\r\n$7\r\n'\\n\\x41\r\n"},
    {"a\\nb", 1, "*1\r\n$4\r\na\\nb\r\n"},
    {"\xc3\xa4", 1, "*1\r\n$2\r\n\xc3\xa4\r\n"},
};

static const char *const UNBALANCED[] = {
    "\"",     "'",      "a \"b",   "\"a\"b",    "'a'b", "\"a\"\"b\"",
    "'a\\'",  "\"a\\\"", "\"a\\",  "x \"\\x4",  "'\\",  "a'b\r\n",
};

static enum resp_result
encode(struct view line, struct buf *out, uint32_t *argc)
{
    return inline_encode(view_of(guard_copy(0, line), line.len), out, argc);
}

START_TEST(lines_are_split_and_unquoted_as_servers_do)
{
    for (size_t i = 0; i < ARRAY_LEN(SAMPLES); i++) {
        struct buf out = {0};
        uint32_t argc;
        ck_assert_int_eq(encode(view_str(SAMPLES[i].line), &out, &argc),
                         RESP_OK);
        ck_assert_uint_eq(argc, SAMPLES[i].argc);
        ck_assert(view_equal(buf_view(&out), view_str(SAMPLES[i].encoded)));
        buf_fini(&out);
    }
}
END_TEST

START_TEST(blank_lines_append_nothing)
{
    static const char *const blank[] = {"", "\n", "\r\n", "  ", " \t\v\f\r\n"};

    for (size_t i = 0; i < ARRAY_LEN(blank); i++) {
        struct buf out = {0};
        uint32_t argc = 1;
        ck_assert_int_eq(encode(view_str(blank[i]), &out, &argc), RESP_OK);
        ck_assert_uint_eq(argc, 0);
        ck_assert_uint_eq(out.len, 0);
        buf_fini(&out);
    }
}
END_TEST

START_TEST(unbalanced_quotes_are_refused_and_append_nothing)
{
    for (size_t i = 0; i < ARRAY_LEN(UNBALANCED); i++) {
        struct buf out = {0};
        uint32_t argc;
        buf_append_str(&out, "before");
        ck_assert_int_eq(encode(view_str(UNBALANCED[i]), &out, &argc),
                         RESP_BAD);
        ck_assert(view_equal(buf_view(&out), VIEW("before")));
        buf_fini(&out);
    }
}
END_TEST

START_TEST(lines_cut_anywhere_are_read_within_their_bounds)
{
    struct view line = VIEW("a \"b\\x41\\n\" 'c\\'d' e\r\n");

    for (size_t len = 0; len <= line.len; len++) {
        struct buf out = {0};
        uint32_t argc;
        enum resp_result result = encode(view_of(line.data, len), &out, &argc);
        bool in_quotes = (len > 2 && len < 11) || (len > 12 && len < 18);
        ck_assert_int_eq(result, in_quotes ? RESP_BAD : RESP_OK);
        buf_fini(&out);
    }
}
END_TEST

START_TEST(escaped_nul_is_a_byte_like_others)
{
    struct buf out = {0};
    uint32_t argc;

    ck_assert_int_eq(encode(VIEW("\"a\\x00b\""), &out, &argc), RESP_OK);
    ck_assert(view_equal(buf_view(&out), VIEW("*1\r\n$3\r\na\0b\r\n")));
    buf_fini(&out);
}
END_TEST

START_TEST(long_line_of_many_words_is_encoded)
{
    struct buf line = {0}, out = {0};
    uint32_t argc;

    for (int i = 0; i < 20000; i++)
        buf_append_str(&line, "x ");
    ck_assert_int_eq(encode(buf_view(&line), &out, &argc), RESP_OK);
    ck_assert_uint_eq(argc, 20000);
    ck_assert_uint_eq(out.len, strlen("*20000\r\n") + 20000 * 7);
    buf_fini(&line);
    buf_fini(&out);
}
END_TEST

int
main(void)
{
    const TTest *const tests[] = {
        lines_are_split_and_unquoted_as_servers_do,
        blank_lines_append_nothing,
        unbalanced_quotes_are_refused_and_append_nothing,
        lines_cut_anywhere_are_read_within_their_bounds,
        escaped_nul_is_a_byte_like_others,
        long_line_of_many_words_is_encoded,
    };
    return run_tests("inline", tests, ARRAY_LEN(tests));
}
