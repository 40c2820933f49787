/*
 * test_functions.c - which functions there are, and which of them only read.
 */
#include "guard.h"
#include "unit.h"

#include "base/buf.h"
#include "command/functions.h"

#define WORD(length, word) "$" #length "\r\n" word "\r\n"

/* Of a library with two functions, where only r has the flag. */
#define AS_ARRAYS                                                              \
    "*1\r\n*6\r\n" WORD(12, "library_name") WORD(3, "lib") WORD(6, "engine")   \
        WORD(3, "LUA") WORD(                                                   \
            9,                                                                 \
            "functions") "*2\r\n"                                              \
                         "*6\r\n" WORD(4, "name") WORD(1, "w")                 \
                             WORD(11, "description") "$-1\r\n" WORD(           \
                                 5,                                            \
                                 "flags") "*0\r\n"                             \
                                          "*6\r\n" WORD(4, "name") WORD(       \
                                              1, "r") WORD(11, "description")  \
                                              WORD(9, "no-writes") WORD(       \
                                                  5,                           \
                                                  "flags") "*2\r\n" WORD(9,    \
                                                                         "no-" \
                                                                         "wri" \
                                                                         "te"  \
                                                                         "s")  \
                                                  WORD(11, "allow-stale")
#define AS_MAPS                                                                           \
    "*1\r\n%3\r\n" WORD(12, "library_name") WORD(3, "lib") WORD(6, "engine")              \
        WORD(3, "LUA") WORD(                                                              \
            9, "functions") "*2\r\n"                                                      \
                            "%3\r\n" WORD(4, "name") WORD(1, "w")                         \
                                WORD(11, "description") "_\r\n" WORD(                     \
                                    5, "flags") "~0\r\n"                                  \
                                                "%3\r\n" WORD(4, "name") WORD(            \
                                                    1, "r")                               \
                                                    WORD(11, "description") "_\r\n" WORD( \
                                                        5,                                \
                                                        "flags") "~1\r\n+no-"             \
                                                                 "writes\r\n"

static void
note(void *arg, const struct function *function)
{
    struct buf *told = arg;

    buf_append_view(told, function->name);
    buf_append_str(told, function->only_reads ? " reads, " : " writes, ");
}

/* NULL: it is no such reply. */
static void
expect_told(const char *reply, size_t len, const char *expected)
{
    struct guard guard = guard_copy(reply, len);
    struct buf told = {0};
    bool is_good = functions_read(view_of(guard.data, guard.len), note, &told);

    ck_assert(is_good == (expected != NULL));
    if (is_good)
        ck_assert(view_equal(buf_view(&told), view_str(expected)));
    buf_fini(&told);
    guard_free(&guard);
}

START_TEST(a_function_that_says_so_only_reads)
{
    expect_told(AS_ARRAYS, strlen(AS_ARRAYS), "w writes, r reads, ");
    expect_told(AS_MAPS, strlen(AS_MAPS), "w writes, r reads, ");
    expect_told("*0\r\n", 4, "");
}
END_TEST

START_TEST(nothing_else_is_believed)
{
    static const char *const others[] = {
        "",
        "+OK\r\n",
        "-NOPERM no\r\n",
        "$-1\r\n",
        "*-1\r\n",
        "*1\r\n*2\r\n$9\r\nfunctions\r\n$1\r\nx\r\n",
        "*1\r\n*2\r\n$9\r\nfunctions\r\n*1\r\n*0\r\n",
    };

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        expect_told(others[i], strlen(others[i]), NULL);
    for (size_t len = 0; len < strlen(AS_ARRAYS); len++)
        expect_told(AS_ARRAYS, len, NULL);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("functions");

    tcase_add_test(tcase, a_function_that_says_so_only_reads);
    tcase_add_test(tcase, nothing_else_is_believed);
    return unit_run("command", tcase);
}
