/*
 * tests/unit/daemon/test_epochs.c - epochs that outlive the process.
 */
#include "daemon/epochs.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "unit.h"

#define TEXT_MAX 256

/* A folder of its own, and a file in it that is not there yet. */
static char *
new_path(void)
{
    char folder[] = "/tmp/epochs-XXXXXX";

    ck_assert_ptr_nonnull(mkdtemp(folder));
    return mem_printf("%s/file", folder);
}

static void
remove_path(char **pathp)
{
    char *path = *pathp;

    unlink(path);
    *strrchr(path, '/') = '\0';
    ck_assert_int_eq(rmdir(path), 0); /* nothing else was left there */
    mem_free(path);
    *pathp = NULL;
}

static void
write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static void
expect_file(const char *path, const char *text)
{
    char found[TEXT_MAX] = "";
    FILE *file = fopen(path, "r");

    ck_assert_ptr_nonnull(file);
    size_t len = fread(found, 1, sizeof(found) - 1, file);
    found[len] = '\0';
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_str_eq(found, text);
}

static struct epochs *
open_epochs(const char *path)
{
    struct error error;
    struct epochs *epochs = epochs_new(path, &error);

    ck_assert_ptr_nonnull(epochs);
    return epochs;
}

START_TEST(epochs_outlive_the_process)
{
    char *path = new_path();
    struct epochs *epochs = open_epochs(path);

    ck_assert_uint_eq(epochs_find(epochs, "pool", "m1"), 0);
    epochs_raise(epochs, "pool", "m1", 7);
    epochs_raise(epochs, "other pool", "m1", 3);
    expect_file(path, "7 m1 pool\n3 m1 other pool\n");
    epochs_free(&epochs);

    epochs = open_epochs(path);
    ck_assert_uint_eq(epochs_find(epochs, "pool", "m1"), 7);
    ck_assert_uint_eq(epochs_find(epochs, "other pool", "m1"), 3);
    ck_assert_uint_eq(epochs_find(epochs, "pool", "m2"), 0);
    epochs_free(&epochs);
    remove_path(&path);
}
END_TEST

START_TEST(epoch_never_falls)
{
    char *path = new_path();
    struct epochs *epochs = open_epochs(path);

    epochs_raise(epochs, "pool", "m1", 7);
    epochs_raise(epochs, "pool", "m1", 6);
    ck_assert_uint_eq(epochs_find(epochs, "pool", "m1"), 7);
    epochs_raise(epochs, "pool", "m1", UINT64_MAX);
    expect_file(path, "18446744073709551615 m1 pool\n");
    epochs_free(&epochs);
    remove_path(&path);
}
END_TEST

START_TEST(highest_of_several_lines_counts)
{
    char *path = new_path();
    write_file(path, "5 m1 pool\n\n9 m1 pool\n2 m1 pool");
    struct epochs *epochs = open_epochs(path);

    ck_assert_uint_eq(epochs_find(epochs, "pool", "m1"), 9);
    epochs_free(&epochs);
    remove_path(&path);
}
END_TEST

static const struct {
    const char *text;
    const char *why;
} bad[] = {
    {"7\n", "line 1 is not EPOCH MASTER POOL"},
    {"7 m1\n", "line 1 is not EPOCH MASTER POOL"},
    {"7 m1 pool\nm1 7 pool\n", "line 2 is not EPOCH MASTER POOL"},
    {"-1 m1 pool\n", "line 1 is not EPOCH MASTER POOL"},
    {"7  pool\n", "line 1 is not EPOCH MASTER POOL"},
    {"18446744073709551616 m1 pool\n", "line 1 is not EPOCH MASTER POOL"},
};

/* To begin without them could believe an old primary. */
START_TEST(file_of_something_else_is_not_begun_with)
{
    char *path = new_path();
    struct error error;

    write_file(path, bad[_i].text);
    ck_assert_ptr_null(epochs_new(path, &error));
    ck_assert_ptr_nonnull(strstr(error.text, bad[_i].why));
    ck_assert_ptr_nonnull(strstr(error.text, path));
    expect_file(path, bad[_i].text);
    remove_path(&path);
}
END_TEST

START_TEST(what_cannot_be_written_is_kept_in_memory)
{
    struct epochs *epochs = open_epochs("/nowhere/at/all");

    epochs_raise(epochs, "pool", "m1", 7);
    ck_assert_uint_eq(epochs_find(epochs, "pool", "m1"), 7);
    epochs_free(&epochs);
}
END_TEST

START_TEST(file_moves_with_the_setting)
{
    char *path = new_path();
    char *next = new_path();
    struct epochs *epochs = open_epochs(NULL);

    epochs_raise(epochs, "pool", "m1", 7);
    epochs_set_path(epochs, path);
    expect_file(path, "7 m1 pool\n");
    epochs_set_path(epochs, next);
    epochs_raise(epochs, "pool", "m1", 8);
    expect_file(path, "7 m1 pool\n");
    expect_file(next, "8 m1 pool\n");
    epochs_set_path(epochs, NULL);
    epochs_raise(epochs, "pool", "m1", 9);
    expect_file(next, "8 m1 pool\n");
    epochs_free(&epochs);
    remove_path(&path);
    remove_path(&next);
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("epochs");

    tcase_add_test(tests, epochs_outlive_the_process);
    tcase_add_test(tests, epoch_never_falls);
    tcase_add_test(tests, highest_of_several_lines_counts);
    tcase_add_loop_test(tests, file_of_something_else_is_not_begun_with, 0,
                        ARRAY_LEN(bad));
    tcase_add_test(tests, what_cannot_be_written_is_kept_in_memory);
    tcase_add_test(tests, file_moves_with_the_setting);
    return unit_run("daemon", tests);
}
