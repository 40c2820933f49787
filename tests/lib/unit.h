/*
 * tests/lib/unit.h - the end of every unit test's main().
 *
 *   int
 *   main(void)
 *   {
 *       TCase *tests = tcase_create("view");
 *
 *       tcase_add_test(tests, view_compares_by_bytes);
 *       return unit_run("base", tests);
 *   }
 */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <check.h>
#include <stdlib.h>

/* Run the tests of one file; the exit status of the program. */
static inline int
unit_run(const char *room, TCase *tests)
{
    Suite *suite = suite_create(room);
    suite_add_tcase(suite, tests);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
