/*
 * test_buf.c - a growing byte buffer.
 */
#include "unit.h"

#include "base/buf.h"

START_TEST(buf_zeroed_is_an_empty_buffer)
{
    struct buf buf = {0};

    buf_append(&buf, NULL, 0);
    buf_append_str(&buf, "");
    ck_assert_uint_eq(buf_view(&buf).len, 0);
    ck_assert_ptr_null(buf.data);
    buf_fini(&buf);
}
END_TEST

START_TEST(buf_keeps_bytes_in_order_while_it_grows)
{
    struct buf buf = {0};

    for (int i = 0; i < 10000; i++)
        buf_append_char(&buf, (char)i);
    ck_assert_uint_eq(buf.len, 10000);
    ck_assert_uint_ge(buf.cap, buf.len);
    for (int i = 0; i < 10000; i++)
        ck_assert_int_eq(buf.data[i], (char)i);
    buf_fini(&buf);
    ck_assert_ptr_null(buf.data);
    ck_assert_uint_eq(buf.len + buf.cap, 0);
}
END_TEST

START_TEST(buf_reserve_makes_room_without_changing_len)
{
    struct buf buf = {0};

    buf_append_str(&buf, "ab");
    char *at = buf_reserve(&buf, 100000);
    ck_assert_ptr_eq(at, buf.data + 2);
    ck_assert_uint_eq(buf.len, 2);
    ck_assert_uint_ge(buf.cap, 100002);
    ck_assert_mem_eq(buf.data, "ab", 2);
    buf_fini(&buf);
}
END_TEST

START_TEST(buf_printf_appends_any_length_without_its_nul)
{
    struct buf buf = {0};

    /* Lengths around the first capacity, where room for the NUL matters. */
    for (int len = 0; len < 600; len++) {
        buf.len = 0;
        buf_append_char(&buf, '<');
        buf_printf(&buf, "%*d", len, 7);
        buf_append_char(&buf, '>');
        size_t digits = len > 0 ? (size_t)len : 1;
        ck_assert_uint_eq(buf.len, digits + 2);
        ck_assert_int_eq(buf.data[digits], '7');
        ck_assert_int_eq(buf.data[digits + 1], '>');
    }
    buf_fini(&buf);
}
END_TEST

START_TEST(buf_append_view_takes_nul_bytes)
{
    struct buf buf = {0};

    buf_append_view(&buf, VIEW("a\0b"));
    buf_append_view(&buf, view_of(NULL, 0));
    ck_assert(view_equal(buf_view(&buf), VIEW("a\0b")));
    buf_fini(&buf);
}
END_TEST

START_TEST(buf_view_from_is_what_stands_behind)
{
    struct buf buf = {0};

    ck_assert(view_equal(buf_view_from(&buf, 0), VIEW("")));
    buf_append_str(&buf, "abc");
    ck_assert(view_equal(buf_view_from(&buf, 1), VIEW("bc")));
    ck_assert(view_equal(buf_view_from(&buf, 3), VIEW("")));
    buf_fini(&buf);
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("buf");

    tcase_add_test(tests, buf_zeroed_is_an_empty_buffer);
    tcase_add_test(tests, buf_keeps_bytes_in_order_while_it_grows);
    tcase_add_test(tests, buf_reserve_makes_room_without_changing_len);
    tcase_add_test(tests, buf_printf_appends_any_length_without_its_nul);
    tcase_add_test(tests, buf_append_view_takes_nul_bytes);
    tcase_add_test(tests, buf_view_from_is_what_stands_behind);
    return unit_run("base", tests);
}
