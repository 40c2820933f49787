/*
 * test_log_limit.c - repeated lines: a few of them, and how many more.
 */
#include "log_file.h"
#include "unit.h"

#include <unistd.h>

#include "base/log_limit.h"

static void
set_up(void)
{
    log_file_begin();
    log_limit_set(3);
    log_limit_tick(1000);
}

static void
tear_down(void)
{
    log_limit_flush();
    log_limit_set(10);
    log_file_end();
}

/* Lines of the log that hold this text. */
static unsigned
count(const char *text)
{
    static char line[4096];
    FILE *file = fopen(log_path, "r");
    unsigned found = 0;

    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof(line), file) != NULL)
        found += strstr(line, text) != NULL;
    fclose(file);
    return found;
}

static void
refuse(const char *pool, const char *key, unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        log_warn_limited(pool, key, "client refused", "pool=%s key=%s", pool,
                         key);
}

START_TEST(log_limit_writes_a_few_lines_and_then_their_number)
{
    refuse("a", "x", 10);
    ck_assert_uint_eq(count("msg=\"client refused\""), 3);
    log_limit_tick(1009);
    ck_assert_uint_eq(count("repeated"), 0);
    log_limit_tick(1010);
    ck_assert_uint_eq(count("level=warn msg=\"repeated\" line=\"client "
                            "refused\" pool=a key=x times=7 seconds=10\n"),
                      1);
}
END_TEST

START_TEST(log_limit_says_nothing_of_what_was_written)
{
    refuse("a", "x", 3);
    log_limit_tick(1010);
    log_limit_tick(1020);
    ck_assert_uint_eq(count("msg="), 3);
}
END_TEST

START_TEST(log_limit_begins_anew_when_the_time_is_over)
{
    for (uint64_t second = 1000; second < 1030; second++) {
        log_limit_tick(second);
        refuse("a", "x", 2);
    }
    log_limit_tick(1030);
    ck_assert_uint_eq(count("msg=\"client refused\""), 9);
    ck_assert_uint_eq(count("times=17 seconds=10\n"), 3);
}
END_TEST

START_TEST(log_limit_tells_kinds_apart_by_message_pool_and_key)
{
    refuse("a", "x", 4);
    refuse("a", "y", 5);
    refuse("b", "x", 6);
    for (int i = 0; i < 7; i++)
        log_error_limited("a", "x", "other", "pool=%s", "a");
    log_limit_flush();
    ck_assert_uint_eq(count("msg=\"client refused\" pool=a key=x\n"), 3);
    ck_assert_uint_eq(count("pool=a key=x times=1 "), 1);
    ck_assert_uint_eq(count("pool=a key=y times=2 "), 1);
    ck_assert_uint_eq(count("pool=b key=x times=3 "), 1);
    ck_assert_uint_eq(
        count("level=error msg=\"repeated\" line=\"other\" pool=a key=x "
              "times=4 "),
        1);
}
END_TEST

START_TEST(log_limit_leaves_out_a_pool_or_key_that_there_is_not)
{
    for (int i = 0; i < 5; i++)
        log_info_limited(NULL, NULL, "plain", NULL);
    log_limit_flush();
    ck_assert_uint_eq(count("msg=\"plain\"\n"), 3);
    ck_assert_uint_eq(count("line=\"plain\" times=2 "), 1);
}
END_TEST

START_TEST(log_limit_of_none_writes_all)
{
    log_limit_set(0);
    refuse("a", "x", 100);
    log_limit_flush();
    ck_assert_uint_eq(count("msg=\"client refused\""), 100);
    ck_assert_uint_eq(count("repeated"), 0);
}
END_TEST

START_TEST(log_limit_spares_debug)
{
    log_set_level(LOG_LEVEL_DEBUG);
    for (int i = 0; i < 20; i++)
        log_debug_limited("a", "x", "detail", NULL);
    log_set_level(LOG_LEVEL_INFO);
    log_limit_flush();
    ck_assert_uint_eq(count("msg=\"detail\""), 20);
    ck_assert_uint_eq(count("repeated"), 0);
}
END_TEST

/* However many kinds there are, every line is written or counted. */
START_TEST(log_limit_loses_no_line_with_many_kinds)
{
    char key[200];
    uint64_t told = 0;
    char line[4096];

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3 * LOG_LIMIT_KINDS; i++) {
            snprintf(key, sizeof(key), "%d", i);
            refuse("a", key, 5);
        }
    }
    log_limit_flush();
    FILE *file = fopen(log_path, "r");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        const char *times = strstr(line, "times=");
        told += times == NULL ? 1 : strtoull(times + 6, NULL, 10);
    }
    fclose(file);
    ck_assert_uint_eq(told, 2 * 3 * LOG_LIMIT_KINDS * 5);
}
END_TEST

START_TEST(log_limit_cuts_long_names)
{
    char key[300];

    memset(key, 'k', sizeof(key) - 1);
    key[sizeof(key) - 1] = '\0';
    refuse(key, key, 5);
    log_limit_flush();
    ck_assert_uint_eq(count("msg=\"client refused\""), 3);
    ck_assert_uint_eq(count("times=2 "), 1);
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("log_limit");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, log_limit_writes_a_few_lines_and_then_their_number);
    tcase_add_test(tests, log_limit_says_nothing_of_what_was_written);
    tcase_add_test(tests, log_limit_begins_anew_when_the_time_is_over);
    tcase_add_test(tests, log_limit_tells_kinds_apart_by_message_pool_and_key);
    tcase_add_test(tests, log_limit_leaves_out_a_pool_or_key_that_there_is_not);
    tcase_add_test(tests, log_limit_of_none_writes_all);
    tcase_add_test(tests, log_limit_spares_debug);
    tcase_add_test(tests, log_limit_loses_no_line_with_many_kinds);
    tcase_add_test(tests, log_limit_cuts_long_names);
    return unit_run("base", tests);
}
