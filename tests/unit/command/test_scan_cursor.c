/*
 * test_scan_cursor.c - one SCAN over several shards.
 */
#include "chains.h"
#include "request.h"
#include "routes.h"

#include "command/scan_cursor.h"

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

START_TEST(a_cursor_comes_back_as_it_was_given)
{
    const struct scan_cursor cursor = {.backend = (1ull << 38) - 1,
                                       .node = 1023,
                                       .place = 32767};
    struct scan_cursor back;
    char text[24];
    uint64_t number;

    ck_assert(scan_cursor_make(&cursor, &number));
    ck_assert_uint_le(number, INT64_MAX); /* some clients have signed ones */
    snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
    ck_assert(scan_cursor_parse(&back, view_str(text)));
    ck_assert_uint_eq(back.backend, cursor.backend);
    ck_assert_uint_eq(back.node, cursor.node);
    ck_assert_uint_eq(back.place, cursor.place);
}
END_TEST

START_TEST(zero_is_the_beginning)
{
    struct scan_cursor cursor;

    ck_assert(scan_cursor_parse(&cursor, VIEW("0")));
    ck_assert_uint_eq(cursor.place, 0);
}
END_TEST

START_TEST(cursors_that_were_never_given_are_found_out)
{
    struct scan_cursor cursor;

    ck_assert(!scan_cursor_parse(&cursor, VIEW("")));
    ck_assert(!scan_cursor_parse(&cursor, VIEW("x")));
    ck_assert(!scan_cursor_parse(&cursor, VIEW("-1")));
    ck_assert(!scan_cursor_parse(&cursor, VIEW("32768"))); /* of no place */
    ck_assert(!scan_cursor_parse(&cursor, VIEW("9223372036854775809")));
    ck_assert(!scan_cursor_parse(&cursor, VIEW("18446744073709551616")));
}
END_TEST

START_TEST(a_large_cursor_of_a_server_does_not_fit)
{
    const struct scan_cursor cursor = {.backend = 1ull << 38, .place = 1};
    uint64_t number;

    ck_assert(!scan_cursor_make(&cursor, &number));
}
END_TEST

START_TEST(places_go_by_the_name_whatever_the_order)
{
    const struct view names[] = {VIEW("a"), VIEW("b"), VIEW("c")};
    const struct view turned[] = {VIEW("c"), VIEW("new"), VIEW("a"), VIEW("b")};
    uint32_t places[3], again[4];

    scan_places_by_name(names, 3, places);
    scan_places_by_name(turned, 4, again);
    ck_assert_uint_eq(places[0], again[2]);
    ck_assert_uint_eq(places[1], again[3]);
    ck_assert_uint_eq(places[2], again[0]);
    /* For ever: clients keep cursors. */
    ck_assert_uint_eq(places[0], 12221);
    ck_assert_uint_eq(places[1], 5078);
    ck_assert_uint_eq(places[2], 27459);
}
END_TEST

START_TEST(many_names_have_a_place_each)
{
    enum { MANY = 2000 };
    static char text[MANY][16];
    static struct view names[MANY];
    static uint32_t places[MANY];
    static bool taken[32768];

    for (unsigned i = 0; i < MANY; i++) {
        snprintf(text[i], sizeof(text[i]), "server%u", i);
        names[i] = view_str(text[i]);
    }
    scan_places_by_name(names, MANY, places);
    for (unsigned i = 0; i < MANY; i++) {
        ck_assert_uint_gt(places[i], 0);
        ck_assert_uint_lt(places[i], 32768);
        ck_assert(!taken[places[i]]);
        taken[places[i]] = true;
    }
}
END_TEST

START_TEST(places_in_a_cluster_are_ends_of_runs)
{
    struct route *route = route_by_slots(3);
    uint32_t places[4];

    scan_places_by_slot(route, 4, places);
    ck_assert_uint_gt(places[1], places[0]);
    ck_assert_uint_eq(places[2], ROUTE_SLOTS);
    ck_assert_uint_eq(places[3], 0); /* has none */
    ck_assert_uint_eq(route_slot_owner(route, places[1] - 1), 1);
    ck_assert_uint_eq(route_slot_owner(route, places[1]), 2);
    route_free(&route);
}
END_TEST

START_TEST(a_few_slots_that_come_change_no_place)
{
    static uint16_t owners[ROUTE_SLOTS];
    const struct route_shard_spec shards[] = {
        {.name = VIEW("a"), .weight = 1, .live = true},
        {.name = VIEW("b"), .weight = 1, .live = true},
    };
    const struct route_spec spec = {
        .distribution = DISTRIBUTION_SLOTS,
        .shards = shards,
        .shard_count = ARRAY_LEN(shards),
        .slot_owners = owners,
    };
    struct error error;
    uint32_t places[2];

    /* Shard 0 had them all up to 7999; shard 1 has got some. */
    for (uint32_t slot = 0; slot < ROUTE_SLOTS; slot++)
        owners[slot] = slot >= 8000 || slot < 100 || slot % 500 == 0;
    struct route *route = route_new(&spec, &error);
    ck_assert_msg(route != NULL, "%s", error.text);
    scan_places_by_slot(route, 2, places);
    ck_assert_uint_eq(places[0], 1000);
    ck_assert_uint_eq(places[1], ROUTE_SLOTS);
    route_free(&route);
}
END_TEST

START_TEST(shards_are_visited_by_place)
{
    const uint32_t places[] = {500, 0, 20, 300};

    ck_assert_uint_eq(scan_find_place(places, 4, 0), 2);
    ck_assert_uint_eq(scan_find_place(places, 4, 20), 2);
    ck_assert_uint_eq(scan_find_place(places, 4, 21), 3);
    ck_assert_uint_eq(scan_find_place(places, 4, 500), 0);
    ck_assert_uint_eq(scan_find_place(places, 4, 501), ROUTE_NONE);
    ck_assert_uint_eq(scan_next_place(places, 4, 20), 300);
    ck_assert_uint_eq(scan_next_place(places, 4, 500), 0);
}
END_TEST

START_TEST(the_request_keeps_its_options)
{
    struct request request;
    struct buf out = {0};

    request_init(&request, "scan 123456 MATCH a* COUNT 7 TYPE set");
    scan_encode(&request.args, 42, &out);
    expect_bytes(buf_view(&out),
                 "*8\r\n$4\r\nscan\r\n$2\r\n42\r\n$5\r\nMATCH\r\n$2\r\na*\r\n"
                 "$5\r\nCOUNT\r\n$1\r\n7\r\n$4\r\nTYPE\r\n$3\r\nset\r\n");
    buf_fini(&out);
    request_fini(&request);
}
END_TEST

/* The first shard of two, with its replies cut at every place. */
static void
expect_scan(uint32_t next, const char *reply, enum merge_result result,
            const char *want)
{
    const struct scan_step step = {.place = 5, .node = 0, .next = next};
    const struct command *command = command_by_id(COMMAND_ID_SCAN);

    for (size_t cut = 0; cut <= strlen(reply); cut++) {
        struct chain chain = {0}, out = {0};
        struct scan_page page = {0};
        push_pieces(&chain, view_str(reply), cut, SIZE_MAX / 2);
        enum merge_result found =
            scan_read(command, &chain, &pool, &page, &out);
        if (found == MERGE_OK)
            found = scan_give(&step, &page, &pool, &out);
        ck_assert_int_eq(found, result);
        expect_chain(&out, want);
        chain_clear(&chain);
        chain_clear(&out);
    }
}

START_TEST(the_cursor_of_the_reply_is_the_clients_next)
{
    /* 3 * 2^25 + 5 */
    expect_scan(9, "*2\r\n$1\r\n3\r\n*1\r\n$1\r\na\r\n", MERGE_OK,
                "*2\r\n$9\r\n100663301\r\n*1\r\n$1\r\na\r\n");
    expect_scan(9, "*2\r\n$1\r\n0\r\n*0\r\n", MERGE_OK,
                "*2\r\n$1\r\n9\r\n*0\r\n");
    expect_scan(0, "*2\r\n$1\r\n0\r\n*1\r\n$1\r\na\r\n", MERGE_OK,
                "*2\r\n$1\r\n0\r\n*1\r\n$1\r\na\r\n");
    expect_scan(9, "-ERR syntax error\r\n", MERGE_ERROR,
                "-ERR syntax error\r\n");
    expect_scan(9, "*2\r\n$20\r\n18446744073709551615\r\n*0\r\n", MERGE_ERROR,
                "-ERR proxy: the cursor of a shard is too large\r\n");
    expect_scan(9, "*1\r\n$1\r\n0\r\n", MERGE_BAD_REPLY,
                "-ERR proxy: the reply of a shard is no answer to 'scan'\r\n");
    expect_scan(9, "*2\r\n$1\r\nx\r\n*0\r\n", MERGE_BAD_REPLY,
                "-ERR proxy: the reply of a shard is no answer to 'scan'\r\n");
}
END_TEST

START_TEST(a_page_may_be_of_several_shards)
{
    const struct scan_step step = {.place = 5, .next = 9};
    const struct command *command = command_by_id(COMMAND_ID_SCAN);
    const char *replies[] = {"*2\r\n$1\r\n0\r\n*1\r\n$1\r\na\r\n",
                             "*2\r\n$1\r\n0\r\n*0\r\n",
                             "*2\r\n$1\r\n3\r\n*2\r\n$1\r\nb\r\n$1\r\nc\r\n"};
    struct scan_page page = {0};
    struct chain out = {0};

    for (size_t i = 0; i < ARRAY_LEN(replies); i++) {
        struct chain chain = {0};
        push_pieces(&chain, view_str(replies[i]), 0, 1);
        ck_assert_int_eq(scan_read(command, &chain, &pool, &page, &out),
                         MERGE_OK);
        chain_clear(&chain);
    }
    ck_assert_uint_eq(page.count, 3);
    ck_assert_int_eq(scan_give(&step, &page, &pool, &out), MERGE_OK);
    expect_chain(&out,
                 "*2\r\n$9\r\n100663301\r\n*3\r\n$1\r\na\r\n$1\r\nb\r\n"
                 "$1\r\nc\r\n");
    chain_clear(&out);
}
END_TEST

START_TEST(the_size_of_a_page_is_what_count_says)
{
    static const struct {
        const char *line;
        uint64_t size;
    } cases[] = {
        {"SCAN 0", 10},
        {"SCAN 0 count 7", 7},
        {"SCAN 0 MATCH COUNT COUNT 5 TYPE set", 5},
        {"SCAN 0 MATCH COUNT", 10},
        {"SCAN 0 COUNT x", 10},
        {"SCAN 0 COUNT", 10},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct request request;
        request_init(&request, cases[i].line);
        ck_assert_uint_eq(scan_page_size(&request.args), cases[i].size);
        request_fini(&request);
    }
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("scan_cursor");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_cursor_comes_back_as_it_was_given);
    tcase_add_test(tests, zero_is_the_beginning);
    tcase_add_test(tests, cursors_that_were_never_given_are_found_out);
    tcase_add_test(tests, a_large_cursor_of_a_server_does_not_fit);
    tcase_add_test(tests, places_go_by_the_name_whatever_the_order);
    tcase_add_test(tests, many_names_have_a_place_each);
    tcase_add_test(tests, places_in_a_cluster_are_ends_of_runs);
    tcase_add_test(tests, a_few_slots_that_come_change_no_place);
    tcase_add_test(tests, shards_are_visited_by_place);
    tcase_add_test(tests, the_request_keeps_its_options);
    tcase_add_test(tests, the_cursor_of_the_reply_is_the_clients_next);
    tcase_add_test(tests, a_page_may_be_of_several_shards);
    tcase_add_test(tests, the_size_of_a_page_is_what_count_says);
    return unit_run("command", tests);
}
