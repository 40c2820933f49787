/*
 * test_dict.c - many names, found and forgotten.
 */
#include "unit.h"

#include <stdio.h>

#include "base/dict.h"
#include "base/mem.h"

#define MANY 1000

struct thing {
    struct dict_entry entry;
    char name[16];
    bool is_seen;
};

static void
add_all(struct dict *dict, struct thing *things)
{
    for (int i = 0; i < MANY; i++) {
        int len = snprintf(things[i].name, sizeof(things[i].name), "%d", i);
        things[i].entry.key = view_of(things[i].name, (size_t)len);
        dict_add(dict, &things[i].entry);
    }
}

START_TEST(an_empty_dict_has_nobody)
{
    struct dict dict = {0};

    ck_assert_ptr_null(dict_find(&dict, VIEW("")));
    ck_assert_ptr_null(dict_next(&dict, NULL));
}
END_TEST

START_TEST(each_is_found_by_its_name_until_it_is_removed)
{
    struct thing *things = mem_array(MANY, sizeof(*things));
    struct dict dict = {0};

    add_all(&dict, things);
    for (int i = 0; i < MANY; i++) {
        ck_assert_uint_eq(dict.count, (size_t)(MANY - i));
        ck_assert_ptr_eq(dict_find(&dict, things[i].entry.key),
                         &things[i].entry);
        dict_remove(&dict, &things[i].entry);
        ck_assert_ptr_null(dict_find(&dict, things[i].entry.key));
    }
    ck_assert_ptr_null(dict.buckets);
    mem_free(things);
}
END_TEST

START_TEST(names_are_bytes)
{
    struct thing empty = {.entry.key = VIEW("")};
    struct thing nul = {.entry.key = VIEW("\0")};
    struct thing long_one = {.entry.key = VIEW("01234567\0")};
    struct dict dict = {0};

    dict_add(&dict, &empty.entry);
    dict_add(&dict, &nul.entry);
    dict_add(&dict, &long_one.entry);
    ck_assert_ptr_eq(dict_find(&dict, VIEW("")), &empty.entry);
    ck_assert_ptr_eq(dict_find(&dict, VIEW("\0")), &nul.entry);
    ck_assert_ptr_null(dict_find(&dict, VIEW("01234567")));
    dict_remove(&dict, &empty.entry);
    dict_remove(&dict, &nul.entry);
    dict_remove(&dict, &long_one.entry);
}
END_TEST

START_TEST(going_through_meets_each_once_even_if_it_is_removed)
{
    struct thing *things = mem_array(MANY, sizeof(*things));
    struct dict dict = {0};
    size_t count = 0;

    add_all(&dict, things);
    struct dict_entry *entry = dict_next(&dict, NULL);
    while (entry != NULL) {
        struct thing *thing = CONTAINER_OF(entry, struct thing, entry);
        entry = dict_next(&dict, entry);
        ck_assert(!thing->is_seen);
        thing->is_seen = true;
        dict_remove(&dict, &thing->entry);
        count++;
    }
    ck_assert_uint_eq(count, MANY);
    ck_assert_uint_eq(dict.count, 0);
    mem_free(things);
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("dict");

    tcase_add_test(tests, an_empty_dict_has_nobody);
    tcase_add_test(tests, each_is_found_by_its_name_until_it_is_removed);
    tcase_add_test(tests, names_are_bytes);
    tcase_add_test(tests,
                   going_through_meets_each_once_even_if_it_is_removed);
    return unit_run("base", tests);
}
