/*
 * tests/unit/discovery/test_name.c - what is believed of a name, and how long.
 */
#include <check.h>

#include "discovery/name.h"
#include "unit.h"

#define SECOND ((uint64_t)1000000)

static const struct name_limits limits = {
    .ttl_min_us = SECOND,
    .ttl_max_us = 60 * SECOND,
    .wait_us = 2 * SECOND,
};

static struct address_list *
list_of(const char *first, const char *second)
{
    struct address_list *list = address_list_new(second == NULL ? 1 : 2);

    ck_assert(address_from_literal(&list->items[0], first, 0));
    if (second != NULL)
        ck_assert(address_from_literal(&list->items[1], second, 0));
    return list;
}

/* Asked and answered at this moment. */
static bool
take_found(struct name *name, const char *first, const char *second,
           uint32_t ttl_s, uint64_t now_us)
{
    struct resolve_answer answer = {
        .result = RESOLVE_FOUND,
        .found = list_of(first, second),
        .ttl_s = ttl_s,
    };

    name_note_asked(name, now_us);
    bool is_news = name_take_answer(name, &limits, &answer, now_us);
    address_list_unref(&answer.found);
    return is_news;
}

static bool
take_failure(struct name *name, enum resolve_result result, uint64_t now_us)
{
    struct resolve_answer answer = {.result = result};

    name_note_asked(name, now_us);
    return name_take_answer(name, &limits, &answer, now_us);
}

START_TEST(answers_hold_as_long_as_they_say_within_bounds)
{
    static const struct {
        uint32_t ttl_s;
        uint64_t held_us;
    } cases[] = {
        {0, SECOND},        {1, SECOND},
        {30, 30 * SECOND},  {60, 60 * SECOND},
        {61, 60 * SECOND},  {INT32_MAX, 60 * SECOND},
        {UINT32_MAX, 60 * SECOND},
    };
    struct name name;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        name_init(&name, 0);
        ck_assert(take_found(&name, "127.0.0.1", NULL, cases[i].ttl_s,
                             5 * SECOND));
        ck_assert_uint_eq(name_next_us(&name, &limits),
                          5 * SECOND + cases[i].held_us);
        name_fini(&name);
    }
}
END_TEST

START_TEST(no_bad_answer_takes_good_addresses_away)
{
    struct name name;

    name_init(&name, 0);
    ck_assert(take_found(&name, "127.0.0.1", NULL, 1, SECOND));
    for (int result = RESOLVE_NO_NAME; result < RESOLVE_RESULT_COUNT;
         result++) {
        ck_assert(!take_failure(&name, (enum resolve_result)result, SECOND));
        ck_assert_uint_eq(name.addresses->count, 1);
    }
    ck_assert_uint_eq(name.answered_us, SECOND);
    name_fini(&name);
}
END_TEST

START_TEST(another_order_is_no_news)
{
    struct name name;

    name_init(&name, 0);
    ck_assert(take_found(&name, "127.0.0.1", "::1", 1, SECOND));
    struct address_list *before = name.addresses;
    ck_assert(!take_found(&name, "::1", "127.0.0.1", 1, 2 * SECOND));
    ck_assert_ptr_eq(name.addresses, before);
    ck_assert(take_found(&name, "::1", NULL, 1, 3 * SECOND));
    ck_assert(take_found(&name, "::1", "127.0.0.2", 1, 4 * SECOND));
    name_fini(&name);
}
END_TEST

START_TEST(first_failure_makes_a_name_unknown)
{
    struct name name;

    name_init(&name, 0);
    ck_assert(name.addresses->is_pending);
    ck_assert(take_failure(&name, RESOLVE_NO_NAME, 0));
    ck_assert(!name.addresses->is_pending);
    ck_assert_uint_eq(name.addresses->count, 0);
    ck_assert(!take_failure(&name, RESOLVE_NO_NAME, SECOND));
    ck_assert(take_found(&name, "127.0.0.1", NULL, 1, 2 * SECOND));
    name_fini(&name);
}
END_TEST

START_TEST(first_answer_is_waited_for_only_so_long)
{
    struct name name;

    name_init(&name, 0);
    name_note_asked(&name, SECOND);
    ck_assert_uint_eq(name_next_us(&name, &limits), 3 * SECOND);
    ck_assert(!name_is_overdue(&name, &limits, 3 * SECOND - 1));
    ck_assert(name_is_overdue(&name, &limits, 3 * SECOND));
    ck_assert(!name.addresses->is_pending);
    ck_assert(!name_is_overdue(&name, &limits, 4 * SECOND));
    ck_assert_uint_eq(name_next_us(&name, &limits), UINT64_MAX);
    name_fini(&name);
}
END_TEST

START_TEST(failing_questions_become_rarer_up_to_a_bound)
{
    struct name name;
    uint64_t before = 0;

    name_init(&name, 0);
    for (int i = 0; i < 100; i++) {
        (void)take_failure(&name, RESOLVE_TIMEOUT, 0);
        uint64_t pause = name_next_us(&name, &limits);
        ck_assert_uint_ge(pause, MAX(before, limits.ttl_min_us));
        ck_assert_uint_le(pause, NAME_RETRY_MAX_US);
        before = pause;
    }
    ck_assert_uint_eq(before, NAME_RETRY_MAX_US);
    ck_assert(take_found(&name, "127.0.0.1", NULL, 30, 0));
    (void)take_failure(&name, RESOLVE_TIMEOUT, 0);
    ck_assert_uint_eq(name_next_us(&name, &limits), SECOND);
    name_fini(&name);
}
END_TEST

START_TEST(hints_bring_the_question_forward_but_not_too_near)
{
    struct name name;

    name_init(&name, 0);
    ck_assert(take_found(&name, "127.0.0.1", NULL, 50, 10 * SECOND));
    name_hint(&name, &limits);
    ck_assert_uint_eq(name_next_us(&name, &limits), 11 * SECOND);
    name_note_asked(&name, 11 * SECOND);
    name_hint(&name, &limits);
    ck_assert_uint_eq(name_next_us(&name, &limits), UINT64_MAX);
    name_fini(&name);
}
END_TEST

/* The list that comes of a known one, what was found, and of what was answered
 * about the missing kind. */
static const char *
completed(struct name *name, const char *found_host,
          const struct resolve_answer *missing)
{
    static char text[128];
    struct address_list *found = list_of(found_host, NULL);
    int family = name_missing_family(name, found);
    struct address_list *whole =
        name_complete(name, found, family, missing);

    address_list_format(whole, text, sizeof(text));
    address_list_unref(&found);
    address_list_unref(&whole);
    return text;
}

START_TEST(one_kind_is_kept_while_nobody_tells_of_it)
{
    struct resolve_answer none = {.result = RESOLVE_NO_ADDRESS};
    struct resolve_answer failed = {.result = RESOLVE_FAILED};
    struct resolve_answer timeout = {.result = RESOLVE_TIMEOUT};
    struct resolve_answer told = {.result = RESOLVE_FOUND};
    struct name name;

    name_init(&name, 0);
    ck_assert(take_found(&name, "127.0.0.1", "::1", 1, 0));
    ck_assert_str_eq(completed(&name, "127.0.0.2", &failed),
                     "127.0.0.2,::1");
    ck_assert_str_eq(completed(&name, "127.0.0.2", &timeout),
                     "127.0.0.2,::1");
    ck_assert_str_eq(completed(&name, "127.0.0.2", &none), "127.0.0.2");
    ck_assert_str_eq(completed(&name, "::2", &failed), "127.0.0.1,::2");
    told.found = list_of("127.0.0.3", NULL);
    ck_assert_str_eq(completed(&name, "::2", &told), "127.0.0.3,::2");
    ck_assert_int_eq(name_missing_family(&name, name.addresses), AF_UNSPEC);
    address_list_unref(&told.found);
    name_fini(&name);
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("name");

    tcase_add_test(tests, answers_hold_as_long_as_they_say_within_bounds);
    tcase_add_test(tests, no_bad_answer_takes_good_addresses_away);
    tcase_add_test(tests, another_order_is_no_news);
    tcase_add_test(tests, first_failure_makes_a_name_unknown);
    tcase_add_test(tests, first_answer_is_waited_for_only_so_long);
    tcase_add_test(tests, failing_questions_become_rarer_up_to_a_bound);
    tcase_add_test(tests, hints_bring_the_question_forward_but_not_too_near);
    tcase_add_test(tests, one_kind_is_kept_while_nobody_tells_of_it);
    return unit_run("discovery", tests);
}
