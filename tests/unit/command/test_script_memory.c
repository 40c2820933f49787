/*
 * test_script_memory.c - which bodies of scripts are kept.
 */
#include "guard.h"
#include "unit.h"

#include "command/script_memory.h"

#define ROOM 1000 /* for a few of the bodies below */

static struct script_digest
digest_of(struct view body)
{
    struct script_digest digest;

    ck_assert(script_digest_of(body, &digest));
    return digest;
}

static bool
knows(struct script_memory *memory, struct view body)
{
    struct script_digest digest = digest_of(body);
    struct buf found = {0};

    bool is_known = script_memory_find(memory, &digest, &found);
    if (is_known)
        ck_assert(view_equal(buf_view(&found), body));
    ck_assert(script_memory_has(memory, &digest) == is_known);
    buf_fini(&found);
    return is_known;
}

static struct script_memory *
memory_of(size_t limit)
{
    struct script_memory *memory = script_memory_new();

    script_memory_set_limit(memory, limit);
    return memory;
}

START_TEST(a_digest_is_what_servers_say)
{
    const struct view sha =
        VIEW("e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
    struct script_digest digest = digest_of(VIEW("return 1"));
    struct script_digest parsed;
    char hex[SCRIPT_DIGEST_HEX];

    script_digest_write(&digest, hex);
    ck_assert(view_equal(view_of(hex, sizeof(hex)), sha));
    ck_assert(script_digest_parse(sha, &parsed));
    ck_assert(script_digest_equal(&digest, &parsed));
    ck_assert(script_digest_parse(
        VIEW("E0E1F9FABFC9D4800C877A703B823AC0578FF8DB"), &parsed));
    ck_assert(script_digest_equal(&digest, &parsed));
}
END_TEST

START_TEST(what_is_no_digest_is_not_taken_for_one)
{
    static const char *const texts[] = {
        "", "e0", "e0e1f9fabfc9d4800c877a703b823ac0578ff8d",
        "e0e1f9fabfc9d4800c877a703b823ac0578ff8db0",
        "g0e1f9fabfc9d4800c877a703b823ac0578ff8db",
        "e0e1f9fabfc9d4800c877a703b823ac0578ff8d/",
    };
    struct script_digest digest;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        size_t len = strlen(texts[i]);
        struct guard guard = guard_copy(texts[i], len);
        ck_assert(!script_digest_parse(view_of(guard.data, len), &digest));
        guard_free(&guard);
    }
}
END_TEST

START_TEST(a_script_that_was_seen_is_found)
{
    struct script_memory *memory = memory_of(ROOM);

    ck_assert(!knows(memory, VIEW("return 1")));
    ck_assert(script_memory_keep(memory, VIEW("return 1"), false));
    ck_assert(script_memory_keep(memory, VIEW("return 1"), false));
    ck_assert(knows(memory, VIEW("return 1")));
    ck_assert(!knows(memory, VIEW("return 2")));
    script_memory_free(&memory);
    ck_assert_ptr_null(memory);
}
END_TEST

START_TEST(one_that_is_larger_than_the_limit_is_not_kept)
{
    struct script_memory *memory = memory_of(ROOM);
    char body[ROOM + 1];

    memset(body, 'x', sizeof(body));
    ck_assert(script_memory_keep(memory, VIEW("return 1"), false));
    ck_assert(!script_memory_keep(memory, view_of(body, sizeof(body)), true));
    ck_assert(knows(memory, VIEW("return 1")));
    script_memory_set_limit(memory, 0);
    ck_assert(!knows(memory, VIEW("return 1")));
    ck_assert(!script_memory_keep(memory, VIEW("return 1"), false));
    script_memory_free(&memory);
}
END_TEST

/* So many that those which are not kept up have gone. */
static void
keep_many(struct script_memory *memory, bool is_loaded)
{
    char body[32];

    for (int i = 0; i < 100; i++) {
        int len = snprintf(body, sizeof(body), "return '%d%d'", is_loaded, i);
        ck_assert(
            script_memory_keep(memory, view_of(body, (size_t)len), is_loaded));
    }
}

START_TEST(those_used_least_lately_go_first)
{
    struct script_memory *memory = memory_of(ROOM);
    struct script_digest first = digest_of(VIEW("return 1"));
    struct script_digest second = digest_of(VIEW("return 2"));

    ck_assert(script_memory_keep(memory, VIEW("return 1"), false));
    ck_assert(script_memory_keep(memory, VIEW("return 2"), false));
    uint64_t losses = script_memory_losses(memory);
    for (char c = 'a'; c <= 'z'; c++) {
        if (!script_memory_has(memory, &second))
            break;
        script_memory_touch(memory, &first);
        ck_assert(script_memory_keep(memory, view_of(&c, 1), false));
    }
    ck_assert(!knows(memory, VIEW("return 2")));
    ck_assert(knows(memory, VIEW("return 1")));
    ck_assert_uint_eq(script_memory_losses(memory), losses + 1);
    script_memory_free(&memory);
}
END_TEST

START_TEST(loaded_scripts_go_last)
{
    struct script_memory *memory = memory_of(ROOM);

    ck_assert(script_memory_keep(memory, VIEW("return 1"), true));
    ck_assert(script_memory_keep(memory, VIEW("return 2"), false));
    ck_assert(script_memory_keep(memory, VIEW("return 2"), true));
    keep_many(memory, false);
    ck_assert(knows(memory, VIEW("return 1")));
    ck_assert(knows(memory, VIEW("return 2")));
    keep_many(memory, true);
    ck_assert(!knows(memory, VIEW("return 1")));
    ck_assert(!knows(memory, VIEW("return '099'")));
    ck_assert(knows(memory, VIEW("return '199'")));
    script_memory_free(&memory);
}
END_TEST

START_TEST(a_script_can_be_forgotten)
{
    struct script_memory *memory = memory_of(ROOM);
    struct script_digest digest = digest_of(VIEW("return 1"));

    script_memory_forget(memory, &digest);
    ck_assert(script_memory_keep(memory, VIEW("return 1"), true));
    ck_assert(script_memory_keep(memory, VIEW("return 2"), false));
    uint64_t losses = script_memory_losses(memory);
    script_memory_forget(memory, &digest);
    ck_assert_uint_eq(script_memory_losses(memory), losses + 1);
    ck_assert(!knows(memory, VIEW("return 1")));
    ck_assert(knows(memory, VIEW("return 2")));
    script_memory_clear(memory);
    ck_assert(!knows(memory, VIEW("return 2")));
    ck_assert_uint_eq(script_memory_losses(memory), losses + 2);
    script_memory_free(&memory);
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("script_memory");

    tcase_add_test(tests, a_digest_is_what_servers_say);
    tcase_add_test(tests, what_is_no_digest_is_not_taken_for_one);
    tcase_add_test(tests, a_script_that_was_seen_is_found);
    tcase_add_test(tests, one_that_is_larger_than_the_limit_is_not_kept);
    tcase_add_test(tests, those_used_least_lately_go_first);
    tcase_add_test(tests, loaded_scripts_go_last);
    tcase_add_test(tests, a_script_can_be_forgotten);
    return unit_run("command", tests);
}
