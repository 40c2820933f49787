/*
 * tests/unit/discovery/test_candidates.c - which node of a cluster is asked.
 */
#include "discovery/candidates.h"

#include "unit.h"

#define SECOND_US 1000000

static struct candidates all;
static char names[][2] = {"a", "b", "c"};
static struct address_text seeds[] = {{.host = names[0], .port = 1},
                                      {.host = names[1], .port = 2},
                                      {.host = names[2], .port = 3}};

static void
set_up(void)
{
    struct pool_settings pool = {.seeds = seeds,
                                 .seed_count = ARRAY_LEN(seeds)};

    candidates_init(&all);
    candidates_set_seeds(&all, &pool, SECOND_US);
}

/* The order in which a round asks them at this second. */
static const char *
round_at(unsigned second)
{
    static char order[8];
    struct candidate *candidate;
    size_t len = 0;

    candidates_begin_round(&all);
    while ((candidate = candidates_next(
                &all, (uint64_t)second * SECOND_US + len)) != NULL)
        order[len++] = candidate->host[0];
    order[len] = '\0';
    return order;
}

START_TEST(who_was_not_asked_for_longest_is_asked_first)
{
    set_up();
    candidates_begin_round(&all);
    ck_assert_str_eq(candidates_next(&all, 2 * SECOND_US)->host, "a");
    ck_assert_str_eq(round_at(3), "bca");
    candidates_fini(&all);
}
END_TEST

START_TEST(who_has_failed_is_asked_last)
{
    set_up();
    all.items[1].failures = 1;
    all.items[0].failures = 2;
    ck_assert_str_eq(round_at(2), "cba");
    candidates_fini(&all);
}
END_TEST

START_TEST(failures_are_forgiven_in_time_of_one_node_a_round)
{
    set_up();
    ck_assert_str_eq(round_at(2), "abc");
    all.items[0].failures = 100;
    all.items[1].failures = 1;
    candidates_forgive(&all, 61 * (uint64_t)SECOND_US);
    ck_assert_uint_eq(all.items[0].failures, 100);
    candidates_forgive(&all, 63 * (uint64_t)SECOND_US);
    ck_assert_str_eq(round_at(63), "acb");
    candidates_forgive(&all, 64 * (uint64_t)SECOND_US);
    ck_assert_uint_eq(all.items[1].failures, 1);
    candidates_fini(&all);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("candidates");

    tcase_add_test(tcase, who_was_not_asked_for_longest_is_asked_first);
    tcase_add_test(tcase, who_has_failed_is_asked_last);
    tcase_add_test(tcase, failures_are_forgiven_in_time_of_one_node_a_round);
    return unit_run("discovery", tcase);
}
