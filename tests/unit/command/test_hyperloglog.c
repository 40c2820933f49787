/*
 * test_hyperloglog.c - values of PFADD, as a redis-server has them.
 */
#include "base/mem.h"
#include "command/hyperloglog.h"
#include "guard.h"
#include "unit.h"

#define HEAD(form) "HYLL" form "\0\0\0\0\0\0\0\0\0\0\x80"

/* PFADD of nothing, and of a, b and c. */
static const struct view empty = VIEW(HEAD("\x01") "\x7f\xff");
static const struct view three =
    VIEW(HEAD("\x01") "\x60\xf3\x80\x50\xb1\x84\x4b\xfb\x80\x42\x5a");

static struct hyperloglog *merged;
static struct buf out;

static void
set_up(void)
{
    merged = MEM_NEW(struct hyperloglog);
}

static void
tear_down(void)
{
    mem_free(merged);
    buf_fini(&out);
    out = (struct buf){0};
}

START_TEST(what_was_added_is_counted)
{
    ck_assert_int_eq(hyperloglog_merge(merged, empty), HYPERLOGLOG_OK);
    ck_assert_uint_eq(hyperloglog_count(merged), 0);
    ck_assert_int_eq(hyperloglog_merge(merged, three), HYPERLOGLOG_OK);
    ck_assert_uint_eq(hyperloglog_count(merged), 3);
    ck_assert_int_eq(hyperloglog_merge(merged, three), HYPERLOGLOG_OK);
    ck_assert_uint_eq(hyperloglog_count(merged), 3);
}
END_TEST

START_TEST(what_is_written_is_read_again)
{
    struct hyperloglog *again = MEM_NEW(struct hyperloglog);

    for (uint32_t i = 0; i < HYPERLOGLOG_REGISTERS; i++)
        merged->registers[i] = (uint8_t)(i * 7 % 64);
    hyperloglog_write(merged, &out);
    ck_assert_uint_eq(out.len, 12304);
    ck_assert_int_eq(hyperloglog_merge(again, buf_view(&out)), HYPERLOGLOG_OK);
    ck_assert_mem_eq(again->registers, merged->registers,
                     sizeof(merged->registers));
    mem_free(again);
}
END_TEST

START_TEST(the_larger_register_counts)
{
    merged->registers[0] = 3;
    merged->registers[1] = 1;
    hyperloglog_write(merged, &out);
    merged->registers[0] = 1;
    merged->registers[1] = 2;
    ck_assert_int_eq(hyperloglog_merge(merged, buf_view(&out)),
                     HYPERLOGLOG_OK);
    ck_assert_uint_eq(merged->registers[0], 3);
    ck_assert_uint_eq(merged->registers[1], 2);
    ck_assert_uint_eq(merged->registers[2], 0);
}
END_TEST

START_TEST(what_is_cut_off_is_none_and_changes_nothing)
{
    static const struct hyperloglog nothing;

    for (size_t len = 0; len < three.len; len++) {
        struct guard guard = guard_copy(three.data, len);
        ck_assert_int_eq(hyperloglog_merge(merged, view_of(guard.data, len)),
                         len < 16 ? HYPERLOGLOG_OTHER : HYPERLOGLOG_CORRUPT);
        guard_free(&guard);
    }
    ck_assert_mem_eq(merged, &nothing, sizeof(nothing));
}
END_TEST

static const struct {
    struct view bytes;
    enum hyperloglog_result result;
} others[] = {
    {VIEW("HYLX\x01\0\0\0\0\0\0\0\0\0\0\x80\x7f\xff"), HYPERLOGLOG_OTHER},
    {VIEW(HEAD("\x02") "\x7f\xff"), HYPERLOGLOG_OTHER},
    {VIEW(HEAD("\0") "\x7f\xff"), HYPERLOGLOG_OTHER},
    {VIEW(HEAD("\x01") "\x7f\xff\0"), HYPERLOGLOG_CORRUPT},
    {VIEW(HEAD("\x01") "\x7f\xfe\x84"), HYPERLOGLOG_OK},
    {VIEW(HEAD("\x01") "\x7f\xfe\x85"), HYPERLOGLOG_CORRUPT},
};

START_TEST(what_is_not_in_order_is_found_out)
{
    ck_assert_int_eq(hyperloglog_merge(merged, others[_i].bytes),
                     others[_i].result);
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("hyperloglog");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, what_was_added_is_counted);
    tcase_add_test(tests, what_is_written_is_read_again);
    tcase_add_test(tests, the_larger_register_counts);
    tcase_add_test(tests, what_is_cut_off_is_none_and_changes_nothing);
    tcase_add_loop_test(tests, what_is_not_in_order_is_found_out, 0,
                        ARRAY_LEN(others));
    return unit_run("command", tests);
}
