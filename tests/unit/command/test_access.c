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

/* --- what goes to the servers ------------------------------------------------- */

static bool
sends(const char *rules, enum command_id id)
{
    struct access access;
    struct error error;

    ck_assert_int_eq(
        access_parse_server_commands(&access, view_str(rules), &error), 0);
    return access_allows(&access, command_by_id(id));
}

START_TEST(nothing_goes_to_the_servers_at_first)
{
    for (unsigned id = 0; id < COMMAND_ID_COUNT; id++) {
        ck_assert(!sends("", (enum command_id)id));
        ck_assert(!sends("-@all", (enum command_id)id));
    }
    ck_assert(sends("+config|set", COMMAND_ID_CONFIG_SET));
    ck_assert(!sends("+config|set", COMMAND_ID_CONFIG_GET));
    ck_assert(sends("+config", COMMAND_ID_CONFIG_GET));
    ck_assert(sends("+@admin -shutdown", COMMAND_ID_DEBUG));
    ck_assert(sends("+slowlog", COMMAND_ID_SLOWLOG_GET));
    ck_assert(!sends("+@admin -shutdown", COMMAND_ID_SHUTDOWN));
}
END_TEST

START_TEST(what_is_about_a_connection_goes_to_no_server)
{
    static const enum command_id ids[] = {
        COMMAND_ID_AUTH,         COMMAND_ID_HELLO,    COMMAND_ID_QUIT,
        COMMAND_ID_RESET,        COMMAND_ID_SELECT,   COMMAND_ID_MONITOR,
        COMMAND_ID_SYNC,         COMMAND_ID_PSYNC,    COMMAND_ID_REPLCONF,
        COMMAND_ID_CLIENT_REPLY, COMMAND_ID_READONLY, COMMAND_ID_ASKING,
        COMMAND_ID_SCRIPT_DEBUG, COMMAND_ID_MULTI,    COMMAND_ID_SUBSCRIBE,
    };

    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        ck_assert_msg(!sends("+@all", ids[i]), "%s",
                      command_by_id(ids[i])->name);
}
END_TEST

/* What goes to servers in any case, and what can never. */
static const char *const idle_rules[] = {"+get", "+select", "+monitor",
                                         "+nosuch", "+client", "get"};

START_TEST(rule_without_effect_is_named)
{
    struct access access;
    struct error error;
    char rules[100];

    snprintf(rules, sizeof(rules), "+config %s", idle_rules[_i]);
    ck_assert_int_eq(
        access_parse_server_commands(&access, view_str(rules), &error), -1);
    ck_assert_str_eq(error.text, idle_rules[_i]);
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
    tcase_add_test(tcase, nothing_goes_to_the_servers_at_first);
    tcase_add_test(tcase, what_is_about_a_connection_goes_to_no_server);
    tcase_add_loop_test(tcase, rule_without_effect_is_named, 0,
                        ARRAY_LEN(idle_rules));
    return unit_run("command", tcase);
}
