/*
 * test_chunk.c - chunks, and what their pool keeps and gives back.
 */
#include "unit.h"

#include "base/chunk.h"

static struct chunk_pool pool;

static void
set_up(void)
{
    chunk_pool_init(&pool);
}

/* Also the claim of every test: nothing is left. */
static void
tear_down(void)
{
    chunk_pool_fini(&pool);
    ck_assert_uint_eq(pool.live_bytes, 0);
    ck_assert_ptr_null(pool.shelves[CHUNK_STANDARD].first);
}

START_TEST(chunk_lives_until_its_last_holder_lets_go)
{
    struct chunk *chunk = chunk_new(&pool);
    struct chunk *other = chunk_ref(chunk);

    chunk_unref(&chunk);
    ck_assert_ptr_null(chunk);
    ck_assert_uint_eq(pool.live_bytes, CHUNK_SIZE);
    chunk_unref(&other);
    ck_assert_uint_eq(pool.live_bytes, 0);
    chunk_unref(&other);
}
END_TEST

START_TEST(chunk_standard_has_the_standard_size)
{
    struct chunk *chunk = chunk_new(&pool);

    ck_assert_uint_eq(chunk->cap, CHUNK_CAP);
    ck_assert_uint_eq(chunk_room(chunk), CHUNK_CAP);
    ck_assert_uint_eq(chunk_cost(chunk), CHUNK_SIZE);
    chunk_unref(&chunk);
}
END_TEST

START_TEST(chunk_sized_is_standard_when_that_is_enough)
{
    struct chunk *small = chunk_new_sized(&pool, 1);
    struct chunk *full = chunk_new_sized(&pool, CHUNK_CAP);
    struct chunk *large = chunk_new_sized(&pool, CHUNK_CAP + 1);
    struct chunk *exact = chunk_new_exact(&pool, 20);

    ck_assert_uint_eq(small->cap, CHUNK_CAP);
    ck_assert_uint_eq(full->cap, CHUNK_CAP);
    ck_assert_uint_eq(large->cap, CHUNK_CAP + 1);
    ck_assert_uint_eq(exact->cap, 20);
    chunk_unref(&small);
    chunk_unref(&full);
    chunk_unref(&large);
    chunk_unref(&exact);
    ck_assert_uint_eq(pool.shelves[CHUNK_STANDARD].count, 2);
}
END_TEST

START_TEST(pool_reuses_a_free_chunk_clean)
{
    struct chunk *chunk = chunk_new(&pool);
    struct chunk *before = chunk;

    chunk->fill = 100;
    chunk_unref(&chunk);
    chunk = chunk_new(&pool);
    ck_assert_ptr_eq(chunk, before);
    ck_assert_uint_eq(chunk->fill, 0);
    ck_assert_uint_eq(chunk->refs, 1);
    ck_assert_uint_eq(pool.shelves[CHUNK_STANDARD].count, 0);
    chunk_unref(&chunk);
}
END_TEST

START_TEST(pool_keeps_a_bounded_number_of_free_chunks)
{
    struct chunk *chunks[CHUNK_KEEP * 2];

    for (size_t i = 0; i < ARRAY_LEN(chunks); i++)
        chunks[i] = chunk_new(&pool);
    ck_assert_uint_eq(pool.live_bytes, ARRAY_LEN(chunks) * CHUNK_SIZE);
    for (size_t i = 0; i < ARRAY_LEN(chunks); i++)
        chunk_unref(&chunks[i]);
    ck_assert_uint_eq(pool.shelves[CHUNK_STANDARD].count, CHUNK_KEEP);
    ck_assert_uint_eq(pool.live_bytes, 0);
}
END_TEST

START_TEST(pool_keeps_large_chunks_too_but_none_of_an_odd_size)
{
    struct chunk *large = chunk_new_sized(&pool, CHUNK_LARGE / 8 * 7);
    struct chunk *odd = chunk_new_sized(&pool, CHUNK_LARGE);

    ck_assert_uint_eq(large->cap, CHUNK_LARGE_CAP);
    ck_assert_uint_ge(odd->cap, CHUNK_LARGE);
    chunk_unref(&large);
    chunk_unref(&odd);
    ck_assert_uint_eq(pool.shelves[CHUNK_BIG].count, 1);
    ck_assert_uint_eq(pool.shelves[CHUNK_ODD].count, 0);
    large = chunk_new_sized(&pool, CHUNK_LARGE_CAP);
    ck_assert_uint_eq(pool.shelves[CHUNK_BIG].count, 0);
    chunk_unref(&large);
}
END_TEST

START_TEST(pool_trim_frees_what_was_not_needed_since_the_last)
{
    struct chunk *chunks[4];

    for (size_t i = 0; i < ARRAY_LEN(chunks); i++)
        chunks[i] = chunk_new(&pool);
    for (size_t i = 0; i < ARRAY_LEN(chunks); i++)
        chunk_unref(&chunks[i]);
    chunk_pool_trim(&pool); /* all four were in use */
    ck_assert_uint_eq(pool.shelves[CHUNK_STANDARD].count, 4);
    chunks[0] = chunk_new(&pool);
    chunk_unref(&chunks[0]);
    chunk_pool_trim(&pool);
    ck_assert_uint_eq(pool.shelves[CHUNK_STANDARD].count, 1);
    chunk_pool_trim(&pool);
    ck_assert_uint_eq(pool.shelves[CHUNK_STANDARD].count, 0);
}
END_TEST

START_TEST(pool_input_is_shared_until_it_is_too_full)
{
    struct chunk *first = chunk_ref(chunk_pool_input(&pool, 100));

    first->fill = CHUNK_CAP - 100;
    ck_assert_ptr_eq(chunk_pool_input(&pool, 100), first);
    struct chunk *next = chunk_pool_input(&pool, 101);
    ck_assert_ptr_ne(next, first);
    ck_assert_uint_eq(next->fill, 0);
    ck_assert_uint_eq(first->fill, CHUNK_CAP - 100);
    chunk_unref(&first);
}
END_TEST

START_TEST(pool_input_is_rewound_when_nobody_holds_it)
{
    struct chunk *first = chunk_pool_input(&pool, 1);

    first->fill = CHUNK_CAP;
    ck_assert_ptr_eq(chunk_pool_input(&pool, CHUNK_CAP), first);
    ck_assert_uint_eq(first->fill, 0);
}
END_TEST

START_TEST(pool_write_puts_small_things_behind_one_another)
{
    uint32_t a, b;
    struct chunk *chunk = chunk_ref(chunk_pool_write(&pool, "abc", 3, &a));
    struct chunk *same = chunk_pool_write(&pool, "de", 2, &b);

    ck_assert_ptr_eq(same, chunk);
    ck_assert_uint_eq(b, a + 3);
    ck_assert_mem_eq(chunk->data + a, "abcde", 5);
    chunk_unref(&chunk);
}
END_TEST

START_TEST(pool_write_gives_large_things_a_chunk_of_their_own)
{
    static char large[100000];
    uint32_t off;

    memset(large, 'x', sizeof(large));
    struct chunk *chunk = chunk_pool_write(&pool, large, sizeof(large), &off);
    ck_assert_uint_eq(off, 0);
    ck_assert_uint_eq(chunk->cap, sizeof(large));
    ck_assert_mem_eq(chunk->data, large, sizeof(large));
}
END_TEST

START_TEST(pool_write_never_puts_small_things_into_a_large_chunk)
{
    static char large[100000];
    uint32_t off;

    ck_assert_ptr_nonnull(chunk_pool_write(&pool, large, sizeof(large), &off));
    struct chunk *small = chunk_pool_write(&pool, "abc", 3, &off);
    ck_assert_uint_eq(small->cap, CHUNK_CAP);
    ck_assert_uint_eq(pool.live_bytes, CHUNK_SIZE);
}
END_TEST

START_TEST(pool_trim_lets_go_of_shared_chunks_that_nobody_holds)
{
    uint32_t off;
    struct chunk *held = chunk_ref(chunk_pool_write(&pool, "abc", 3, &off));

    ck_assert_ptr_nonnull(chunk_pool_input(&pool, 1));
    chunk_pool_trim(&pool);
    ck_assert_ptr_null(pool.input);
    ck_assert_ptr_eq(pool.output, held);
    ck_assert_mem_eq(held->data + off, "abc", 3);
    chunk_unref(&held);
    chunk_pool_trim(&pool);
    chunk_pool_trim(&pool);
    ck_assert_uint_eq(pool.live_bytes, 0);
    ck_assert_ptr_null(pool.shelves[CHUNK_STANDARD].first);
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("chunk");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, chunk_lives_until_its_last_holder_lets_go);
    tcase_add_test(tests, chunk_standard_has_the_standard_size);
    tcase_add_test(tests, chunk_sized_is_standard_when_that_is_enough);
    tcase_add_test(tests, pool_reuses_a_free_chunk_clean);
    tcase_add_test(tests, pool_keeps_a_bounded_number_of_free_chunks);
    tcase_add_test(tests, pool_keeps_large_chunks_too_but_none_of_an_odd_size);
    tcase_add_test(tests,
                   pool_trim_frees_what_was_not_needed_since_the_last);
    tcase_add_test(tests, pool_input_is_shared_until_it_is_too_full);
    tcase_add_test(tests, pool_input_is_rewound_when_nobody_holds_it);
    tcase_add_test(tests, pool_write_puts_small_things_behind_one_another);
    tcase_add_test(tests, pool_write_gives_large_things_a_chunk_of_their_own);
    tcase_add_test(tests,
                   pool_write_never_puts_small_things_into_a_large_chunk);
    tcase_add_test(tests, pool_trim_lets_go_of_shared_chunks_that_nobody_holds);
    return unit_run("base", tests);
}
