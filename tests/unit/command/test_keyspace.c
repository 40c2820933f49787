/*
 * test_keyspace.c - the keys of all shards are added up by database.
 */
#include "chains.h"

#include "command/keyspace.h"

#define MAX_SHARDS 3

static void
set_up(void)
{
    chunk_pool_init(&pool);
}

static void
tear_down(void)
{
    chunk_pool_fini(&pool);
}

static void
merge_cut(const char *const *replies, size_t cut, size_t step,
          const char *expected)
{
    struct chain chains[MAX_SHARDS] = {0};
    struct buf out = {0};
    uint32_t count = 0;

    for (; count < MAX_SHARDS && replies[count] != NULL; count++)
        push_pieces(&chains[count], view_str(replies[count]), cut, step);
    keyspace_merge(chains, count, &out);
    expect_bytes(buf_view(&out), expected);
    buf_fini(&out);
    for (uint32_t i = 0; i < count; i++)
        chain_clear(&chains[i]);
}

/* Whole, cut at each position, and byte by byte. */
static void
expect_lines(const char *const *replies, const char *expected)
{
    for (size_t cut = 0; cut <= strlen(replies[0]); cut++)
        merge_cut(replies, cut, SIZE_MAX / 2, expected);
    merge_cut(replies, 1, 1, expected);
}

START_TEST(databases_are_added_in_their_order)
{
    const char *replies[MAX_SHARDS] = {
        "$70\r\n# Keyspace\r\ndb0:keys=3,expires=1,avg_ttl=1000\r\n"
        "db11:keys=1,expires=0,avg_ttl=0\r\n\r\n",
        "=80\r\ntxt:# Keyspace\r\ndb0:keys=2,expires=3,avg_ttl=3000,"
        "subexpiry=0\r\ndb2:keys=5,expires=0,avg_ttl=0\r\n\r\n",
        "$12\r\n# Keyspace\r\n\r\n"};

    expect_lines(replies,
                 "db0:keys=5,expires=4,avg_ttl=2500\r\n"
                 "db2:keys=5,expires=0,avg_ttl=0\r\n"
                 "db11:keys=1,expires=0,avg_ttl=0\r\n");
}
END_TEST

START_TEST(what_is_no_such_line_counts_for_nothing)
{
    const char *replies[MAX_SHARDS] = {
        "-ERR db0:keys=9,expires=0,avg_ttl=0\r\n",
        "$0\r\ndb0:keys=,\r\ndb1\r\ndb2:keys=1,expires=\r\n"
        "adb0:keys=7,expires=0,avg_ttl=0\r\n"};

    expect_lines(replies, "");
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("keyspace");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, databases_are_added_in_their_order);
    tcase_add_test(tcase, what_is_no_such_line_counts_for_nothing);
    return unit_run("command", tcase);
}
