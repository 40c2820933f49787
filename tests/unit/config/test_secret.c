/*
 * tests/unit/config/test_secret.c - passwords from here, files and variables.
 */
#include "config_case.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

#define HEAD "a:\n  listen: h:1\n  redis: true\n  servers: [h:1:1]\n"
/* What must never be seen in a message. */
#define SECRET "hunter2"

static struct config_case
parse_auth(const char *value)
{
    char *text = mem_printf(HEAD "  redis_auth: %s\n", value);
    struct config_case c = case_parse(text);

    mem_free(text);
    return c;
}

static void
expect_auth(const char *value, const char *secret)
{
    struct config_case c = parse_auth(value);

    expect_accepted(&c, value);
    ck_assert_str_eq(c.settings->pools[0].redis_auth, secret);
    case_fini(&c);
}

static void
expect_no_auth(const char *value, const char *message)
{
    struct config_case c = parse_auth(value);

    ck_assert_ptr_null(c.settings);
    ck_assert_ptr_null(strstr(c.messages.data, SECRET));
    ck_assert_msg(strstr(c.messages.data, message) != NULL, "%s\n%s", message,
                  c.messages.data);
    case_fini(&c);
}

/* The secret that a file of these bytes gives; NULL: refused. */
static void
expect_file(struct view content, const char *secret)
{
    char path[] = "/tmp/pointsman-test-XXXXXX";
    int fd = mkstemp(path);
    char *value = mem_printf("{file: %s}", path);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, content.data, content.len),
                     (ssize_t)content.len);
    close(fd);
    if (secret != NULL)
        expect_auth(value, secret);
    else
        expect_no_auth(value, "t.yml:5:22: error: a.redis_auth: found");
    unlink(path);
    mem_free(value);
}

START_TEST(password_may_stand_in_the_file_itself)
{
    expect_auth(SECRET, SECRET);
    expect_auth("'${HOME}'", "${HOME}");
    expect_auth("\"\\u00e4 \\x01\"", "\xc3\xa4 \x01");
}
END_TEST

START_TEST(password_from_a_file_loses_one_newline)
{
    expect_file(VIEW(SECRET), SECRET);
    expect_file(VIEW(SECRET "\n"), SECRET);
    expect_file(VIEW(SECRET "\r\n"), SECRET);
    expect_file(VIEW(SECRET "\n\n"), SECRET "\n");
    expect_file(VIEW(" " SECRET " \n"), " " SECRET " ");
}
END_TEST

START_TEST(password_from_a_file_is_not_empty_nor_endless)
{
    static char content[70000];

    memset(content, 'x', sizeof(content));
    expect_file(VIEW(""), NULL);
    expect_file(VIEW("\n"), NULL);
    expect_file(VIEW(SECRET "\0" SECRET), NULL);
    expect_file(view_of(content, sizeof(content)), NULL);
}
END_TEST

START_TEST(password_from_a_variable)
{
    setenv("POINTSMAN_TEST", SECRET "\n", 1);
    expect_auth("{env: POINTSMAN_TEST}", SECRET);
    setenv("POINTSMAN_TEST", "", 1);
    expect_no_auth("{env: POINTSMAN_TEST}", "t.yml:5:21: error: a.redis_auth: "
                   "found a password in a variable that is empty");
    unsetenv("POINTSMAN_TEST");
    expect_no_auth("{env: POINTSMAN_TEST}", "t.yml:5:21: error: a.redis_auth: "
                   "found the name \"POINTSMAN_TEST\", allowed that of an "
                   "environment variable that is set\n");
}
END_TEST

START_TEST(missing_file_is_an_error)
{
    expect_no_auth("{file: /does/not/exist}", "t.yml:5:22: error: "
                   "a.redis_auth: found the file \"/does/not/exist\", which "
                   "cannot be opened: No such file or directory; allowed a "
                   "file with the password\n");
    expect_no_auth("{file: /}", "which cannot be read: Is a directory");
}
END_TEST

/* A password that was written in a wrong way is still a password. */
START_TEST(no_message_shows_a_password)
{
    static const char *const wrong[] = {
        "{" SECRET "}",        "{" SECRET ": 1}",
        "[" SECRET "]",        "{file: [" SECRET "]}",
        "{text: " SECRET "}",  "{file: /x, env: " SECRET "}",
        "\"" SECRET "\\0\"",
    };

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        expect_no_auth(wrong[i], ": error: a.redis_auth: found ");
    expect_refused("a: {redis_auth: [" SECRET "]}\n",
                   "t.yml:1:17: error: a.redis_auth: found something else, "
                   "allowed a password, {file: PATH} or {env: NAME}\n"
                   "t.yml:1:1: error: a.listen: found nothing, allowed "
                   "host:port, [v6]:port or /path [octal mode]\n"
                   "t.yml:1:1: error: a.servers: found nothing, allowed a list "
                   "of host:port:weight [name]\n"
                   "t.yml:1:1: warning: a.redis: left out, taken as true "
                   "(twemproxy takes it as false, which is memcached)\n");
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("secret");

    tcase_add_test(tcase, password_may_stand_in_the_file_itself);
    tcase_add_test(tcase, password_from_a_file_loses_one_newline);
    tcase_add_test(tcase, password_from_a_file_is_not_empty_nor_endless);
    tcase_add_test(tcase, password_from_a_variable);
    tcase_add_test(tcase, missing_file_is_an_error);
    tcase_add_test(tcase, no_message_shows_a_password);
    return unit_run("config", tcase);
}
