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

static struct readers *
make(const struct roster *roster, enum read_from read_from)
{
    static char zone[] = "z1";
    struct pool_settings settings = {.read_from = read_from, .zone = zone};

    return readers_new(roster, &settings);
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

    ck_assert_ptr_null(make(roster, READ_FROM_PRIMARY));
    roster_unref(&roster);
}
END_TEST

START_TEST(sessions_are_spread_over_the_replicas_of_a_shard)
{
    const bool down[SERVERS] = {false};
    struct roster *roster = two_shards();
    struct readers *readers = make(roster, READ_FROM_REPLICA);
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
    struct readers *readers = make(roster, READ_FROM_PREFER_REPLICA);

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
    struct readers *readers = make(roster, READ_FROM_REPLICA);
    for (uint32_t session = 0; session < 6; session++) {
        ck_assert_int_ne(choose(readers, 0, session, down), 2);
        ck_assert_int_eq(choose(readers, 1, session, down), 1);
    }
    readers_free(&readers);
    roster_unref(&roster);
}
END_TEST

START_TEST(replica_that_is_cut_off_stands_in_for_its_primary)
{
    bool down[SERVERS] = {false};
    struct roster *roster = two_shards();

    roster->entries[5].is_usable = false;
    roster->entries[5].is_cut = true;
    struct readers *readers = make(roster, READ_FROM_REPLICA);
    ck_assert_int_eq(choose(readers, 1, 0, down), 1);
    down[1] = true;
    ck_assert_int_eq(choose(readers, 1, 0, down), 5);
    readers_free(&readers);
    roster_unref(&roster);
}
END_TEST

START_TEST(nearest_are_those_who_are_near_primary_or_not)
{
    bool down[SERVERS] = {false};
    struct roster *roster = two_shards();
    int taken[SERVERS] = {0};

    roster->entries[0].is_near = roster->entries[3].is_near = true;
    struct readers *readers = make(roster, READ_FROM_NEAREST);
    for (uint32_t session = 0; session < 10; session++)
        taken[choose(readers, 0, session, down)]++;
    ck_assert_int_eq(taken[0], 5);
    ck_assert_int_eq(taken[3], 5);
    down[0] = down[3] = true;
    ck_assert_int_eq(choose(readers, 0, 0, down), 2);
    down[0] = false;
    down[2] = down[4] = true;
    ck_assert_int_eq(choose(readers, 0, 1, down), 0);
    readers_free(&readers);
    roster_unref(&roster);
}
END_TEST

/* The nearest not being known, replicas are read from. */
START_TEST(replicas_are_read_from_when_nobody_is_near)
{
    const bool down[SERVERS] = {false};
    struct roster *roster = two_shards();
    struct readers *readers = make(roster, READ_FROM_NEAREST);

    ck_assert_int_ne(choose(readers, 0, 0, down), 0);
    ck_assert_int_eq(choose(readers, 1, 0, down), 5);
    readers_free(&readers);
    roster_unref(&roster);
}
END_TEST

START_TEST(zone_is_left_only_when_nobody_in_it_can_be_used)
{
    static char ours[] = "z1", other[] = "z2";
    bool down[SERVERS] = {false};
    struct roster *roster = two_shards();

    roster->entries[0].zone = roster->entries[4].zone = ours;
    roster->entries[2].zone = other;
    struct readers *readers = make(roster, READ_FROM_ZONE);
    for (uint32_t session = 0; session < 4; session++)
        ck_assert_int_eq(choose(readers, 0, session, down), 4);
    down[4] = true;
    ck_assert_int_eq(choose(readers, 0, 1, down), 0); /* ours as well */
    down[0] = true;
    int server = choose(readers, 0, 0, down);
    ck_assert(server == 2 || server == 3);
    ck_assert_int_eq(choose(readers, 1, 0, down), 5);
    for (uint32_t i = 0; i < roster->count; i++)
        roster->entries[i].zone = NULL;
    readers_free(&readers);
    roster_unref(&roster);
}
END_TEST

START_TEST(empty_roster_has_no_readers)
{
    struct roster *roster = roster_new(0, 0);
    struct readers *readers = make(roster, READ_FROM_REPLICA);

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
    tcase_add_test(tcase, replica_that_is_cut_off_stands_in_for_its_primary);
    tcase_add_test(tcase, nearest_are_those_who_are_near_primary_or_not);
    tcase_add_test(tcase, replicas_are_read_from_when_nobody_is_near);
    tcase_add_test(tcase, zone_is_left_only_when_nobody_in_it_can_be_used);
    tcase_add_test(tcase, empty_roster_has_no_readers);
    return unit_run("readers", tcase);
}
