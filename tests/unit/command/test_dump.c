/*
 * test_dump.c - values as DUMP writes them.
 *
 * What is expected was read from a redis-server, which takes it as well.
 */
#include "command/dump.h"
#include "unit.h"

static struct buf out;

static void
tear_down(void)
{
    buf_fini(&out);
    out = (struct buf){0};
}

static void
expect_bytes(struct view expected)
{
    ck_assert_uint_eq(out.len, expected.len);
    ck_assert_mem_eq(out.data, expected.data, expected.len);
}

START_TEST(set_has_its_members_a_form_and_a_checksum)
{
    dump_begin_set(&out, 2);
    dump_string(&out, VIEW("x"));
    dump_string(&out, VIEW(""));
    dump_end(&out);
    expect_bytes(VIEW("\x02\x02\x01x\0\x08\0\x45\x48\xad\xb6\xd2\x75\x08\x77"));
}
END_TEST

START_TEST(sorted_set_has_eight_bytes_a_score)
{
    dump_begin_sorted_set(&out, 1);
    dump_string(&out, VIEW("x"));
    dump_score(&out, 2);
    dump_end(&out);
    expect_bytes(VIEW("\x05\x01\x01x\0\0\0\0\0\0\0@\x08\0\x25\x0b\x7e\xe1\xee\x5f\x58\x4c"));
}
END_TEST

static const struct {
    uint64_t length;
    struct view header;
} lengths[] = {
    {63, VIEW("\x3f")},
    {64, VIEW("\x40\x40")},
    {16383, VIEW("\x7f\xff")},
    {16384, VIEW("\x80\0\0\x40\0")},
    {UINT32_MAX, VIEW("\x80\xff\xff\xff\xff")},
    {UINT32_MAX + 1ull, VIEW("\x81\0\0\0\x01\0\0\0\0")},
};

START_TEST(length_takes_as_many_bytes_as_it_needs)
{
    dump_begin_set(&out, lengths[_i].length);
    ck_assert_int_eq(out.data[0], 2);
    ck_assert_uint_eq(out.len, lengths[_i].header.len + 1);
    ck_assert_mem_eq(out.data + 1, lengths[_i].header.data,
                     lengths[_i].header.len);
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("dump");

    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, set_has_its_members_a_form_and_a_checksum);
    tcase_add_test(tests, sorted_set_has_eight_bytes_a_score);
    tcase_add_loop_test(tests, length_takes_as_many_bytes_as_it_needs, 0,
                        ARRAY_LEN(lengths));
    return unit_run("command", tests);
}
