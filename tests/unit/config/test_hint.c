/*
 * tests/unit/config/test_hint.c - the nearest key.
 */
#include "config/hint.h"

#include <limits.h>

#include "config_case.h"

static unsigned
distance(const char *a, const char *b)
{
    return hint_distance(view_str(a), view_str(b));
}

START_TEST(distance_counts_slips_of_the_pen)
{
    ck_assert_uint_eq(distance("", ""), 0);
    ck_assert_uint_eq(distance("", "abc"), 3);
    ck_assert_uint_eq(distance("listen", "listen"), 0);
    ck_assert_uint_eq(distance("lisen", "listen"), 1);
    ck_assert_uint_eq(distance("listten", "listen"), 1);
    ck_assert_uint_eq(distance("lixten", "listen"), 1);
    ck_assert_uint_eq(distance("litsen", "listen"), 1);
    ck_assert_uint_eq(distance("ilstne", "listen"), 2);
    ck_assert_uint_eq(distance("kitten", "sitting"), 3);
}
END_TEST

START_TEST(distance_is_symmetric)
{
    ck_assert_uint_eq(distance("timeout", "tmieouts"),
                      distance("tmieouts", "timeout"));
}
END_TEST

START_TEST(very_long_words_are_far_from_everything)
{
    char longest[HINT_WORD_MAX + 2] = {0};

    memset(longest, 'a', HINT_WORD_MAX);
    ck_assert_uint_eq(distance(longest, longest), 0);
    memset(longest, 'a', HINT_WORD_MAX + 1);
    ck_assert_uint_eq(distance(longest, "a"), UINT_MAX);
    ck_assert_uint_eq(distance("a", longest), UINT_MAX);
}
END_TEST

START_TEST(hint_is_the_nearest_and_only_if_it_is_near)
{
    struct hint hint = hint_start(VIEW("hsh"));
    hint_offer(&hint, "hash_tag");
    hint_offer(&hint, "hash");
    hint_offer(&hint, "redis");
    ck_assert_str_eq(hint.nearest, "hash");

    hint = hint_start(VIEW("zzzz"));
    hint_offer(&hint, "hash");
    ck_assert_ptr_null(hint.nearest);

    hint = hint_start(VIEW("x"));
    hint_offer(&hint, "to");
    ck_assert_ptr_null(hint.nearest);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("hint");

    tcase_add_test(tcase, distance_counts_slips_of_the_pen);
    tcase_add_test(tcase, distance_is_symmetric);
    tcase_add_test(tcase, very_long_words_are_far_from_everything);
    tcase_add_test(tcase, hint_is_the_nearest_and_only_if_it_is_near);
    return unit_run("config", tcase);
}
