/*
 * tests/unit/net/test_address_list.c - lists of addresses, and turns in them.
 */
#include "net/address_list.h"

#include "unit.h"

static struct address
address_of(const char *host, uint16_t port)
{
    struct address address;

    ck_assert(address_from_literal(&address, host, port));
    return address;
}

static struct address_list *
list_of(const char *first, const char *second, uint16_t port)
{
    struct address_list *list = address_list_new(2);

    list->items[0] = address_of(first, port);
    list->items[1] = address_of(second, port);
    return list;
}

START_TEST(literals_are_told_from_names)
{
    static const char *const literals[] = {"127.0.0.1", "::1", "fe80::1%lo",
                                           "127.1"};
    static const char *const names[] = {"localhost", "a.example", "", "1.2.3.4.5",
                                        "10.0.0.256"};
    struct address address;
    char text[ADDRESS_TEXT_MAX];

    for (size_t i = 0; i < ARRAY_LEN(literals); i++)
        ck_assert_msg(address_from_literal(&address, literals[i], 1), "%s",
                      literals[i]);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        ck_assert_msg(!address_from_literal(&address, names[i], 1), "%s",
                      names[i]);
    address = address_of("::1", 6379);
    ck_assert_str_eq(address_format(&address, text), "[::1]:6379");
    address = address_of("127.0.0.1", 0);
    ck_assert_str_eq(address_format(&address, text), "127.0.0.1");
}
END_TEST

START_TEST(order_makes_no_difference_ports_and_numbers_do)
{
    struct address_list *list = list_of("127.0.0.1", "::1", 1);
    struct address_list *turned = list_of("::1", "127.0.0.1", 1);
    struct address_list *other = list_of("127.0.0.1", "127.0.0.2", 1);
    struct address_list *empty = address_list_new(0);
    struct address_list *ports = address_list_and(list, 2, NULL);
    struct address_list *one = address_list_of(&list->items[0]);

    ck_assert(address_list_is_alike(list, turned));
    ck_assert(!address_list_is_alike(list, other));
    ck_assert(!address_list_is_alike(list, ports));
    ck_assert(!address_list_is_alike(list, one));
    ck_assert(!address_list_is_alike(empty, list));
    ck_assert(address_list_is_alike(empty, empty));
    ck_assert_uint_eq(address_list_find(turned, &list->items[0]), 1);
    ck_assert_uint_eq(address_list_find(ports, &list->items[0]), 2);
    address_list_unref(&list);
    address_list_unref(&turned);
    address_list_unref(&other);
    address_list_unref(&empty);
    address_list_unref(&ports);
    address_list_unref(&one);
}
END_TEST

START_TEST(one_more_is_no_more_if_it_is_there)
{
    struct address_list *list = list_of("127.0.0.1", "::1", 0);
    struct address_list *pending = address_list_new(0);
    struct address there = address_of("::1", 7);
    struct address more = address_of("127.0.0.2", 7);
    struct address_list *same = address_list_and(list, 7, &there);
    struct address_list *longer = address_list_and(list, 7, &more);

    pending->is_pending = true;
    struct address_list *known = address_list_and(pending, 7, &more);
    struct address_list *unknown = address_list_and(pending, 7, NULL);
    ck_assert_uint_eq(same->count, 2);
    ck_assert_uint_eq(longer->count, 3);
    ck_assert_uint_eq(address_list_find(longer, &more), 2);
    ck_assert(known->count == 1 && !known->is_pending);
    ck_assert(unknown->count == 0 && unknown->is_pending);
    address_list_unref(&list);
    address_list_unref(&pending);
    address_list_unref(&same);
    address_list_unref(&longer);
    address_list_unref(&known);
    address_list_unref(&unknown);
}
END_TEST

START_TEST(not_known_yet_is_not_the_same_as_nowhere)
{
    struct address_list *pending = address_list_new(0);
    struct address_list *nowhere = address_list_new(0);

    pending->is_pending = true;
    ck_assert(!address_list_is_alike(pending, nowhere));
    address_list_unref(&pending);
    address_list_unref(&nowhere);
}
END_TEST

START_TEST(time_left_is_shared_among_the_addresses_left)
{
    ck_assert_int_eq(address_list_share_ms(900, 3), 300);
    ck_assert_int_eq(address_list_share_ms(600, 2), 300);
    ck_assert_int_eq(address_list_share_ms(300, 1), 300);
    ck_assert_int_eq(address_list_share_ms(0, 1), 1);
    ck_assert_int_eq(address_list_share_ms(3, 16), 1);
}
END_TEST

START_TEST(text_is_cut_where_there_is_no_more_room)
{
    struct address_list *list = list_of("127.0.0.1", "::1", 7);
    char text[64], little[12];

    ck_assert_str_eq(address_list_format(list, text, sizeof(text)),
                     "127.0.0.1:7,[::1]:7");
    ck_assert_str_eq(address_list_format(list, little, sizeof(little)),
                     "127.0.0.1:7");
    address_list_unref(&list);
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("address_list");

    tcase_add_test(tests, literals_are_told_from_names);
    tcase_add_test(tests, order_makes_no_difference_ports_and_numbers_do);
    tcase_add_test(tests, one_more_is_no_more_if_it_is_there);
    tcase_add_test(tests, not_known_yet_is_not_the_same_as_nowhere);
    tcase_add_test(tests, time_left_is_shared_among_the_addresses_left);
    tcase_add_test(tests, text_is_cut_where_there_is_no_more_room);
    return unit_run("net", tests);
}
