/*
 * tests/unit/discovery/test_epoch.c - which of the Sentinels are believed.
 *
 * Votes are written as "run id", host, port, epoch.
 */
#include "discovery/epoch.h"

#include "unit.h"

#define SILENT(id) {.voter = VIEW(id), .kind = VOTE_SILENT}
#define NO_NAME(id) {.voter = VIEW(id), .kind = VOTE_NO_NAME}
#define AT(id, at, on, since) \
    {.voter = VIEW(id), .kind = VOTE_ADDRESS, .host = VIEW(at), .port = (on), \
     .epoch = (since)}
#define OLD_HOME "10.0.0.1"
#define NEW_HOME "10.0.0.2"

#define DECIDE(votes, quorum, floor) \
    decide((votes), ARRAY_LEN(votes), (quorum), (floor))

static struct epoch_result result;

static enum epoch_verdict
decide(const struct vote *votes, size_t count, unsigned quorum,
       uint64_t floor)
{
    struct epoch_rules rules = {.quorum = quorum, .floor = floor};

    epoch_decide(votes, count, &rules, &result);
    ck_assert((result.verdict == EPOCH_BELIEVED) == (result.vouched != NULL));
    return result.verdict;
}

static bool
is_vouched(const char *host, uint16_t port)
{
    return result.vouched != NULL && result.vouched->port == port &&
        view_equal(result.vouched->host, view_str(host));
}

START_TEST(epoch_believes_those_that_agree)
{
    struct vote votes[] = {AT("a", OLD_HOME, 6379, 3),
                           AT("b", OLD_HOME, 6379, 3),
                           AT("c", OLD_HOME, 6379, 3)};

    ck_assert_int_eq(DECIDE(votes, 0, 0), EPOCH_BELIEVED);
    ck_assert(is_vouched(OLD_HOME, 6379));
    ck_assert_uint_eq(result.supporters, 3);
    ck_assert_uint_eq(result.needed, 2);
}
END_TEST

START_TEST(epoch_tells_apart_why_there_is_none)
{
    struct vote silent[] = {SILENT("a"), SILENT(""), SILENT("")};
    struct vote unknown[] = {SILENT("a"), NO_NAME("b"), NO_NAME("c")};
    struct vote few[] = {SILENT("a"), SILENT("b"), AT("c", OLD_HOME, 1, 1)};
    struct vote split[] = {SILENT("a"), AT("b", NEW_HOME, 1, 2),
                           AT("c", OLD_HOME, 1, 1)};

    ck_assert_int_eq(decide(NULL, 0, 0, 0), EPOCH_NOBODY_REACHED);
    ck_assert_int_eq(DECIDE(silent, 0, 0), EPOCH_NOBODY_REACHED);
    ck_assert_int_eq(DECIDE(unknown, 0, 0), EPOCH_NOBODY_KNOWS);
    ck_assert_int_eq(DECIDE(few, 0, 0), EPOCH_TOO_FEW);
    ck_assert_int_eq(DECIDE(split, 0, 0), EPOCH_DISAGREED);
    ck_assert_uint_eq(result.highest, 2);
}
END_TEST

/* Cut off together with the old primary, or thawed after a long sleep. */
START_TEST(epoch_does_not_believe_one_stale_sentinel)
{
    struct vote stale_and_dead[] = {AT("a", OLD_HOME, 1, 1), SILENT("b"),
                                    SILENT("c")};
    struct vote stale[] = {AT("a", OLD_HOME, 1, 1), AT("b", NEW_HOME, 1, 2),
                           AT("c", NEW_HOME, 1, 2)};

    ck_assert_int_eq(DECIDE(stale_and_dead, 0, 2), EPOCH_TOO_FEW);
    ck_assert_int_eq(DECIDE(stale, 0, 1), EPOCH_BELIEVED);
    ck_assert(is_vouched(NEW_HOME, 1));
}
END_TEST

/* An epoch out of the blue is one opinion like any other. */
START_TEST(epoch_does_not_believe_one_that_promises_more)
{
    struct vote votes[] = {AT("a", "6.6.6.6", 1, 99), AT("b", OLD_HOME, 1, 2),
                           AT("c", OLD_HOME, 1, 2)};

    ck_assert_int_eq(DECIDE(votes, 0, 2), EPOCH_BELIEVED);
    ck_assert(is_vouched(OLD_HOME, 1));
    ck_assert_uint_eq(result.highest, 99);
}
END_TEST

START_TEST(epoch_never_goes_back)
{
    struct vote votes[] = {AT("a", OLD_HOME, 1, 4), AT("b", OLD_HOME, 1, 4),
                           AT("c", OLD_HOME, 1, 4)};

    ck_assert_int_eq(DECIDE(votes, 0, 5), EPOCH_OLD);
    ck_assert_int_eq(DECIDE(votes, 0, 4), EPOCH_BELIEVED);
    ck_assert_int_eq(DECIDE(votes, 0, UINT64_MAX), EPOCH_OLD);
}
END_TEST

/* The leader is a few milliseconds ahead of the others. */
START_TEST(epoch_switches_when_most_have_switched)
{
    struct vote votes[] = {AT("a", NEW_HOME, 1, 2), AT("b", OLD_HOME, 1, 1),
                           AT("c", OLD_HOME, 1, 1)};

    ck_assert_int_eq(DECIDE(votes, 0, 1), EPOCH_BELIEVED);
    ck_assert(is_vouched(OLD_HOME, 1));
    votes[1] = votes[0];
    votes[1].voter = VIEW("b");
    ck_assert_int_eq(DECIDE(votes, 0, 1), EPOCH_BELIEVED);
    ck_assert(is_vouched(NEW_HOME, 1));
}
END_TEST

START_TEST(epoch_of_an_even_split_is_nobodys)
{
    struct vote votes[] = {AT("a", NEW_HOME, 1, 2), AT("b", NEW_HOME, 1, 2),
                           AT("c", OLD_HOME, 1, 1), AT("d", OLD_HOME, 1, 1)};

    ck_assert_int_eq(DECIDE(votes, 0, 0), EPOCH_DISAGREED);
    ck_assert_int_eq(DECIDE(votes, 2, 0), EPOCH_DISAGREED);
}
END_TEST

START_TEST(epoch_counts_a_sentinel_once)
{
    struct vote votes[] = {AT("a", OLD_HOME, 1, 1), AT("A", OLD_HOME, 1, 1),
                           AT("a", OLD_HOME, 1, 1), SILENT("b"), SILENT("c")};

    ck_assert_int_eq(DECIDE(votes, 0, 0), EPOCH_TOO_FEW);
    ck_assert_uint_eq(result.known, 3);
    ck_assert_uint_eq(result.supporters, 1);
}
END_TEST

/* At one of its addresses it is silent, at another it speaks. */
START_TEST(epoch_takes_the_best_vote_of_a_sentinel)
{
    struct vote votes[] = {SILENT("a"), AT("a", OLD_HOME, 1, 1),
                           AT("a", NEW_HOME, 1, 2), AT("b", NEW_HOME, 1, 2),
                           SILENT("c")};

    ck_assert_int_eq(DECIDE(votes, 0, 0), EPOCH_BELIEVED);
    ck_assert(is_vouched(NEW_HOME, 1));
    ck_assert_uint_eq(result.reached, 2);
}
END_TEST

START_TEST(epoch_counts_each_nameless_sentinel)
{
    struct vote votes[] = {AT("", OLD_HOME, 1, 1), AT("", OLD_HOME, 1, 1),
                           SILENT("")};

    ck_assert_int_eq(DECIDE(votes, 0, 0), EPOCH_BELIEVED);
    ck_assert_uint_eq(result.known, 3);
}
END_TEST

START_TEST(epoch_quorum_is_the_operators)
{
    struct vote one[] = {AT("a", OLD_HOME, 1, 1), SILENT("b"), SILENT("c")};
    struct vote two[] = {AT("a", OLD_HOME, 1, 1), AT("b", OLD_HOME, 1, 1),
                         AT("c", NEW_HOME, 1, 2)};

    ck_assert_int_eq(DECIDE(one, 1, 0), EPOCH_BELIEVED);
    ck_assert_int_eq(DECIDE(one, 2, 0), EPOCH_TOO_FEW);
    ck_assert_int_eq(DECIDE(two, 3, 0), EPOCH_DISAGREED);
    /* However low it is, a minority is not believed beside a majority. */
    ck_assert_int_eq(DECIDE(two, 1, 0), EPOCH_BELIEVED);
    ck_assert(is_vouched(OLD_HOME, 1));
}
END_TEST

/* Sentinels of other masters in the same list: quorum says who is enough. */
START_TEST(epoch_quorum_leaves_out_who_does_not_know_the_name)
{
    struct vote votes[] = {AT("a", OLD_HOME, 1, 1), AT("b", OLD_HOME, 1, 1),
                           NO_NAME("c"), NO_NAME("d"), NO_NAME("e")};

    ck_assert_int_eq(DECIDE(votes, 0, 0), EPOCH_TOO_FEW);
    ck_assert_int_eq(DECIDE(votes, 2, 0), EPOCH_BELIEVED);
}
END_TEST

START_TEST(epoch_tells_ports_and_hosts_apart)
{
    struct vote ports[] = {AT("a", OLD_HOME, 1, 1), AT("b", OLD_HOME, 2, 1)};
    struct vote hosts[] = {AT("a", OLD_HOME, 1, 1), AT("b", NEW_HOME, 1, 1)};
    struct vote epochs[] = {AT("a", OLD_HOME, 1, 1), AT("b", OLD_HOME, 1, 2)};

    ck_assert_int_eq(DECIDE(ports, 0, 0), EPOCH_DISAGREED);
    ck_assert_int_eq(DECIDE(hosts, 0, 0), EPOCH_DISAGREED);
    ck_assert_int_eq(DECIDE(epochs, 0, 0), EPOCH_DISAGREED);
}
END_TEST

START_TEST(epoch_takes_a_name_for_the_address_that_it_has)
{
    struct vote votes[] = {AT("a", "Cache.example", 1, 1),
                           AT("b", "cache.EXAMPLE", 1, 1), SILENT("c")};

    ck_assert_int_eq(DECIDE(votes, 0, 0), EPOCH_BELIEVED);
    votes[1].host = VIEW(OLD_HOME);
    ck_assert_int_eq(DECIDE(votes, 0, 0), EPOCH_DISAGREED);
    votes[0].ip = VIEW(OLD_HOME);
    ck_assert_int_eq(DECIDE(votes, 0, 0), EPOCH_BELIEVED);
    votes[0].ip = VIEW(NEW_HOME);
    ck_assert_int_eq(DECIDE(votes, 0, 0), EPOCH_DISAGREED);
}
END_TEST

START_TEST(epoch_counts_who_sees_a_failover)
{
    struct vote votes[] = {AT("a", OLD_HOME, 1, 1), AT("b", OLD_HOME, 1, 1),
                           AT("c", OLD_HOME, 1, 1)};

    votes[1].is_failing_over = true;
    ck_assert_int_eq(DECIDE(votes, 0, 0), EPOCH_BELIEVED);
    ck_assert_uint_eq(result.failing_over, 1);
}
END_TEST

START_TEST(epoch_looks_at_a_bounded_number_of_votes)
{
    struct vote votes[2 * EPOCH_VOTES_MAX];

    for (size_t i = 0; i < ARRAY_LEN(votes); i++)
        votes[i] = (struct vote)AT("", OLD_HOME, 1, 1);
    ck_assert_int_eq(DECIDE(votes, 0, 0), EPOCH_BELIEVED);
    ck_assert_uint_eq(result.known, EPOCH_VOTES_MAX);
}
END_TEST

START_TEST(epoch_verdicts_have_texts)
{
    for (int i = EPOCH_BELIEVED; i <= EPOCH_OLD; i++)
        ck_assert_ptr_nonnull(epoch_verdict_text((enum epoch_verdict)i));
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("epoch");

    tcase_add_test(tests, epoch_believes_those_that_agree);
    tcase_add_test(tests, epoch_tells_apart_why_there_is_none);
    tcase_add_test(tests, epoch_does_not_believe_one_stale_sentinel);
    tcase_add_test(tests, epoch_does_not_believe_one_that_promises_more);
    tcase_add_test(tests, epoch_never_goes_back);
    tcase_add_test(tests, epoch_switches_when_most_have_switched);
    tcase_add_test(tests, epoch_of_an_even_split_is_nobodys);
    tcase_add_test(tests, epoch_counts_a_sentinel_once);
    tcase_add_test(tests, epoch_takes_the_best_vote_of_a_sentinel);
    tcase_add_test(tests, epoch_counts_each_nameless_sentinel);
    tcase_add_test(tests, epoch_quorum_is_the_operators);
    tcase_add_test(tests, epoch_quorum_leaves_out_who_does_not_know_the_name);
    tcase_add_test(tests, epoch_tells_ports_and_hosts_apart);
    tcase_add_test(tests, epoch_takes_a_name_for_the_address_that_it_has);
    tcase_add_test(tests, epoch_counts_who_sees_a_failover);
    tcase_add_test(tests, epoch_looks_at_a_bounded_number_of_votes);
    tcase_add_test(tests, epoch_verdicts_have_texts);
    return unit_run("discovery", tests);
}
