/*
 * tests/unit/command/test_access.c - rules for commands.
 */
#include "command/access.h"
#include "unit.h"

static bool
allows(const char *rules, const char *name)
{
    struct access access;
    struct error error;
    const char *bar = strchr(name, '|');
    const struct command *command = command_find(
        view_of(name, bar == NULL ? strlen(name) : (size_t)(bar - name)));

    ck_assert_int_eq(access_parse(&access, view_str(rules), &error), 0);
    if (bar != NULL)
        command = command_find_sub(command, view_str(bar + 1));
    ck_assert_ptr_nonnull(command);
    return access_allows(&access, command);
}

START_TEST(everything_is_allowed_at_first)
{
    ck_assert(allows("", "get"));
    ck_assert(allows("  ", "flushall"));
    ck_assert(allows("-keys", "get"));
    ck_assert(!allows("-keys", "keys"));
    ck_assert(!allows("-KEYS", "keys"));
}
END_TEST

START_TEST(last_rule_counts)
{
    ck_assert(allows("-@all +get", "get"));
    ck_assert(!allows("-@all +get", "set"));
    ck_assert(!allows("+get -@all", "get"));
    ck_assert(!allows("-@dangerous", "flushall"));
    ck_assert(!allows("-@Dangerous", "sort"));
    ck_assert(allows("-@dangerous", "set"));
    ck_assert(allows("-@dangerous +sort", "sort"));
    ck_assert(allows("-@write -@read +@string", "set"));
    ck_assert(!allows("-@write -@read +@string", "hset"));
    ck_assert(!allows("nocommands", "get"));
    ck_assert(allows("nocommands allcommands", "get"));
}
END_TEST

START_TEST(container_is_all_that_it_contains)
{
    ck_assert(!allows("-config", "config"));
    ck_assert(!allows("-config", "config|get"));
    ck_assert(allows("-config +config|get", "config|get"));
    ck_assert(!allows("-config +config|get", "config|set"));
    ck_assert(allows("-config|set", "config|get"));
    ck_assert(!allows("-config|set", "config|set"));
    /* A name that begins like another is another. */
    ck_assert(allows("-get", "getset"));
}
END_TEST

START_TEST(whoever_comes_may_make_himself_known)
{
    static const char *const names[] = {"auth", "hello", "quit", "reset"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        ck_assert(allows("-@all", names[i]));
    ck_assert(!allows("-@all", "ping"));
}
END_TEST

static const char *const bad_rules[] = {
    "get", "+", "-", "-@", "-@nosuch", "+nosuch", "-config|nosuch", "-get|x",
    "-config|", "~key*", "+@all|x", "-keys;-get",
    "-|get",
};

START_TEST(rule_that_is_none_is_named)
{
    struct access access;
    struct error error;
    char rules[100];

    snprintf(rules, sizeof(rules), "-keys %s", bad_rules[_i]);
    ck_assert_int_eq(access_parse(&access, view_str(rules), &error), -1);
    ck_assert_str_eq(error.text, bad_rules[_i]);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("access");

    tcase_add_test(tcase, everything_is_allowed_at_first);
    tcase_add_test(tcase, last_rule_counts);
    tcase_add_test(tcase, container_is_all_that_it_contains);
    tcase_add_test(tcase, whoever_comes_may_make_himself_known);
    tcase_add_loop_test(tcase, rule_that_is_none_is_named, 0,
                        ARRAY_LEN(bad_rules));
    return unit_run("command", tcase);
}
