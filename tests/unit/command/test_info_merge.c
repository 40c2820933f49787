/*
 * test_info_merge.c - the INFO texts of several servers become one.
 */
#include "chains.h"

#include "command/info_merge.h"

#define MAX_SHARDS 3

static struct view own;

static void
set_up(void)
{
    chunk_pool_init(&pool);
    own = VIEW("");
}

static void
tear_down(void)
{
    chunk_pool_fini(&pool);
}

/* The bytes of each reply come in pieces of `step`. */
static bool
merge(const char *const *replies, size_t step, struct buf *out)
{
    struct chain chains[MAX_SHARDS] = {0};
    uint32_t count = 0;

    for (; count < MAX_SHARDS && replies[count] != NULL; count++)
        push_pieces(&chains[count], view_str(replies[count]), step, step);
    bool is_any = info_merge(chains, count, own, out);
    for (uint32_t i = 0; i < count; i++)
        chain_clear(&chains[i]);
    return is_any;
}

static void
expect_text(const char *const *replies, const char *expected)
{
    for (size_t step = 1; step < 200; step += 7) {
        struct buf out = {0};
        ck_assert(merge(replies, step, &out));
        expect_bytes(buf_view(&out), expected);
        buf_fini(&out);
    }
}

START_TEST(counts_are_added_and_states_are_not)
{
    const char *replies[MAX_SHARDS] = {
        "$1\r\n# Server\r\nredis_version:7.0.15\r\nprocess_id:7\r\n\r\n"
        "# Persistence\r\nloading:1\r\nrdb_changes_since_last_save:2\r\n"
        "rdb_last_bgsave_status:ok\r\n\r\n"
        "# Stats\r\nexpired_keys:3\r\nratio:0.5\r\n",
        "=1\r\ntxt:# Server\r\nredis_version:7.2.0\r\nprocess_id:8\r\n\r\n"
        "# Persistence\r\nloading:1\r\nrdb_changes_since_last_save:5\r\n"
        "rdb_last_bgsave_status:err\r\n\r\n"
        "# Stats\r\nexpired_keys:-1\r\nratio:0.7\r\n"};

    expect_text(replies,
                "# Server\r\nredis_version:7.0.15\r\nprocess_id:7\r\n\r\n"
                "# Persistence\r\nloading:1\r\n"
                "rdb_changes_since_last_save:7\r\n"
                "rdb_last_bgsave_status:ok\r\n\r\n"
                "# Stats\r\nexpired_keys:2\r\nratio:0.5\r\n");
}
END_TEST

START_TEST(what_is_our_own_stands_in_the_place_of_what_servers_say)
{
    const char *replies[MAX_SHARDS] = {
        "$1\r\n# Clients\r\nconnected_clients:1\r\nmaxclients:10000\r\n\r\n"
        "# Stats\r\nexpired_keys:3\r\n",
        "$1\r\n# Clients\r\nconnected_clients:1\r\nmaxclients:10000\r\n\r\n"
        "# Stats\r\nexpired_keys:3\r\n"};

    own = VIEW("# Clients\r\nconnected_clients:7\r\nblocked_clients:5\r\n\r\n"
               "# Stats\r\nexpired_keys:9\r\ntracking_total_keys:2\r\n\r\n"
               "# Other\r\nx:1\r\n");
    expect_text(replies,
                "# Clients\r\nconnected_clients:7\r\nmaxclients:20000\r\n"
                "blocked_clients:5\r\n\r\n"
                "# Stats\r\nexpired_keys:6\r\ntracking_total_keys:2\r\n");
}
END_TEST

START_TEST(what_only_some_have_keeps_to_its_section)
{
    const char *replies[MAX_SHARDS] = {
        "$1\r\n# Commandstats\r\ncmdstat_get:calls=1,usec=10,per=0.5\r\n"
        "\r\n# Keyspace\r\ndb0:keys=1,expires=0,avg_ttl=5\r\n",
        "-ERR no\r\n",
        "$1\r\n# Commandstats\r\ncmdstat_set:calls=2,usec=3,per=0.1\r\n"
        "cmdstat_get:calls=4,usec=5,per=0.9\r\n"
        "\r\n# Keyspace\r\ndb0:keys=2,expires=1,avg_ttl=3\r\n"
        "# New\r\nx:1\r\n"};

    expect_text(replies,
                "# Commandstats\r\ncmdstat_get:calls=5,usec=15,per=0.5\r\n"
                "cmdstat_set:calls=2,usec=3,per=0.1\r\n\r\n"
                "# Keyspace\r\ndb0:keys=3,expires=1,avg_ttl=5\r\n\r\n"
                "# New\r\nx:1\r\n");
}
END_TEST

START_TEST(what_is_no_text_counts_for_nothing)
{
    const char *errors[MAX_SHARDS] = {"-ERR no\r\n", ":1\r\n", ""};
    const char *odd[MAX_SHARDS] = {
        "$1\r\nbefore:1\r\n# Stats\r\n:\r\nno colon\r\na:=,,=\r\n",
        "$1\r\n# Stats\r\n:\r\na:b=1\r\n"};
    struct buf out = {0};

    ck_assert(!merge(errors, 1, &out));
    ck_assert_uint_eq(out.len, 0);
    ck_assert(merge(odd, 1, &out));
    ck_assert_uint_gt(out.len, 0);
    buf_fini(&out);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("info_merge");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, counts_are_added_and_states_are_not);
    tcase_add_test(tcase,
                   what_is_our_own_stands_in_the_place_of_what_servers_say);
    tcase_add_test(tcase, what_only_some_have_keeps_to_its_section);
    tcase_add_test(tcase, what_is_no_text_counts_for_nothing);
    return unit_run("command", tcase);
}
