/*
 * test_glob.c - patterns, with the answers of redis-server.
 */
#include "guard.h"
#include "unit.h"

#include "command/glob.h"

/* Both sides end at an unreadable page. */
static bool
matches(const char *pattern, const char *text)
{
    struct guard p = guard_copy(pattern, strlen(pattern));
    struct guard t = guard_copy(text, strlen(text));
    bool result =
        glob_match_nocase(view_of(p.data, p.len), view_of(t.data, t.len));

    guard_free(&p);
    guard_free(&t);
    return result;
}

START_TEST(plain_text_matches_itself_in_any_case)
{
    ck_assert(matches("", ""));
    ck_assert(matches("get", "GeT"));
    ck_assert(matches("GET", "get"));
    ck_assert(!matches("get", "gets"));
    ck_assert(!matches("gets", "get"));
    ck_assert(!matches("", "a"));
}
END_TEST

START_TEST(stars_match_any_bytes)
{
    ck_assert(matches("*", ""));
    ck_assert(matches("*", "abc"));
    ck_assert(matches("a*", "a"));
    ck_assert(matches("a*c", "abbbc"));
    ck_assert(matches("*b*", "abc"));
    ck_assert(matches("**a**", "xay"));
    ck_assert(matches("*abab", "abaabab"));
    ck_assert(!matches("a*c", "abcd"));
    ck_assert(!matches("*b", "abc"));
}
END_TEST

START_TEST(sets_and_escapes_match_one_byte)
{
    ck_assert(matches("a?c", "abc"));
    ck_assert(!matches("a?c", "ac"));
    ck_assert(matches("h[ae]llo", "hEllo"));
    ck_assert(!matches("h[^ae]llo", "hello"));
    ck_assert(matches("h[^ae]llo", "hillo"));
    ck_assert(matches("h[a-c]llo", "hbllo"));
    ck_assert(matches("h[c-a]llo", "hbllo"));
    ck_assert(!matches("h[a-c]llo", "hdllo"));
    ck_assert(matches("[\\]]", "]"));
    ck_assert(matches("\\*", "*"));
    ck_assert(!matches("\\*", "a"));
    ck_assert(matches("a\\", "a\\"));
    ck_assert(matches("*[b]", "aab"));
}
END_TEST

START_TEST(unfinished_patterns_are_harmless)
{
    ck_assert(matches("[a", "a"));
    ck_assert(matches("[a-", "-"));
    ck_assert(!matches("[", "a"));
    ck_assert(matches("[^", "a"));
    ck_assert(!matches("[\\", "a"));
    ck_assert(!matches("*[", "abc"));
}
END_TEST

START_TEST(letters_differ_where_case_counts)
{
    ck_assert(glob_match(VIEW("News.*"), VIEW("News.Sports")));
    ck_assert(!glob_match(VIEW("news.*"), VIEW("News.Sports")));
    ck_assert(!glob_match(VIEW("[a-z]"), VIEW("A")));
    ck_assert(glob_match(VIEW("[^a-z]"), VIEW("A")));
}
END_TEST

START_TEST(many_stars_take_no_time)
{
    char pattern[201], text[2001];

    for (size_t i = 0; i < 200; i++)
        pattern[i] = i % 2 ? '*' : 'a';
    memset(text, 'a', 2000);
    pattern[199] = 'b';
    pattern[200] = text[2000] = '\0';
    ck_assert(!matches(pattern, text));
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("glob");

    tcase_add_test(tests, plain_text_matches_itself_in_any_case);
    tcase_add_test(tests, stars_match_any_bytes);
    tcase_add_test(tests, sets_and_escapes_match_one_byte);
    tcase_add_test(tests, unfinished_patterns_are_harmless);
    tcase_add_test(tests, letters_differ_where_case_counts);
    tcase_add_test(tests, many_stars_take_no_time);
    return unit_run("command", tests);
}
