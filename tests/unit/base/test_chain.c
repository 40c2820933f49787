/*
 * test_chain.c - queues of extents, against a plain string as the model.
 */
#include "unit.h"

#include "base/chain.h"
#include "base/mem.h"

static struct chunk_pool pool;

static void
set_up(void)
{
    chunk_pool_init(&pool);
}

/* Also the claim of every test: no chunk is left with a holder. */
static void
tear_down(void)
{
    chunk_pool_fini(&pool);
    ck_assert_uint_eq(pool.live_bytes, 0);
}

/* Append a copy of text in a chunk of its own: an extent of its own. */
static void
push_apart(struct chain *chain, const char *text)
{
    struct chunk *chunk = chunk_new_exact(&pool, strlen(text));

    memcpy(chunk->data, text, strlen(text));
    chunk->fill = (uint32_t)strlen(text);
    chain_push(chain, chunk, 0, chunk->fill);
    chunk_unref(&chunk);
}

static void
expect_text(const struct chain *chain, const char *text)
{
    size_t len = strlen(text);
    char *copy = mem_alloc(len + 1);

    ck_assert_uint_eq(chain->bytes, len);
    chain_peek(chain, copy, len);
    copy[len] = '\0';
    ck_assert_str_eq(copy, text);
    mem_free(copy);
}

START_TEST(chain_zeroed_is_empty)
{
    struct chain chain = {0};

    ck_assert(chain_is_empty(&chain));
    chain_drop(&chain, 0);
    chain_clear(&chain);
    chain_peek(&chain, NULL, 0);
    ck_assert(chain_is_empty(&chain));
}
END_TEST

START_TEST(chain_joins_ranges_that_touch)
{
    struct chain chain = {0};
    struct chunk *chunk = chunk_new(&pool);

    memcpy(chunk->data, "abcdef", 6);
    chunk->fill = 6;
    chain_push(&chain, chunk, 0, 2);
    chain_push(&chain, chunk, 2, 3);
    ck_assert_uint_eq(chain.count, 1);
    ck_assert_uint_eq(chunk->refs, 2);
    chain_push(&chain, chunk, 0, 1);
    ck_assert_uint_eq(chain.count, 2);
    ck_assert_uint_eq(chunk->refs, 3);
    expect_text(&chain, "abcdea");
    chain_clear(&chain);
    ck_assert_uint_eq(chunk->refs, 1);
    chunk_unref(&chunk);
}
END_TEST

START_TEST(chain_ignores_an_empty_range)
{
    struct chain chain = {0};
    struct chunk *chunk = chunk_new(&pool);

    chain_push(&chain, chunk, 0, 0);
    chain_copy(&chain, &pool, NULL, 0);
    ck_assert(chain_is_empty(&chain));
    chain_push(&chain, chunk, 0, 4);
    chain_push(&chain, chunk, 9, 0);
    ck_assert_uint_eq(chain.count, 1);
    ck_assert_uint_eq(chunk->refs, 2);
    chain_clear(&chain);
    chunk_unref(&chunk);
}
END_TEST

START_TEST(chain_drop_may_end_inside_an_extent)
{
    struct chain chain = {0};

    push_apart(&chain, "abc");
    push_apart(&chain, "def");
    push_apart(&chain, "ghi");
    chain_drop(&chain, 1);
    expect_text(&chain, "bcdefghi");
    chain_drop(&chain, 2);
    expect_text(&chain, "defghi");
    chain_drop(&chain, 4);
    expect_text(&chain, "hi");
    ck_assert_uint_eq(chain.count, 1);
    chain_drop(&chain, 2);
    ck_assert(chain_is_empty(&chain));
    ck_assert_ptr_null(chain.ring);
}
END_TEST

/* Appends and drops of every mixture, so that the head goes round. */
START_TEST(chain_keeps_order_while_it_grows_and_goes_round)
{
    struct chain chain = {0};
    char text[12];
    unsigned added = 0, dropped = 0;

    for (unsigned turn = 1; turn < 60; turn++) {
        for (unsigned i = 0; i < turn % 23; i++) {
            snprintf(text, sizeof(text), "%04u", added++);
            push_apart(&chain, text);
        }
        for (unsigned i = 0; i < turn % 19 && dropped < added; i++) {
            snprintf(text, sizeof(text), "%04u", dropped++);
            char first[5] = {0};
            chain_peek(&chain, first, 4);
            ck_assert_str_eq(first, text);
            chain_drop(&chain, 4);
        }
        ck_assert_uint_eq(chain.count, added - dropped);
        ck_assert_uint_eq(chain.bytes, 4 * (size_t)(added - dropped));
    }
    chain_clear(&chain);
    ck_assert_ptr_null(chain.ring);
}
END_TEST

START_TEST(chain_take_moves_everything_and_leaves_nothing)
{
    /* Zero, few and many extents on either side. */
    static const unsigned counts[] = {0, 1, 2, 3, 40};

    for (size_t a = 0; a < ARRAY_LEN(counts); a++) {
        for (size_t b = 0; b < ARRAY_LEN(counts); b++) {
            struct chain to = {0}, from = {0};
            char expected[512] = "";

            for (unsigned i = 0; i < counts[a]; i++)
                push_apart(&to, "to ");
            for (unsigned i = 0; i < counts[b]; i++)
                push_apart(&from, "from ");
            for (unsigned i = 0; i < counts[a]; i++)
                memcpy(expected + strlen(expected), "to ", 4);
            for (unsigned i = 0; i < counts[b]; i++)
                memcpy(expected + strlen(expected), "from ", 6);
            chain_take(&to, &from);
            expect_text(&to, expected);
            ck_assert(chain_is_empty(&from));
            ck_assert_ptr_null(from.ring);
            chain_clear(&to);
        }
    }
}
END_TEST

START_TEST(chain_take_works_after_the_inline_head_has_moved)
{
    struct chain to = {0}, from = {0};

    push_apart(&from, "gone");
    push_apart(&from, "a");
    chain_drop(&from, 4);
    push_apart(&from, "b");
    chain_take(&to, &from);
    expect_text(&to, "ab");
    push_apart(&to, "c");
    expect_text(&to, "abc");
    chain_clear(&to);
}
END_TEST

/* Replies of two servers by turns: a long run of ranges that do not adjoin. */
START_TEST(chain_push_dense_copies_small_ranges_together)
{
    struct chain chain = {0};
    struct chunk *sources[2] = {chunk_new(&pool), chunk_new(&pool)};
    char model[3001] = "";

    for (uint32_t i = 0; i < 1000; i++) {
        struct chunk *source = sources[i % 2];
        snprintf(source->data + source->fill, 4, "%03u", i);
        chain_push_dense(&chain, source, source->fill, 3);
        source->fill += 3;
        snprintf(model + 3 * i, 4, "%03u", i);
    }
    expect_text(&chain, model);
    ck_assert_uint_le(chain.count, 6);
    /* The first is held as it came, the rest are copies. */
    ck_assert_uint_eq(sources[0]->refs, 2);
    ck_assert_uint_eq(sources[1]->refs, 1);
    chain_drop(&chain, 2000);
    chain_push_dense(&chain, sources[0], 0, 3);
    ck_assert_uint_eq(chain.bytes, 1003);
    chain_clear(&chain);
    chunk_unref(&sources[0]);
    chunk_unref(&sources[1]);
}
END_TEST

START_TEST(chain_push_dense_lets_long_and_adjoining_ranges_be)
{
    struct chain chain = {0};
    struct chunk *chunk = chunk_new(&pool), *other = chunk_new(&pool);

    memset(chunk->data, 'x', 3000);
    chunk->fill = 3000;
    memcpy(other->data, "abc", 3);
    other->fill = 3;
    chain_push_dense(&chain, chunk, 0, 10);
    chain_push_dense(&chain, chunk, 10, 10);
    ck_assert_uint_eq(chain.count, 1);
    ck_assert_uint_eq(chain_at(&chain, 0)->len, 20);
    chain_push_dense(&chain, chunk, 1000, CHAIN_COPIED + 1);
    ck_assert_uint_eq(chunk->refs, 3);
    chain_push_dense(&chain, other, 0, 3);
    ck_assert_uint_eq(other->refs, 1);
    ck_assert_uint_eq(chunk->refs, 3);
    chain_clear(&chain);
    chunk_unref(&chunk);
    chunk_unref(&other);
}
END_TEST

/* A chunk that somebody else holds is somebody else's to go on with. */
START_TEST(chain_push_dense_writes_into_no_chunk_of_others)
{
    struct chain chain = {0};
    struct chunk *held = chunk_new(&pool), *other = chunk_new(&pool);

    memcpy(held->data, "held", 4);
    held->fill = 4;
    memcpy(other->data, "other", 5);
    other->fill = 5;
    chain_push_dense(&chain, held, 0, 4);
    chain_push_dense(&chain, other, 0, 5);
    ck_assert_uint_eq(held->fill, 4);
    expect_text(&chain, "heldother");
    chain_clear(&chain);
    /* Held by the chain alone, it is the chain's. */
    chain_push_dense(&chain, held, 0, 4);
    chunk_unref(&held);
    chain_push_dense(&chain, other, 0, 5);
    ck_assert_uint_eq(chain.count, 1);
    expect_text(&chain, "heldother");
    chain_clear(&chain);
    chunk_unref(&other);
}
END_TEST

START_TEST(chain_copy_joins_what_is_written_in_a_row)
{
    struct chain chain = {0};

    chain_copy(&chain, &pool, "+OK\r\n", 5);
    chain_copy(&chain, &pool, ":1\r\n", 4);
    ck_assert_uint_eq(chain.count, 1);
    expect_text(&chain, "+OK\r\n:1\r\n");
    chain_clear(&chain);
}
END_TEST

START_TEST(chain_compact_frees_the_chunks_that_few_bytes_pinned)
{
    struct chain chain = {0};
    char expected[2001] = "";

    for (int i = 0; i < 100; i++) {
        struct chunk *chunk = chunk_new(&pool);
        memset(chunk->data, 'a' + i % 26, 20);
        chunk->fill = 20;
        chain_push(&chain, chunk, 0, 20);
        memset(expected + (size_t)i * 20, 'a' + i % 26, 20);
        chunk_unref(&chunk);
    }
    ck_assert_uint_eq(pool.live_bytes, 100 * CHUNK_SIZE);
    size_t cost = chain_compact(&chain, &pool);
    expect_text(&chain, expected);
    ck_assert_uint_eq(chain.count, 1);
    ck_assert_uint_eq(cost, pool.live_bytes);
    ck_assert_uint_lt(cost, 2100);
    chain_clear(&chain);
}
END_TEST

START_TEST(chain_compact_leaves_large_extents_where_they_are)
{
    struct chain chain = {0};
    struct chunk *large = chunk_new_exact(&pool, 50000);

    memset(large->data, 'L', 50000);
    large->fill = 50000;
    push_apart(&chain, "ab");
    push_apart(&chain, "cd");
    chain_push(&chain, large, 0, 50000);
    push_apart(&chain, "ef");
    size_t cost = chain_compact(&chain, &pool);
    ck_assert_uint_eq(chain.count, 3);
    ck_assert_ptr_eq(chain_at(&chain, 1)->chunk, large);
    ck_assert_uint_eq(chain.bytes, 50006);
    ck_assert_uint_eq(cost, pool.live_bytes);
    chain_drop(&chain, 2);
    char text[3] = {0};
    chain_peek(&chain, text, 2);
    ck_assert_str_eq(text, "cd");
    chain_clear(&chain);
    chunk_unref(&large);
}
END_TEST

START_TEST(chain_compact_cuts_long_runs_at_the_standard_size)
{
    struct chain chain = {0};
    char text[513];

    memset(text, 'x', 512);
    text[512] = '\0';
    for (int i = 0; i < 100; i++)
        push_apart(&chain, text);
    chain_compact(&chain, &pool);
    ck_assert_uint_eq(chain.bytes, 51200);
    for (uint32_t i = 0; i < chain.count; i++)
        ck_assert_uint_le(chain_at(&chain, i)->chunk->cap, CHUNK_CAP);
    ck_assert_uint_eq(chain.count, 4);
    chain_clear(&chain);
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("chain");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, chain_zeroed_is_empty);
    tcase_add_test(tests, chain_joins_ranges_that_touch);
    tcase_add_test(tests, chain_ignores_an_empty_range);
    tcase_add_test(tests, chain_drop_may_end_inside_an_extent);
    tcase_add_test(tests, chain_keeps_order_while_it_grows_and_goes_round);
    tcase_add_test(tests, chain_take_moves_everything_and_leaves_nothing);
    tcase_add_test(tests, chain_take_works_after_the_inline_head_has_moved);
    tcase_add_test(tests, chain_push_dense_copies_small_ranges_together);
    tcase_add_test(tests, chain_push_dense_lets_long_and_adjoining_ranges_be);
    tcase_add_test(tests, chain_push_dense_writes_into_no_chunk_of_others);
    tcase_add_test(tests, chain_copy_joins_what_is_written_in_a_row);
    tcase_add_test(tests, chain_compact_frees_the_chunks_that_few_bytes_pinned);
    tcase_add_test(tests, chain_compact_leaves_large_extents_where_they_are);
    tcase_add_test(tests, chain_compact_cuts_long_runs_at_the_standard_size);
    return unit_run("base", tests);
}
