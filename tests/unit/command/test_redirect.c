/*
 * test_redirect.c - where redirects point to.
 */
#include "guard.h"
#include "unit.h"

#include "command/redirect.h"

static struct redirect redirect;

static bool
parse(const char *line)
{
    return redirect_parse(&redirect, view_str(line));
}

START_TEST(redirect_has_slot_host_and_port)
{
    ck_assert(parse("-MOVED 12182 127.0.0.1:7103\r\n"));
    ck_assert_uint_eq(redirect.slot, 12182);
    ck_assert(view_equal(redirect.host, VIEW("127.0.0.1")));
    ck_assert_uint_eq(redirect.port, 7103);
    ck_assert(parse("-ASK 0 node-3.example:1"));
    ck_assert_uint_eq(redirect.slot, 0);
    ck_assert(view_equal(redirect.host, VIEW("node-3.example")));
    ck_assert_uint_eq(redirect.port, 1);
}
END_TEST

START_TEST(redirect_port_stands_behind_the_last_colon)
{
    ck_assert(parse("-MOVED 1 2001:db8::7:6379\r\n"));
    ck_assert(view_equal(redirect.host, VIEW("2001:db8::7")));
    ck_assert_uint_eq(redirect.port, 6379);
}
END_TEST

START_TEST(redirect_host_may_be_empty_or_unknown)
{
    ck_assert(parse("-MOVED 12182 :7103\r\n"));
    ck_assert_uint_eq(redirect.host.len, 0);
    ck_assert(parse("-MOVED 12182 ?:7103\r\n"));
    ck_assert(view_equal(redirect.host, VIEW("?")));
}
END_TEST

START_TEST(redirect_refuses_what_only_looks_like_one)
{
    static const char *const lines[] = {
        "", "-", "-MOVED", "-MOVED ", "-MOVED 1", "-MOVED 1 ", "-MOVED 1 a",
        "-MOVED 1 a:", "-MOVED 1 a:0", "-MOVED 1 a:65536", "-MOVED 1 a:7x",
        "-MOVED 16384 a:1", "-MOVED -1 a:1", "-MOVED x a:1",
        "-MOVED  1 a:1", "-MOVED 1 a:1 b", "-moved 1 a:1", "+MOVED 1 a:1",
        "-MOVEDX 1 a:1", "-ASKING 1 a:1",
    };

    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        ck_assert_msg(!parse(lines[i]), "%s", lines[i]);
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("redirect");

    tcase_add_test(tests, redirect_has_slot_host_and_port);
    tcase_add_test(tests, redirect_port_stands_behind_the_last_colon);
    tcase_add_test(tests, redirect_host_may_be_empty_or_unknown);
    tcase_add_test(tests, redirect_refuses_what_only_looks_like_one);
    return unit_run("command", tests);
}
