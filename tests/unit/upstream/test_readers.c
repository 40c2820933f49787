/*
 * tests/unit/upstream/test_readers.c - ranks, shares, and who is passed over.
 */
#include "upstream/readers.h"

#include "unit.h"

#define SERVERS 8

/* Shards 0 and 1; 2, 3, 4 replicate 0, 5 replicates 1. */
static struct roster *
two_shards(void)
{
    static const uint32_t primaries[] = {0, 1, 0, 0, 0, 1};
    struct roster *roster = roster_new(ARRAY_LEN(primaries), 2);

    for (uint32_t i = 0; i < roster->count; i++) {
        roster->entries[i].primary = primaries[i];
        roster->entries[i].is_usable = true;
    }
    return roster;
}

static bool
is_ok(uint32_t server, const void *arg)
{
    const bool *down = arg;

    return !down[server];
}

static int
choose(const struct readers *readers, uint32_t shard, uint32_t session,
       const bool *down)
{
    const struct reader *reader =
        readers_choose(readers, shard, session, is_ok, down);

    return reader == NULL ? -1 : (int)reader->server;
}

START_TEST(nobody_is_ranked_when_primaries_are_read_from)
{
    struct roster *roster = two_shards();

    ck_assert_ptr_null(readers_new(roster, READ_FROM_PRIMARY));
    roster_unref(&roster);
}
END_TEST

START_TEST(sessions_are_spread_over_the_replicas_of_a_shard)
{
    const bool down[SERVERS] = {false};
    struct roster *roster = two_shards();
    struct readers *readers = readers_new(roster, READ_FROM_REPLICA);
    int taken[SERVERS] = {0};

    for (uint32_t session = 0; session < 30; session++) {
        int server = choose(readers, 0, session, down);
        ck_assert_int_eq(server, choose(readers, 0, session, down));
        taken[server]++;
        ck_assert_int_eq(choose(readers, 1, session, down), 5);
    }
    for (int server = 2; server <= 4; server++)
        ck_assert_int_eq(taken[server], 10);
    readers_free(&readers);
    roster_unref(&roster);
}
END_TEST

START_TEST(those_who_are_well_take_over_from_those_who_are_not)
{
    bool down[SERVERS] = {[3] = true};
    struct roster *roster = two_shards();
    struct readers *readers = readers_new(roster, READ_FROM_PREFER_REPLICA);

    for (uint32_t session = 0; session < 6; session++) {
        int server = choose(readers, 0, session, down);
        ck_assert(server == 2 || server == 4);
    }
    down[2] = down[4] = true;
    ck_assert_int_eq(choose(readers, 0, 7, down), 0);
    ck_assert_int_eq(readers_choose(readers, 0, 7, is_ok, down)->rank,
                     READER_PRIMARY);
    down[0] = true;
    ck_assert_int_eq(choose(readers, 0, 7, down), -1);
    ck_assert_int_eq(choose(readers, 1, 7, down), 5);
    readers_free(&readers);
    roster_unref(&roster);
}
END_TEST

START_TEST(replica_that_is_not_usable_is_left_out)
{
    const bool down[SERVERS] = {false};
    struct roster *roster = two_shards();

    roster->entries[2].is_usable = false;
    roster->entries[5].is_usable = false;
    struct readers *readers = readers_new(roster, READ_FROM_REPLICA);
    for (uint32_t session = 0; session < 6; session++) {
        ck_assert_int_ne(choose(readers, 0, session, down), 2);
        ck_assert_int_eq(choose(readers, 1, session, down), 1);
    }
    readers_free(&readers);
    roster_unref(&roster);
}
END_TEST

START_TEST(empty_roster_has_no_readers)
{
    struct roster *roster = roster_new(0, 0);
    struct readers *readers = readers_new(roster, READ_FROM_REPLICA);

    ck_assert_ptr_nonnull(readers);
    readers_free(&readers);
    roster_unref(&roster);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("readers");

    tcase_add_test(tcase, nobody_is_ranked_when_primaries_are_read_from);
    tcase_add_test(tcase, sessions_are_spread_over_the_replicas_of_a_shard);
    tcase_add_test(tcase, those_who_are_well_take_over_from_those_who_are_not);
    tcase_add_test(tcase, replica_that_is_not_usable_is_left_out);
    tcase_add_test(tcase, empty_roster_has_no_readers);
    return unit_run("readers", tcase);
}
