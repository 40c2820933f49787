/*
 * What the tests of the route room share: short ways to write a spec, and
 * memory that ends where it says.
 */
#ifndef ROUTE_TEST_H
#define ROUTE_TEST_H

#include <check.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "route/route_priv.h"

static inline struct route_shard_spec
shard(const char *name, uint32_t weight)
{
    return (struct route_shard_spec){.name = view_str(name),
                                     .weight = weight,
                                     .live = true};
}

static inline struct route *
make_route(const struct route_spec *spec)
{
    struct error error = {{0}};
    struct route *route = route_new(spec, &error);

    ck_assert_msg(route != NULL, "%s", error.text);
    return route;
}

/* The spec must be refused, with each of two words in the sentence. */
static inline void
expect_refused(const struct route_spec *spec, const char *word,
               const char *other_word)
{
    struct error error = {{0}};
    struct route *route = route_new(spec, &error);

    ck_assert_ptr_null(route);
    ck_assert_msg(strstr(error.text, word) != NULL, "no \"%s\" in: %s", word,
                  error.text);
    ck_assert_msg(strstr(error.text, other_word) != NULL, "no \"%s\" in: %s",
                  other_word, error.text);
}

static inline uint32_t
find(const struct route *route, const char *key)
{
    uint64_t dice = 0;

    return route_find(route, view_str(key), &dice);
}

/* A hash that is told by the key: its four bytes, as they stand. */
static inline uint32_t
hash_is_key(struct view key, bool unsigned_chars UNUSED)
{
    uint32_t hash;

    ck_assert_uint_eq(key.len, sizeof(hash));
    memcpy(&hash, key.data, sizeof(hash));
    return hash;
}

/* Where a key with this hash goes, on a route made with make_route(). */
static inline uint32_t
find_hash(struct route *route, uint32_t hash)
{
    uint64_t dice = 0;

    route->hash = hash_is_key;
    return route_find(route, view_of((const char *)&hash, sizeof(hash)), &dice);
}

#define GUARDED_SIZE ((size_t)65536)

/* The first byte behind GUARDED_SIZE writable ones; it is unreadable. */
static inline char *
guarded_end(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, GUARDED_SIZE + page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(memory, MAP_FAILED);
    ck_assert_int_eq(mprotect(memory + GUARDED_SIZE, page, PROT_NONE), 0);
    return memory + GUARDED_SIZE;
}

/* A copy that ends right before the unreadable page. */
static inline struct view
guarded(char *end, struct view bytes)
{
    char *start = end - bytes.len;

    ck_assert_uint_le(bytes.len, GUARDED_SIZE);
    if (bytes.len > 0)
        memcpy(start, bytes.data, bytes.len);
    return view_of(start, bytes.len);
}

static inline void
expect_explained(const struct route *route, struct view key,
                 const char *expected)
{
    struct buf out = {0};

    route_explain(route, key, &out);
    buf_append_char(&out, '\0');
    ck_assert_str_eq(out.data, expected);
    buf_fini(&out);
}

/* Run one suite with one case; the exit status of the program. */
static inline int
run_tests(const char *name, const TTest *const *tests, size_t count)
{
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);

    for (size_t i = 0; i < count; i++)
        tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
