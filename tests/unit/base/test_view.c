/*
 * test_view.c - comparing and reading views.
 */
#include "unit.h"

#include "base/mem.h"
#include "base/view.h"
#include "guard.h"

/* Read a number from bytes that end at an unreadable page. */
static bool
read_u64(const char *text, uint64_t *value)
{
    struct guard guard = guard_copy(text, strlen(text));
    bool ok = view_to_u64(view_of(guard.data, guard.len), value);

    guard_free(&guard);
    return ok;
}

static bool
read_i64(const char *text, int64_t *value)
{
    struct guard guard = guard_copy(text, strlen(text));
    bool ok = view_to_i64(view_of(guard.data, guard.len), value);

    guard_free(&guard);
    return ok;
}

START_TEST(view_literal_has_no_final_nul)
{
    struct view view = VIEW("ab\0c");

    ck_assert_uint_eq(view.len, 4);
    ck_assert_int_eq(view.data[3], 'c');
}
END_TEST

START_TEST(view_equal_looks_at_every_byte_nul_included)
{
    ck_assert(view_equal(VIEW("a\0b"), VIEW("a\0b")));
    ck_assert(!view_equal(VIEW("a\0b"), VIEW("a\0c")));
    ck_assert(!view_equal(VIEW("a"), VIEW("ab")));
    ck_assert(view_equal(view_of(NULL, 0), VIEW("")));
}
END_TEST

START_TEST(view_equal_nocase_folds_ascii_letters_only)
{
    ck_assert(view_equal_nocase(VIEW("GeT"), VIEW("gEt")));
    ck_assert(view_equal_nocase(view_of(NULL, 0), VIEW("")));
    ck_assert(!view_equal_nocase(VIEW("get"), VIEW("gets")));
    ck_assert(!view_equal_nocase(VIEW("[@`{"), VIEW("{`@[")));
    ck_assert(!view_equal_nocase(VIEW("\xc3\xa4"), VIEW("\xc3\x84")));
}
END_TEST

START_TEST(view_compare_orders_unsigned_bytes_and_prefixes_first)
{
    ck_assert_int_eq(view_compare(VIEW("abc"), VIEW("abc")), 0);
    ck_assert_int_lt(view_compare(VIEW("ab"), VIEW("abc")), 0);
    ck_assert_int_gt(view_compare(VIEW("b"), VIEW("abc")), 0);
    ck_assert_int_gt(view_compare(VIEW("\xff"), VIEW("a")), 0);
    ck_assert_int_lt(view_compare(view_of(NULL, 0), VIEW("a")), 0);
    ck_assert_int_eq(view_compare(view_of(NULL, 0), VIEW("")), 0);
}
END_TEST

START_TEST(view_to_u64_reads_all_of_64_bits_and_no_more)
{
    uint64_t value = 7;

    ck_assert(read_u64("0", &value) && value == 0);
    ck_assert(read_u64("007", &value) && value == 7);
    ck_assert(read_u64("18446744073709551615", &value));
    ck_assert(value == UINT64_MAX);
    ck_assert(!read_u64("18446744073709551616", &value));
    ck_assert(!read_u64("99999999999999999999", &value));
    ck_assert_msg(value == UINT64_MAX, "a failure changed the value");
}
END_TEST

START_TEST(view_to_u64_refuses_all_but_digits)
{
    static const char *const bad[] = {"",   " 1",  "1 ",  "+1", "-1",
                                      "1a", "0x1", "1.0", "/",  ":"};
    uint64_t value;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ck_assert_msg(!read_u64(bad[i], &value), "'%s' passed", bad[i]);
    ck_assert(!view_to_u64(VIEW("1\0"), &value));
}
END_TEST

START_TEST(view_to_i64_reads_both_ends_of_the_range)
{
    int64_t value = 7;

    ck_assert(read_i64("-9223372036854775808", &value));
    ck_assert(value == INT64_MIN);
    ck_assert(read_i64("9223372036854775807", &value));
    ck_assert(value == INT64_MAX);
    ck_assert(read_i64("-0", &value) && value == 0);
    ck_assert(read_i64("-12", &value) && value == -12);
    ck_assert(!read_i64("9223372036854775808", &value));
    ck_assert(!read_i64("-9223372036854775809", &value));
    ck_assert(!read_i64("-", &value));
    ck_assert(!read_i64("--1", &value));
    ck_assert(!read_i64("", &value));
}
END_TEST

START_TEST(view_trim_line_drops_line_ends_only)
{
    ck_assert(view_equal(view_trim_line(VIEW("a b\r\n")), VIEW("a b")));
    ck_assert(view_equal(view_trim_line(VIEW("a\r\nb")), VIEW("a\r\nb")));
    ck_assert(view_equal(view_trim_line(VIEW(" a ")), VIEW(" a ")));
    ck_assert_uint_eq(view_trim_line(VIEW("\r\n\n")).len, 0);
    ck_assert_uint_eq(view_trim_line(VIEW("")).len, 0);
}
END_TEST

START_TEST(view_take_cuts_at_the_separator_and_drops_it)
{
    struct view rest = VIEW("a,,bc");

    ck_assert(view_equal(view_take(&rest, ','), VIEW("a")));
    ck_assert(view_equal(view_take(&rest, ','), VIEW("")));
    ck_assert(view_equal(rest, VIEW("bc")));
    ck_assert(view_equal(view_take(&rest, ','), VIEW("bc")));
    ck_assert_uint_eq(rest.len, 0);
    ck_assert_uint_eq(view_take(&rest, ',').len, 0);
    rest = VIEW("a,");
    ck_assert(view_equal(view_take(&rest, ','), VIEW("a")));
    ck_assert_uint_eq(rest.len, 0);
    rest = view_of(NULL, 0);
    ck_assert_uint_eq(view_take(&rest, ',').len, 0);
}
END_TEST

START_TEST(view_dup_is_terminated_and_independent)
{
    char text[] = "abc";
    char *copy = mem_view_dup(view_of(text, 2));

    text[0] = 'x';
    ck_assert_str_eq(copy, "ab");
    mem_free(copy);

    copy = mem_view_dup(view_of(NULL, 0));
    ck_assert_str_eq(copy, "");
    mem_free(copy);
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("view");

    tcase_add_test(tests, view_literal_has_no_final_nul);
    tcase_add_test(tests, view_equal_looks_at_every_byte_nul_included);
    tcase_add_test(tests, view_equal_nocase_folds_ascii_letters_only);
    tcase_add_test(tests,
                   view_compare_orders_unsigned_bytes_and_prefixes_first);
    tcase_add_test(tests, view_to_u64_reads_all_of_64_bits_and_no_more);
    tcase_add_test(tests, view_to_u64_refuses_all_but_digits);
    tcase_add_test(tests, view_to_i64_reads_both_ends_of_the_range);
    tcase_add_test(tests, view_take_cuts_at_the_separator_and_drops_it);
    tcase_add_test(tests, view_trim_line_drops_line_ends_only);
    tcase_add_test(tests, view_dup_is_terminated_and_independent);
    return unit_run("base", tests);
}
