/*
 * tests/unit/discovery/test_cluster_map.c - what nodes say, and whom to believe.
 *
 * The replies are what redis-server 7.0 says, with shorter ids.
 */
#include "discovery/cluster_map.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/mem.h"
#include "unit.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define C "cccccccccccccccccccccccccccccccccccccccc"
#define D "dddddddddddddddddddddddddddddddddddddddd"

#define NODE(host, port, id) "*4\r\n" host "\r\n:" port "\r\n$40\r\n" id \
    "\r\n*0\r\n"
#define HOST_A "$8\r\n10.0.0.1"
#define HOST_B "$8\r\n10.0.0.2"
#define HOST_C "$8\r\n10.0.0.3"
#define TWO_SHARDS "*2\r\n" \
    "*4\r\n:0\r\n:8191\r\n" NODE(HOST_A, "7000", A) NODE(HOST_C, "7002", C) \
    "*3\r\n:8192\r\n:16383\r\n" NODE(HOST_B, "7001", B)
#define LINE_A A " 10.0.0.1:7000@17000 myself,master - 0 0 1 connected 0-8191\n"
#define LINE_B B " 10.0.0.2:7001@17001 master - 0 5 2 connected 8192-16383\n"
#define LINE_C C " 10.0.0.3:7002@17002,c.example slave " A " 0 5 1 connected\n"
#define ALL_LINES LINE_A LINE_B LINE_C

/* As a bulk. */
static struct view
bulk(struct buf *out, const char *lines)
{
    buf_printf(out, "$%zu\r\n%s\r\n", strlen(lines), lines);
    return buf_view(out);
}

static struct cluster_map *
try_read(const char *slots, const char *lines, struct error *error)
{
    struct buf nodes = {0};
    struct view text =
        lines == NULL ? VIEW("-NOPERM no\r\n") : bulk(&nodes, lines);
    struct cluster_map *map =
        cluster_map_read(view_str(slots), text, "10.9.9.9", error);

    buf_fini(&nodes);
    return map;
}

static struct cluster_map *
read_map(const char *slots, const char *lines)
{
    struct error error;
    struct cluster_map *map = try_read(slots, lines, &error);

    ck_assert_msg(map != NULL, "%s", map == NULL ? error.text : "");
    return map;
}

/* "10.0.0.1:7000" of a slot, or "none". */
static const char *
owner(const struct cluster_map *map, uint32_t slot)
{
    static char text[100];
    struct topology topology;

    cluster_map_topology(map, &topology);
    uint16_t number = topology.owners[slot];
    snprintf(text, sizeof(text), "%s",
             number == ROUTE_NO_OWNER
                 ? "none"
                 : topology.roster->entries[number].name);
    roster_unref(&topology.roster);
    return text;
}

static void
expect_owner(const char *slots, const char *lines, uint32_t slot,
             const char *expected)
{
    struct cluster_map *map = read_map(slots, lines);

    ck_assert_str_eq(owner(map, slot), expected);
    cluster_map_free(&map);
}

static void
merge(struct cluster_map **knownp, const char *slots, const char *lines)
{
    struct error error;
    struct cluster_map *fresh = read_map(slots, lines);
    int failed = cluster_map_merge(fresh, *knownp, &error);

    ck_assert_msg(failed == 0, "%s", failed ? error.text : "");
    cluster_map_free(knownp);
    *knownp = fresh;
}

static void
expect_rejected(const struct cluster_map *known, const char *slots,
                const char *lines, const char *why)
{
    struct error error;
    struct cluster_map *fresh = read_map(slots, lines);

    ck_assert_int_eq(cluster_map_merge(fresh, known, &error), -1);
    ck_assert_msg(strstr(error.text, why) != NULL, "%s", error.text);
    cluster_map_free(&fresh);
}

/* --- reading ---------------------------------------------------------------------- */

START_TEST(map_has_primaries_first_and_replicas_behind_them)
{
    struct cluster_map *map = read_map(TWO_SHARDS, ALL_LINES);
    struct topology topology;

    cluster_map_topology(map, &topology);
    ck_assert_uint_eq(topology.roster->shard_count, 2);
    ck_assert_uint_eq(topology.roster->count, 3);
    ck_assert_str_eq(topology.roster->entries[0].name, "10.0.0.1:7000");
    ck_assert_str_eq(topology.roster->entries[0].id, A);
    ck_assert_uint_eq(topology.roster->entries[0].slot_count, 8192);
    ck_assert_uint_eq(topology.roster->entries[1].epoch, 2);
    ck_assert_str_eq(topology.roster->entries[2].name, "10.0.0.3:7002");
    ck_assert_uint_eq(topology.roster->entries[2].primary, 0);
    ck_assert(topology.roster->entries[2].is_usable);
    ck_assert_uint_eq(topology.owners[8191], 0);
    ck_assert_uint_eq(topology.owners[8192], 1);
    ck_assert_uint_eq(cluster_map_covered(map), ROUTE_SLOTS);
    ck_assert_uint_eq(cluster_map_epoch(map), 2);
    roster_unref(&topology.roster);
    cluster_map_free(&map);
}
END_TEST

#define ONE(node) "*1\r\n*3\r\n:0\r\n:16383\r\n" node
#define META(text) "*4\r\n$1\r\n?\r\n:7000\r\n$40\r\n" A "\r\n" text

START_TEST(node_that_does_not_know_its_host_is_where_it_was_asked)
{
    expect_owner(ONE(NODE("$-1", "7000", A)), NULL, 0, "10.9.9.9:7000");
    expect_owner(ONE(NODE("_", "7000", A)), NULL, 0, "10.9.9.9:7000");
    expect_owner(ONE(NODE("$0\r\n", "7000", A)), NULL, 0, "10.9.9.9:7000");
}
END_TEST

START_TEST(unknown_host_is_taken_from_metadata_or_from_nodes)
{
    expect_owner(ONE(META("*2\r\n$2\r\nip\r\n$8\r\n10.0.0.7\r\n")), NULL, 0,
                 "10.0.0.7:7000");
    expect_owner(ONE(META("%1\r\n$2\r\nip\r\n$8\r\n10.0.0.7\r\n")), NULL, 0,
                 "10.0.0.7:7000");
    expect_owner(ONE(META("*0\r\n")), LINE_A, 0, "10.0.0.1:7000");
    expect_owner(ONE(META("*0\r\n")), NULL, 0, "none");
}
END_TEST

START_TEST(host_name_goes_by_its_address)
{
    const char *slots = ONE("*4\r\n$9\r\na.example\r\n:7000\r\n$40\r\n" A
                            "\r\n*2\r\n$2\r\nip\r\n$8\r\n10.0.0.1\r\n");
    struct cluster_map *map = read_map(slots, ALL_LINES);
    struct topology topology;

    cluster_map_topology(map, &topology);
    ck_assert_str_eq(topology.roster->entries[0].name, "a.example:7000");
    ck_assert_str_eq(topology.roster->entries[0].ip, "10.0.0.1");
    roster_unref(&topology.roster);
    cluster_map_free(&map);
}
END_TEST

START_TEST(v6_host_has_brackets_in_its_name_only)
{
    const char *slots = ONE(NODE("$3\r\n::1", "7000", A));

    expect_owner(slots, A " ::1:7000@17000 myself,master - 0 0 1 connected\n",
                 0, "[::1]:7000");
    expect_owner(slots, NULL, 0, "[::1]:7000");
}
END_TEST

START_TEST(node_without_a_port_for_us_owns_nothing)
{
    expect_owner(ONE(NODE(HOST_A, "0", A)), NULL, 0, "none");
    expect_owner(ONE(NODE(HOST_A, "65536", A)), NULL, 0, "none");
}
END_TEST

START_TEST(nodes_of_old_and_of_later_versions_are_understood)
{
    expect_owner(ONE("*2\r\n" HOST_A "\r\n:7000\r\n"), ALL_LINES, 0,
                 "10.0.0.1:7000");
    expect_owner(ONE("*3\r\n" HOST_A "\r\n:7000\r\n$40\r\n" A "\r\n"), NULL,
                 0, "10.0.0.1:7000");
    expect_owner(ONE("*6\r\n" HOST_A "\r\n:7000\r\n$40\r\n" A
                     "\r\n*0\r\n*1\r\n:5\r\n+x\r\n"),
                 NULL, 16383, "10.0.0.1:7000");
}
END_TEST

START_TEST(single_slots_and_gaps_are_kept)
{
    const char *slots = "*2\r\n*3\r\n:7\r\n:7\r\n" NODE(HOST_A, "7000", A)
        "*3\r\n:9\r\n:9\r\n" NODE(HOST_A, "7000", A);
    struct cluster_map *map = read_map(slots, NULL);

    ck_assert_str_eq(owner(map, 7), "10.0.0.1:7000");
    ck_assert_str_eq(owner(map, 8), "none");
    ck_assert_str_eq(owner(map, 9), "10.0.0.1:7000");
    ck_assert_uint_eq(cluster_map_covered(map), 2);
    ck_assert_uint_eq(map->count, 1);
    cluster_map_free(&map);
}
END_TEST

START_TEST(failed_replica_is_not_read_from)
{
    struct cluster_map *map = read_map(
        TWO_SHARDS, LINE_A LINE_B C
        " 10.0.0.3:7002@17002 slave,fail? " A " 0 5 1 connected\n");
    struct topology topology;

    cluster_map_topology(map, &topology);
    ck_assert(!topology.roster->entries[2].is_usable);
    roster_unref(&topology.roster);
    cluster_map_free(&map);
}
END_TEST

static const char *const no_slots[] = {
    "-ERR This instance has cluster support disabled\r\n",
    "+OK\r\n",
    "*-1\r\n",
    "*1\r\n:5\r\n",
    "*1\r\n*3\r\n:0\r\n:16384\r\n" NODE(HOST_A, "7000", A),
    "*1\r\n*3\r\n:-1\r\n:5\r\n" NODE(HOST_A, "7000", A),
    "*1\r\n*3\r\n:5\r\n:4\r\n" NODE(HOST_A, "7000", A),
    "*1\r\n*3\r\n:0\r\n:1\r\n*1\r\n" HOST_A "\r\n",
    "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n" HOST_A "\r\n+x\r\n",
};

START_TEST(reply_that_is_no_map_is_refused)
{
    struct error error;

    ck_assert_ptr_null(try_read(no_slots[_i], ALL_LINES, &error));
    ck_assert_uint_gt(strlen(error.text), 0);
}
END_TEST

START_TEST(lines_that_make_no_sense_are_passed_over)
{
    expect_owner(TWO_SHARDS, "\n \nx\n" A "\n" A " @ , - - - -\n" LINE_B,
                 16383, "10.0.0.2:7001");
}
END_TEST

/* --- whom to believe ----------------------------------------------------------------- */

START_TEST(first_map_is_believed_if_it_has_a_slot)
{
    struct cluster_map *known = NULL;

    expect_rejected(NULL, "*0\r\n", ALL_LINES, "no slot");
    merge(&known, TWO_SHARDS, ALL_LINES);
    cluster_map_free(&known);
}
END_TEST

START_TEST(empty_answer_and_another_cluster_are_rejected)
{
    struct cluster_map *known = read_map(TWO_SHARDS, ALL_LINES);

    expect_rejected(known, "*0\r\n", LINE_A, "no slot");
    expect_rejected(known, ONE(NODE(HOST_A, "7000", D)),
                    D " 10.0.0.1:7000@17000 myself,master - 0 0 99 connected"
                      " 0-16383\n",
                    "another cluster");
    cluster_map_free(&known);
}
END_TEST

/* A node that has lost its memory but for its name has taken a slot. */
START_TEST(tiny_answer_takes_no_slots_away)
{
    struct cluster_map *known = read_map(TWO_SHARDS, ALL_LINES);

    merge(&known, "*1\r\n*3\r\n:9000\r\n:9000\r\n" NODE(HOST_A, "7000", A),
          A " 10.0.0.1:7000@17000 myself,master - 0 0 1 connected 9000\n");
    ck_assert_uint_eq(cluster_map_covered(known), ROUTE_SLOTS);
    ck_assert_str_eq(owner(known, 0), "10.0.0.1:7000");
    ck_assert_str_eq(owner(known, 9000), "10.0.0.2:7001");
    ck_assert_str_eq(owner(known, 16383), "10.0.0.2:7001");
    cluster_map_free(&known);
}
END_TEST

#define FAILED_OVER "*2\r\n" \
    "*3\r\n:0\r\n:8191\r\n" NODE(HOST_C, "7002", C) \
    "*3\r\n:8192\r\n:16383\r\n" NODE(HOST_B, "7001", B)
#define AFTER A " 10.0.0.1:7000@17000 master,fail - 0 0 1 disconnected\n" \
    B " 10.0.0.2:7001@17001 myself,master - 0 5 2 connected 8192-16383\n" \
    C " 10.0.0.3:7002@17002 master - 0 5 3 connected 0-8191\n"

START_TEST(higher_epoch_takes_a_slot_and_a_lower_one_does_not)
{
    struct cluster_map *known = read_map(TWO_SHARDS, ALL_LINES);

    merge(&known, FAILED_OVER, AFTER);
    ck_assert_str_eq(owner(known, 0), "10.0.0.3:7002");
    /* The old primary has not heard of it, and asks to be believed. */
    merge(&known, TWO_SHARDS,
          B " 10.0.0.2:7001@17001 myself,master - 0 5 2 connected"
            " 8192-16383\n"
            A " 10.0.0.1:7000@17000 master - 0 0 1 connected 0-8191\n"
            LINE_C);
    ck_assert_str_eq(owner(known, 0), "10.0.0.3:7002");
    ck_assert_str_eq(owner(known, 9000), "10.0.0.2:7001");
    cluster_map_free(&known);
}
END_TEST

/* The new primary does not know yet what has become of the old one. */
#define TAKEN_OVER(node_a) \
    A " 10.0.0.1:7000@17000 " node_a "\n" \
    B " 10.0.0.2:7001@17001 master - 0 5 2 connected 8192-16383\n" \
    C " 10.0.0.3:7002@17002 myself,master - 0 5 3 connected 0-8191\n"

static void
expect_former(const struct cluster_map *map, const char *name, bool is_usable)
{
    struct topology topology;

    cluster_map_topology(map, &topology);
    ck_assert_uint_eq(topology.roster->shard_count, 2);
    ck_assert_uint_eq(topology.roster->count, name == NULL ? 2 : 3);
    if (name != NULL) {
        const struct roster_entry *entry = &topology.roster->entries[2];
        ck_assert_str_eq(entry->name, name);
        ck_assert_str_eq(topology.roster->entries[entry->primary].name,
                         owner(map, 0));
        ck_assert(entry->is_usable == is_usable);
    }
    roster_unref(&topology.roster);
}

START_TEST(demoted_primary_stays_as_long_as_it_is_well)
{
    struct cluster_map *known = read_map(TWO_SHARDS, ALL_LINES);

    expect_former(known, "10.0.0.3:7002", true);
    for (int i = 0; i < 2; i++) {
        merge(&known, FAILED_OVER, TAKEN_OVER("master - 0 5 1 connected"));
        expect_former(known, "10.0.0.1:7000", false);
    }
    merge(&known, FAILED_OVER, TAKEN_OVER("slave " C " 0 5 3 connected"));
    expect_former(known, "10.0.0.1:7000", false);
    merge(&known, FAILED_OVER, TAKEN_OVER("slave,fail " C " 0 5 3 connected"));
    expect_former(known, NULL, false);
    /* It has not been in the map, and is nobody that has served. */
    merge(&known, FAILED_OVER, TAKEN_OVER("slave " C " 0 5 3 connected"));
    expect_former(known, NULL, false);
    cluster_map_free(&known);
}
END_TEST

START_TEST(replica_stays_that_is_not_listed_any_more)
{
    struct cluster_map *known = read_map(TWO_SHARDS, ALL_LINES);

    merge(&known,
          "*2\r\n*3\r\n:0\r\n:8191\r\n" NODE(HOST_A, "7000", A)
          "*3\r\n:8192\r\n:16383\r\n" NODE(HOST_B, "7001", B), ALL_LINES);
    expect_former(known, "10.0.0.3:7002", false);
    merge(&known, TWO_SHARDS, ALL_LINES);
    expect_former(known, "10.0.0.3:7002", true);
    merge(&known, FAILED_OVER, TAKEN_OVER("master,fail - 0 5 1 connected"));
    expect_former(known, NULL, false);
    cluster_map_free(&known);
}
END_TEST

/* What is said of the owner that stays does not tell where it is. */
START_TEST(kept_owner_keeps_its_address)
{
    static const char *const lines[] = {
        B " b.example:7001@17001 master - 0 5 2 connected\n",
        B " 10.0.0.2:0@17001 master - 0 5 2 connected\n",
        B " :0@0 master,noaddr - 0 5 2 disconnected\n",
    };

    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct cluster_map *known = read_map(TWO_SHARDS, ALL_LINES);
        char text[500];
        snprintf(text, sizeof(text), "%s%s", LINE_A LINE_C, lines[i]);
        merge(&known,
              "*1\r\n*3\r\n:0\r\n:9000\r\n" NODE(HOST_A, "7000", A), text);
        ck_assert_str_eq(owner(known, 0), "10.0.0.1:7000");
        ck_assert_str_eq(owner(known, 9000), "10.0.0.2:7001");
        ck_assert_str_eq(known->nodes[known->owners[9000]].ip, "10.0.0.2");
        cluster_map_free(&known);
    }
}
END_TEST

START_TEST(owner_gives_its_slots_away_itself)
{
    struct cluster_map *known = read_map(TWO_SHARDS, ALL_LINES);

    merge(&known, ONE(NODE(HOST_A, "7000", A)),
          A " 10.0.0.1:7000@17000 master - 0 0 1 connected 0-16383\n"
            B " 10.0.0.2:7001@17001 myself,master - 0 5 2 connected\n" LINE_C);
    ck_assert_str_eq(owner(known, 9000), "10.0.0.1:7000");
    cluster_map_free(&known);
}
END_TEST

START_TEST(forgotten_owner_and_dropped_slots_are_let_go)
{
    struct cluster_map *known = read_map(TWO_SHARDS, ALL_LINES);

    merge(&known, ONE(NODE(HOST_A, "7000", A)), LINE_A LINE_C);
    ck_assert_str_eq(owner(known, 9000), "10.0.0.1:7000");
    merge(&known, "*1\r\n*3\r\n:0\r\n:5\r\n" NODE(HOST_A, "7000", A),
          LINE_A LINE_C);
    ck_assert_uint_eq(cluster_map_covered(known), 6);
    cluster_map_free(&known);
}
END_TEST

START_TEST(maps_are_equal_whoever_tells_them)
{
    struct cluster_map *a = read_map(TWO_SHARDS, ALL_LINES);
    struct cluster_map *b = read_map(
        "*3\r\n"
        "*3\r\n:8192\r\n:9000\r\n" NODE(HOST_B, "7001", B)
        "*3\r\n:9001\r\n:16383\r\n" NODE(HOST_B, "7001", B)
        "*4\r\n:0\r\n:8191\r\n" NODE(HOST_A, "7000", A)
        NODE(HOST_C, "7002", C),
        LINE_C LINE_B LINE_A);
    struct cluster_map *c = read_map(FAILED_OVER, AFTER);

    ck_assert(cluster_map_equal(a, b));
    ck_assert(!cluster_map_equal(a, c));
    cluster_map_free(&a);
    cluster_map_free(&b);
    cluster_map_free(&c);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("cluster_map");

    tcase_add_test(tcase, map_has_primaries_first_and_replicas_behind_them);
    tcase_add_test(tcase,
                   node_that_does_not_know_its_host_is_where_it_was_asked);
    tcase_add_test(tcase,
                   unknown_host_is_taken_from_metadata_or_from_nodes);
    tcase_add_test(tcase, host_name_goes_by_its_address);
    tcase_add_test(tcase, v6_host_has_brackets_in_its_name_only);
    tcase_add_test(tcase, node_without_a_port_for_us_owns_nothing);
    tcase_add_test(tcase, nodes_of_old_and_of_later_versions_are_understood);
    tcase_add_test(tcase, single_slots_and_gaps_are_kept);
    tcase_add_test(tcase, failed_replica_is_not_read_from);
    tcase_add_loop_test(tcase, reply_that_is_no_map_is_refused, 0,
                        ARRAY_LEN(no_slots));
    tcase_add_test(tcase, lines_that_make_no_sense_are_passed_over);
    tcase_add_test(tcase, first_map_is_believed_if_it_has_a_slot);
    tcase_add_test(tcase, empty_answer_and_another_cluster_are_rejected);
    tcase_add_test(tcase, tiny_answer_takes_no_slots_away);
    tcase_add_test(tcase, higher_epoch_takes_a_slot_and_a_lower_one_does_not);
    tcase_add_test(tcase, demoted_primary_stays_as_long_as_it_is_well);
    tcase_add_test(tcase, replica_stays_that_is_not_listed_any_more);
    tcase_add_test(tcase, kept_owner_keeps_its_address);
    tcase_add_test(tcase, owner_gives_its_slots_away_itself);
    tcase_add_test(tcase, forgotten_owner_and_dropped_slots_are_let_go);
    tcase_add_test(tcase, maps_are_equal_whoever_tells_them);
    return unit_run("discovery", tcase);
}
