/*
 * tests/unit/discovery/test_replica_state.c - links, offsets and round trips.
 */
#include "discovery/replica_state.h"

#include "unit.h"

#define SECOND 1000000u

static struct view
bulk(const char *text)
{
    static char reply[1024];
    int len =
        snprintf(reply, sizeof(reply), "$%zu\r\n%s\r\n", strlen(text), text);

    return view_of(reply, (size_t)len);
}

/* --- INFO -------------------------------------------------------------------- */

#define REPLICA "# Replication\r\nrole:slave\r\nmaster_host:127.0.0.1\r\n"

START_TEST(primary_tells_its_offset)
{
    struct replication told;

    ck_assert(replication_read(
        bulk("# Replication\r\nrole:master\r\nconnected_slaves:1\r\n"
             "slave0:ip=127.0.0.1,port=7001,state=online,offset=98,lag=1\r\n"
             "master_repl_offset:112\r\nsecond_repl_offset:-1\r\n"),
        &told));
    ck_assert(!told.is_replica);
    ck_assert_uint_eq(told.offset, 112);
}
END_TEST

START_TEST(replica_tells_its_link_and_offset)
{
    struct replication told;

    ck_assert(replication_read(
        bulk(REPLICA "master_link_status:up\r\nmaster_sync_in_progress:0\r\n"
                     "slave_read_repl_offset:50\r\nslave_repl_offset:42\r\n"
                     "master_repl_offset:42\r\n"),
        &told));
    ck_assert(told.is_replica && told.is_linked);
    ck_assert_uint_eq(told.offset, 42);
}
END_TEST

START_TEST(replica_without_link_or_being_filled_is_not_linked)
{
    struct replication told;

    ck_assert(replication_read(
        bulk(REPLICA "master_link_status:down\r\nslave_repl_offset:42\r\n"),
        &told));
    ck_assert(!told.is_linked);
    ck_assert(replication_read(
        bulk(REPLICA "master_link_status:up\r\nmaster_sync_in_progress:1\r\n"
                     "slave_repl_offset:42\r\n"),
        &told));
    ck_assert(!told.is_linked);
}
END_TEST

START_TEST(other_replies_are_not_understood)
{
    struct replication told;

    ck_assert(!replication_read(VIEW("-NOAUTH no\r\n"), &told));
    ck_assert(!replication_read(VIEW("$-1\r\n"), &told));
    ck_assert(!replication_read(VIEW("+OK\r\n"), &told));
    ck_assert(!replication_read(VIEW(""), &told));
    ck_assert(!replication_read(bulk("role:sentinel\r\n"), &told));
    ck_assert(!replication_read(bulk("role:master\r\n"), &told));
    ck_assert(!replication_read(bulk("role:master\r\nmaster_repl_offset:x\r\n"),
                                &told));
}
END_TEST

START_TEST(field_is_a_whole_line)
{
    struct view text = VIEW("xrole:a\r\nrole:b c\r\nrole2:d\nlast:e");

    ck_assert(view_equal(info_field(text, VIEW("role")), VIEW("b c")));
    ck_assert(view_equal(info_field(text, VIEW("role2")), VIEW("d")));
    ck_assert(view_equal(info_field(text, VIEW("last")), VIEW("e")));
    ck_assert_uint_eq(info_field(text, VIEW("las")).len, 0);
    ck_assert_uint_eq(info_field(text, VIEW("none")).len, 0);
}
END_TEST

/* --- how far behind ---------------------------------------------------------- */

static void
add(struct offset_history *history, uint64_t at_s, uint64_t offset)
{
    offset_history_add(history, (struct offset_sample){at_s * SECOND, offset},
                       SECOND);
}

START_TEST(lag_is_the_time_since_the_primary_passed_by)
{
    struct offset_history history = {0};

    ck_assert_uint_eq(offset_history_lag(&history, 5), 0);
    for (uint64_t s = 0; s <= 20; s++)
        add(&history, s, 100 * s);
    ck_assert_uint_eq(offset_history_lag(&history, 2000), 0);
    ck_assert_uint_eq(offset_history_lag(&history, 2500), 0);
    ck_assert_uint_eq(offset_history_lag(&history, 1950), 0);
    ck_assert_uint_eq(offset_history_lag(&history, 1000), 9 * SECOND);
    ck_assert_uint_eq(offset_history_lag(&history, 1099), 9 * SECOND);
}
END_TEST

START_TEST(idle_primary_has_no_replica_behind)
{
    struct offset_history history = {0};

    for (uint64_t s = 0; s < 50; s++)
        add(&history, s, 700);
    ck_assert_uint_eq(offset_history_lag(&history, 700), 0);
    add(&history, 50, 900);
    add(&history, 51, 900);
    ck_assert_uint_eq(offset_history_lag(&history, 700), SECOND);
}
END_TEST

START_TEST(what_is_older_than_the_history_is_at_least_as_far_behind)
{
    struct offset_history history = {0};

    for (uint64_t s = 0; s < 100; s++)
        add(&history, s, 100 + s);
    ck_assert_uint_eq(history.count, OFFSETS_KEPT);
    ck_assert_uint_eq(offset_history_lag(&history, 1),
                      (OFFSETS_KEPT - 1) * SECOND);
}
END_TEST

START_TEST(samples_near_each_other_do_not_crowd_out_old_ones)
{
    struct offset_history history = {0};

    for (uint64_t ms = 0; ms <= 20000; ms += 100)
        offset_history_add(&history, (struct offset_sample){ms * 1000, ms},
                           SECOND);
    ck_assert_uint_le(history.count, 21);
    ck_assert_uint_eq(offset_history_lag(&history, 4500), 15 * SECOND);
    ck_assert_uint_eq(offset_history_lag(&history, 19999), 0);
}
END_TEST

START_TEST(primary_whose_offset_falls_has_begun_anew)
{
    struct offset_history history = {0};

    add(&history, 0, 1000);
    add(&history, 9, 2000);
    add(&history, 10, 5);
    ck_assert_uint_eq(history.count, 1);
    ck_assert_uint_eq(offset_history_lag(&history, 1), 0);
}
END_TEST

START_TEST(replica_is_judged_by_link_and_lag)
{
    uint64_t max = 10 * SECOND;

    ck_assert_int_eq(replica_judge(REPLICA_FRESH, true, max, max),
                     REPLICA_FRESH);
    ck_assert_int_eq(replica_judge(REPLICA_FRESH, false, 0, max), REPLICA_CUT);
    ck_assert_int_eq(replica_judge(REPLICA_CUT, true, 0, max), REPLICA_FRESH);
    ck_assert_int_eq(replica_judge(REPLICA_FRESH, true, max + 1, max),
                     REPLICA_BEHIND);
    ck_assert_int_eq(replica_judge(REPLICA_CUT, false, max + 1, max),
                     REPLICA_BEHIND);
    ck_assert_int_eq(replica_judge(REPLICA_BEHIND, true, max, max),
                     REPLICA_BEHIND);
    ck_assert_int_eq(replica_judge(REPLICA_BEHIND, true, max / 2, max),
                     REPLICA_FRESH);
    ck_assert_int_eq(replica_judge(REPLICA_FRESH, true, UINT64_MAX, 0),
                     REPLICA_FRESH);
}
END_TEST

/* --- how near ---------------------------------------------------------------- */

START_TEST(shortest_of_the_last_round_trips_counts)
{
    struct latency latency = {.count = 0};

    ck_assert_uint_eq(latency_shortest(&latency), UINT32_MAX);
    latency_add(&latency, 300);
    latency_add(&latency, 90000); /* a pause of ours */
    ck_assert_uint_eq(latency_shortest(&latency), 300);
    for (int i = 0; i < LATENCIES_KEPT; i++)
        latency_add(&latency, 2000);
    ck_assert_uint_eq(latency_shortest(&latency), 2000);
}
END_TEST

START_TEST(near_is_who_takes_not_much_longer_than_the_nearest)
{
    ck_assert(latency_is_near(1000, 1000, false));
    ck_assert(latency_is_near(2000, 1000, false));
    ck_assert(!latency_is_near(2500, 1000, false));
    ck_assert(latency_is_near(2500, 1000, true));
    ck_assert(!latency_is_near(4000, 1000, true));
    ck_assert(latency_is_near(200, 10, false));
    ck_assert(!latency_is_near(UINT32_MAX, 10, true));
    ck_assert(!latency_is_near(UINT32_MAX, UINT32_MAX, true));
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("replica_state");

    tcase_add_test(tcase, primary_tells_its_offset);
    tcase_add_test(tcase, replica_tells_its_link_and_offset);
    tcase_add_test(tcase, replica_without_link_or_being_filled_is_not_linked);
    tcase_add_test(tcase, other_replies_are_not_understood);
    tcase_add_test(tcase, field_is_a_whole_line);
    tcase_add_test(tcase, lag_is_the_time_since_the_primary_passed_by);
    tcase_add_test(tcase, idle_primary_has_no_replica_behind);
    tcase_add_test(tcase,
                   what_is_older_than_the_history_is_at_least_as_far_behind);
    tcase_add_test(tcase, samples_near_each_other_do_not_crowd_out_old_ones);
    tcase_add_test(tcase, primary_whose_offset_falls_has_begun_anew);
    tcase_add_test(tcase, replica_is_judged_by_link_and_lag);
    tcase_add_test(tcase, shortest_of_the_last_round_trips_counts);
    tcase_add_test(tcase, near_is_who_takes_not_much_longer_than_the_nearest);
    return unit_run("discovery", tcase);
}
