/*
 * tests/unit/config/test_units.c - durations and sizes.
 */
#include "config/units.h"

#include "config_case.h"

static void
expect_msec(const char *text, int64_t expected)
{
    int64_t msec = -7;

    ck_assert_msg(units_parse_msec(view_str(text), &msec), "%s", text);
    ck_assert_int_eq(msec, expected);
}

static void
expect_bytes(const char *text, uint64_t expected)
{
    uint64_t bytes = 7;

    ck_assert_msg(units_parse_bytes(view_str(text), &bytes), "%s", text);
    ck_assert_uint_eq(bytes, expected);
}

START_TEST(duration_takes_each_unit_and_bare_milliseconds)
{
    expect_msec("0", 0);
    expect_msec("400", 400);
    expect_msec("400ms", 400);
    expect_msec("30s", 30000);
    expect_msec("5m", 300000);
    expect_msec("1h", 3600000);
    expect_msec("9223372036854775807", INT64_MAX);
}
END_TEST

START_TEST(size_takes_each_unit_and_bare_bytes)
{
    expect_bytes("0", 0);
    expect_bytes("100", 100);
    expect_bytes("64kb", 65536);
    expect_bytes("1mb", 1048576);
    expect_bytes("1gb", 1073741824);
    expect_bytes("18446744073709551615", UINT64_MAX);
    expect_bytes("17179869183gb", 17179869183ull << 30);
}
END_TEST

START_TEST(duration_refuses_all_else)
{
    static const char *const wrong[] = {
        "", "ms", "s", "1d", "1S", "1 s", " 1", "1 ", "-1", "+1", "1.5s",
        "1s1", "1ss", "0x10", "1e3", "9223372036854775808", "2562047788016h",
        "99999999999999999999", "1msx",
    };

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        int64_t msec;
        ck_assert_msg(!units_parse_msec(view_str(wrong[i]), &msec), "%s",
                      wrong[i]);
    }
}
END_TEST

START_TEST(size_refuses_all_else)
{
    static const char *const wrong[] = {
        "", "kb", "1k", "1m", "1g", "1b", "1KB", "1 kb", "-1", "1.5mb",
        "17179869184gb", "18446744073709551616", "1tb",
    };

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        uint64_t bytes;
        ck_assert_msg(!units_parse_bytes(view_str(wrong[i]), &bytes), "%s",
                      wrong[i]);
    }
}
END_TEST

START_TEST(printed_text_is_short_and_parses_back)
{
    char text[UNITS_TEXT_SIZE];
    static const int64_t msecs[] = {0, 1, 999, 1000, 60000, 61000, 3600000,
                                    86400000, INT64_MAX};

    ck_assert_str_eq(units_print_msec(text, 86400000), "24h");
    ck_assert_str_eq(units_print_msec(text, 61000), "61s");
    ck_assert_str_eq(units_print_msec(text, 0), "0ms");
    ck_assert_str_eq(units_print_bytes(text, 65536), "64kb");
    ck_assert_str_eq(units_print_bytes(text, 65537), "65537");
    for (size_t i = 0; i < ARRAY_LEN(msecs); i++)
        expect_msec(units_print_msec(text, msecs[i]), msecs[i]);
    expect_bytes(units_print_bytes(text, UINT64_MAX), UINT64_MAX);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("units");

    tcase_add_test(tcase, duration_takes_each_unit_and_bare_milliseconds);
    tcase_add_test(tcase, size_takes_each_unit_and_bare_bytes);
    tcase_add_test(tcase, duration_refuses_all_else);
    tcase_add_test(tcase, size_refuses_all_else);
    tcase_add_test(tcase, printed_text_is_short_and_parses_back);
    return unit_run("config", tcase);
}
