/*
 * tests/unit/upstream/test_health.c - from incidents and answers to a verdict.
 */
#include "upstream/health.h"

#include <check.h>
#include <stdlib.h>

#define SECOND 1000000u

static struct health
new_health(uint64_t failures)
{
    struct health_limits limits = {
        .failures = failures,
        .window_us = 30 * SECOND,
        .probe_us = 2 * SECOND,
        .retry_min_us = 20000,
        .retry_max_us = 2 * SECOND,
    };
    struct health health;

    health_init(&health, 0);
    health.limits = limits;
    return health;
}

static uint64_t
pause_of(const struct health *health)
{
    uint64_t pause_us = 0;

    ck_assert(health_probe_pause(health, &pause_us));
    return pause_us;
}

static struct health
new_down(void)
{
    struct health health = new_health(1);

    ck_assert(health_on_incident(&health, INCIDENT_CONNECT, SECOND));
    ck_assert_int_eq(health.state, HEALTH_DOWN);
    return health;
}

START_TEST(proof_in_a_row_makes_it_down)
{
    struct health health = new_health(3);

    ck_assert(health_on_incident(&health, INCIDENT_CONNECT, 1));
    ck_assert_int_eq(health.state, HEALTH_SUSPECT);
    ck_assert(!health_on_incident(&health, INCIDENT_PROBE, 2));
    ck_assert(health_on_incident(&health, INCIDENT_SILENT, 3));
    ck_assert_int_eq(health.state, HEALTH_DOWN);
    ck_assert_int_eq(health.reason, INCIDENT_SILENT);
    ck_assert_uint_eq(health.changed_us, 3);
}
END_TEST

START_TEST(refusals_count_although_probes_are_answered)
{
    struct health health = new_health(3);

    for (uint64_t i = 1; i < 3; i++) {
        ck_assert(!health_on_incident(&health, INCIDENT_REFUSAL, i));
        (void)health_on_probe_answer(&health, i);
        ck_assert_int_eq(health.state, HEALTH_UP);
    }
    (void)health_on_answer(&health, 3);
    for (uint64_t i = 4; i < 6; i++)
        ck_assert(!health_on_incident(&health, INCIDENT_REFUSAL, i));
    ck_assert(health_on_incident(&health, INCIDENT_REFUSAL, 6));
    ck_assert_int_eq(health.state, HEALTH_DOWN);
    ck_assert(health_on_probe_answer(&health, 7));
    (void)health_on_answer(&health, 8);
    ck_assert(!health_on_incident(&health, INCIDENT_REFUSAL, 9));
}
END_TEST

START_TEST(suspicion_alone_never_makes_it_down)
{
    struct health health = new_health(2);

    for (uint64_t i = 1; i < 100; i++) {
        (void)health_on_incident(&health, INCIDENT_LOST, i);
        (void)health_on_incident(&health, INCIDENT_EXPIRED, i);
        (void)health_on_incident(&health, INCIDENT_SLOW, i);
        ck_assert_int_eq(health.state, HEALTH_SUSPECT);
    }
    ck_assert(health_on_incident(&health, INCIDENT_CONNECT, 100));
    ck_assert_int_eq(health.state, HEALTH_DOWN);
}
END_TEST

START_TEST(an_answer_in_between_begins_anew)
{
    struct health health = new_health(2);

    for (uint64_t i = 1; i < 100; i++) {
        ck_assert(health_on_incident(&health, INCIDENT_CONNECT, i));
        ck_assert_int_eq(health.state, HEALTH_SUSPECT);
        ck_assert(health_on_answer(&health, i));
        ck_assert_int_eq(health.state, HEALTH_UP);
    }
    ck_assert(health_on_incident(&health, INCIDENT_CONNECT, 100));
    ck_assert(health_on_probe_answer(&health, 100));
    ck_assert_int_eq(health.state, HEALTH_UP);
}
END_TEST

START_TEST(an_old_failure_is_forgotten)
{
    struct health health = new_health(2);

    (void)health_on_incident(&health, INCIDENT_CONNECT, SECOND);
    (void)health_on_incident(&health, INCIDENT_CONNECT, 32 * SECOND);
    ck_assert_int_eq(health.state, HEALTH_SUSPECT);
    (void)health_on_incident(&health, INCIDENT_CONNECT, 62 * SECOND);
    ck_assert_int_eq(health.state, HEALTH_DOWN);
}
END_TEST

START_TEST(down_ends_by_a_probe_only)
{
    struct health health = new_down();

    ck_assert(!health_on_answer(&health, 2 * SECOND));
    ck_assert(!health_on_incident(&health, INCIDENT_LOST, 2 * SECOND));
    ck_assert_int_eq(health.state, HEALTH_DOWN);
    ck_assert(health_on_probe_answer(&health, 3 * SECOND));
    ck_assert_int_eq(health.state, HEALTH_HALF_OPEN);
    ck_assert_uint_eq(health.changed_us, 3 * SECOND);
}
END_TEST

START_TEST(half_open_becomes_up_with_an_answer)
{
    struct health health = new_down();

    (void)health_on_probe_answer(&health, 2 * SECOND);
    ck_assert(health_on_answer(&health, 3 * SECOND));
    ck_assert_int_eq(health.state, HEALTH_UP);
}
END_TEST

START_TEST(half_open_becomes_up_with_a_second_probe)
{
    struct health health = new_down();

    (void)health_on_probe_answer(&health, 2 * SECOND);
    ck_assert(health_on_probe_answer(&health, 3 * SECOND));
    ck_assert_int_eq(health.state, HEALTH_UP);
}
END_TEST

START_TEST(a_move_leaves_nothing_of_what_was_found_out)
{
    struct health health = new_down();

    ck_assert(health_on_move(&health, 2 * SECOND));
    ck_assert_int_eq(health.state, HEALTH_HALF_OPEN);
    ck_assert_uint_eq(health.failures, 0);
    ck_assert_uint_eq(health.probe_failures, 0);

    struct health suspect = new_health(2);
    (void)health_on_incident(&suspect, INCIDENT_CONNECT, SECOND);
    ck_assert(!health_on_move(&suspect, 2 * SECOND));
    (void)health_on_incident(&suspect, INCIDENT_CONNECT, 3 * SECOND);
    ck_assert_int_eq(suspect.state, HEALTH_SUSPECT);
}
END_TEST

START_TEST(half_open_falls_with_any_incident)
{
    for (int what = 0; what < INCIDENT_COUNT; what++) {
        struct health health = new_down();
        health.limits.failures = 5;
        (void)health_on_probe_answer(&health, 2 * SECOND);
        ck_assert(health_on_incident(&health, (enum incident)what,
                                     3 * SECOND));
        ck_assert_int_eq(health.state, HEALTH_DOWN);
    }
}
END_TEST

START_TEST(probes_are_at_once_then_rarer)
{
    struct health health = new_health(3);
    uint64_t pause = 0, before = 0;

    ck_assert_uint_eq(pause_of(&health), 2 * SECOND);
    (void)health_on_incident(&health, INCIDENT_LOST, 1);
    ck_assert_uint_eq(pause_of(&health), 0);
    for (uint64_t i = 2; i < 100; i++) {
        (void)health_on_incident(&health, INCIDENT_PROBE, i);
        pause = pause_of(&health);
        ck_assert_uint_ge(pause, MAX(before, 20000u));
        ck_assert_uint_le(pause, 2 * SECOND);
        before = pause;
    }
    ck_assert_uint_eq(pause, 2 * SECOND);
    (void)health_on_probe_answer(&health, 100);
    (void)health_on_probe_answer(&health, 101);
    ck_assert_uint_eq(pause_of(&health), 2 * SECOND);
}
END_TEST

START_TEST(no_interval_means_probes_under_suspicion_only)
{
    struct health health = new_health(2);
    uint64_t pause_us;

    health.limits.probe_us = 0;
    ck_assert(!health_probe_pause(&health, &pause_us));
    (void)health_on_incident(&health, INCIDENT_LOST, 1);
    ck_assert_uint_eq(pause_of(&health), 0);
}
END_TEST

static void
expect_ping(enum ping_result result, const char *reply)
{
    ck_assert_msg(health_judge_ping(view_str(reply)) == result, "%s", reply);
}

START_TEST(ping_is_judged_by_the_servers_words)
{
    expect_ping(PING_ALIVE, "+PONG\r\n");
    expect_ping(PING_ALIVE, "-MISCONF Redis is configured to save RDB\r\n");
    expect_ping(PING_BUSY, "-BUSY Redis is busy running a script.\r\n");
    expect_ping(PING_ALIVE, "-NOAUTH Authentication required.\r\n");
    expect_ping(PING_ALIVE, "-NOPERM this user has no permissions\r\n");
    expect_ping(PING_NOT_READY, "-LOADING Redis is loading the dataset\r\n");
    expect_ping(PING_NOT_READY, "-MASTERDOWN Link with MASTER is down\r\n");
    expect_ping(PING_ODD, "-BUSYKEY Target key name already exists.\r\n");
    expect_ping(PING_ODD, "-ERR unknown command\r\n");
    expect_ping(PING_ODD, "$4\r\nPONG\r\n");
    expect_ping(PING_ODD, "+PO");
    expect_ping(PING_ODD, "");
}
END_TEST

static Suite *
health_suite(void)
{
    Suite *suite = suite_create("health");
    TCase *tcase = tcase_create("all");

    tcase_add_test(tcase, proof_in_a_row_makes_it_down);
    tcase_add_test(tcase, suspicion_alone_never_makes_it_down);
    tcase_add_test(tcase, refusals_count_although_probes_are_answered);
    tcase_add_test(tcase, an_answer_in_between_begins_anew);
    tcase_add_test(tcase, an_old_failure_is_forgotten);
    tcase_add_test(tcase, down_ends_by_a_probe_only);
    tcase_add_test(tcase, half_open_becomes_up_with_an_answer);
    tcase_add_test(tcase, half_open_becomes_up_with_a_second_probe);
    tcase_add_test(tcase, a_move_leaves_nothing_of_what_was_found_out);
    tcase_add_test(tcase, half_open_falls_with_any_incident);
    tcase_add_test(tcase, probes_are_at_once_then_rarer);
    tcase_add_test(tcase, no_interval_means_probes_under_suspicion_only);
    tcase_add_test(tcase, ping_is_judged_by_the_servers_words);
    suite_add_tcase(suite, tcase);
    return suite;
}

int
main(void)
{
    SRunner *runner = srunner_create(health_suite());

    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
