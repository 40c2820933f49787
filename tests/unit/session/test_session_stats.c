/*
 * test_session_stats.c - accounts of commands, and rows of error codes.
 */
#include "session/session_stats.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "unit.h"

/* Calls since the last reset, by name. */
struct found {
    const char *name;
    uint64_t calls;
    unsigned accounts;
};

static void
find(void *arg, const char *name, const struct command_account *account)
{
    struct found *found = arg;
    struct command_stats recent = {0};

    found->accounts++;
    if (strcmp(name, found->name) != 0)
        return;
    command_stats_add_recent(&recent, account);
    found->calls += command_stats_calls(&recent);
}

static struct found
calls_of(const struct session_stats *stats, const char *name)
{
    struct found found = {.name = name};

    session_stats_each(stats, find, &found);
    return found;
}

static void
call(struct session_stats *stats, const struct command *command, uint64_t us)
{
    histogram_add(&session_stats_account(stats, command)->all.latency, us);
}

static const struct command *
row(const char *name)
{
    const struct command *command = command_find(view_str(name));

    ck_assert_ptr_nonnull(command);
    return command;
}

START_TEST(an_account_is_made_at_the_first_call)
{
    struct session_stats *stats = session_stats_new();

    ck_assert_uint_eq(calls_of(stats, "get").accounts, 0);
    call(stats, row("get"), 5);
    call(stats, row("get"), 7);
    call(stats, row("set"), 11);
    ck_assert_uint_eq(calls_of(stats, "get").calls, 2);
    ck_assert_uint_eq(calls_of(stats, "set").calls, 1);
    ck_assert_uint_eq(calls_of(stats, "get").accounts, 2);
    struct histogram all = session_stats_latency(stats);
    ck_assert_uint_eq(cell_get(&all.sum_us), 23);
    session_stats_free(&stats);
    ck_assert_ptr_null(stats);
}
END_TEST

START_TEST(what_is_no_command_stands_in_no_account)
{
    struct session_stats *stats = session_stats_new();

    call(stats, NULL, 5);
    ck_assert_uint_eq(calls_of(stats, "").accounts, 0);
    session_stats_free(&stats);
}
END_TEST

START_TEST(a_reset_is_seen_by_INFO_alone)
{
    struct session_stats *stats = session_stats_new();

    call(stats, row("get"), 5);
    cell_add(&stats->requests, 3);
    error_stats_note(&stats->errors, VIEW("-OOM no\r\n"));
    session_stats_reset(stats);
    ck_assert_uint_eq(calls_of(stats, "get").calls, 0);
    ck_assert_uint_eq(cell_get(&stats->before[SESSION_STAT_requests]), 3);
    ck_assert_uint_eq(error_row_recent(&stats->errors.rows[1]), 0);
    call(stats, row("get"), 9);
    ck_assert_uint_eq(calls_of(stats, "get").calls, 1);
    struct histogram all = session_stats_latency(stats);
    ck_assert_uint_eq(cell_get(&all.sum_us), 14);
    session_stats_free(&stats);
}
END_TEST

static struct command
learnt(const char *name)
{
    return (struct command){.id = COMMAND_ID_LEARNT, .name = name};
}

START_TEST(learnt_commands_are_known_by_their_names)
{
    struct session_stats *stats = session_stats_new();
    struct command first = learnt("m.get"), again = learnt("m.get"),
                   other = learnt("m.set");

    call(stats, &first, 1);
    call(stats, &again, 1);
    call(stats, &other, 1);
    ck_assert_uint_eq(calls_of(stats, "m.get").calls, 2);
    ck_assert_uint_eq(calls_of(stats, "m.set").calls, 1);
    session_stats_reset(stats);
    ck_assert_uint_eq(calls_of(stats, "m.get").calls, 0);
    session_stats_free(&stats);
}
END_TEST

START_TEST(too_many_learnt_commands_share_an_account)
{
    struct session_stats *stats = session_stats_new();

    for (unsigned i = 0; i < LEARNT_ACCOUNTS_MAX + 3; i++) {
        char name[16];
        snprintf(name, sizeof(name), "m.%u", i);
        struct command command = learnt(name);
        call(stats, &command, 1);
    }
    ck_assert_uint_eq(calls_of(stats, "m.0").calls, 1);
    ck_assert_uint_eq(calls_of(stats, "other").calls, 3);
    ck_assert_uint_eq(calls_of(stats, "").accounts, LEARNT_ACCOUNTS_MAX + 1);
    session_stats_free(&stats);
}
END_TEST

static const char *
code_of(struct error_stats *errors, const char *line)
{
    return errors->rows[error_stats_find(errors, view_str(line))].code;
}

START_TEST(an_error_has_the_code_that_it_begins_with)
{
    struct error_stats errors = {0};

    error_stats_init(&errors);
    ck_assert_str_eq(code_of(&errors, "-ERR no\r\n"), "ERR");
    ck_assert_str_eq(code_of(&errors, "-WRONGTYPE Operation"), "WRONGTYPE");
    ck_assert_str_eq(code_of(&errors, "-A_1\r\n"), "A_1");
    ck_assert_str_eq(code_of(&errors, "-A_1"), "A_1");
    ck_assert_str_eq(code_of(&errors, "-"), "other");
    ck_assert_str_eq(code_of(&errors, ""), "other");
    ck_assert_str_eq(code_of(&errors, "-no such thing\r\n"), "other");
    ck_assert_str_eq(code_of(&errors, "-A:B c\r\n"), "other");
    ck_assert_str_eq(code_of(&errors, "-ABCDEFGHIJKLMNOPQRSTUVWXYZABCDE x"),
                     "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDE");
    ck_assert_str_eq(code_of(&errors, "-ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEF x"),
                     "other");
}
END_TEST

START_TEST(codes_without_end_have_one_row)
{
    struct error_stats errors = {0};
    char line[16];

    error_stats_init(&errors);
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(line, sizeof(line), "-E%u no", i);
        error_stats_note(&errors, view_str(line));
    }
    ck_assert_uint_eq(error_stats_used(&errors), ERROR_CODES - 1);
    ck_assert_str_eq(code_of(&errors, "-E61 no"), "E61");
    ck_assert_str_eq(code_of(&errors, "-E62 no"), "other");
    ck_assert_uint_eq(cell_get(&errors.rows[ERROR_CODES - 1].all), 1000 - 62);
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("session_stats");

    tcase_add_test(tests, an_account_is_made_at_the_first_call);
    tcase_add_test(tests, what_is_no_command_stands_in_no_account);
    tcase_add_test(tests, a_reset_is_seen_by_INFO_alone);
    tcase_add_test(tests, learnt_commands_are_known_by_their_names);
    tcase_add_test(tests, too_many_learnt_commands_share_an_account);
    tcase_add_test(tests, an_error_has_the_code_that_it_begins_with);
    tcase_add_test(tests, codes_without_end_have_one_row);
    return unit_run("session", tests);
}
