/*
 * test_shebang.c - what the first line of a script says of it.
 */
#include "guard.h"
#include "unit.h"

#include "command/shebang.h"

static bool
only_reads(const char *body)
{
    struct guard guard = guard_copy(body, strlen(body));
    bool result =
        shebang_has_flag(view_of(guard.data, guard.len), VIEW("no-writes"));

    guard_free(&guard);
    return result;
}

START_TEST(a_flag_is_found_wherever_it_stands)
{
    ck_assert(only_reads("#!lua flags=no-writes\nreturn 1"));
    ck_assert(only_reads("#!lua flags=allow-stale,no-writes\n"));
    ck_assert(only_reads("#!lua name=x flags=no-writes,allow-oom"));
}
END_TEST

START_TEST(nothing_else_is_taken_for_it)
{
    ck_assert(!only_reads(""));
    ck_assert(!only_reads("#"));
    ck_assert(!only_reads("return 1"));
    ck_assert(!only_reads("#!lua\nflags=no-writes"));
    ck_assert(!only_reads(" #!lua flags=no-writes\n"));
    ck_assert(!only_reads("#!lua flags=\nno-writes"));
    ck_assert(!only_reads("#!lua flags=no-writesx\n"));
    ck_assert(!only_reads("#!lua no-writes\n"));
    ck_assert(!only_reads("#!lua flag=no-writes\n"));
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("shebang");

    tcase_add_test(tcase, a_flag_is_found_wherever_it_stands);
    tcase_add_test(tcase, nothing_else_is_taken_for_it);
    return unit_run("command", tcase);
}
