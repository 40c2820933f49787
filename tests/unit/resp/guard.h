/*
 * tests/unit/resp/guard.h - bytes that end at an unreadable page.
 *
 * Reading one byte too far is then a crash, with any compiler.  There are two
 * places, so that bytes can be moved between two calls of a scanner.
 */
#ifndef TESTS_RESP_GUARD_H
#define TESTS_RESP_GUARD_H

#include <check.h>
#include <sys/mman.h>

#include "base/view.h"

#define GUARD_SIZE (256 * 1024)
#define GUARD_PAGE 65536

/* A copy of the bytes that ends where nothing may be read. */
static inline const char *
guard_copy(int place, struct view bytes)
{
    static char *ends[2];
    char *start;

    if (ends[place] == NULL) {
        start = mmap(NULL, GUARD_SIZE + GUARD_PAGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ck_assert_ptr_ne(start, MAP_FAILED);
        ends[place] = start + GUARD_SIZE;
        ck_assert_int_eq(mprotect(ends[place], GUARD_PAGE, PROT_NONE), 0);
    }
    ck_assert_uint_le(bytes.len, GUARD_SIZE);
    if (bytes.len > 0)
        memcpy(ends[place] - bytes.len, bytes.data, bytes.len);
    return ends[place] - bytes.len;
}

/* Run the tests of one file; for `return` in main(). */
static inline int
run_tests(const char *name, const TTest *const *tests, size_t count)
{
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);
    SRunner *runner = srunner_create(suite);
    int failed;

    for (size_t i = 0; i < count; i++)
        tcase_add_test(tcase, tests[i]);
    tcase_set_timeout(tcase, 60);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}

#endif
