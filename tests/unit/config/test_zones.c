/*
 * tests/unit/config/test_zones.c - the zone of an address.
 */
#include "config/zones.h"

#include "config_case.h"
#include "unit.h"

#define HEAD "a:\n  listen: h:1\n  distribution: slots\n  cluster: [h:7000]\n"

START_TEST(rule_that_says_most_counts)
{
    struct config_case c;
    const struct pool_settings *pool =
        case_pool(&c,
                  HEAD "  zones:\n"
                       "    10.0.0.0/8: all\n"
                       "    10.0.1.0/25: low\n"
                       "    10.0.1.7: one\n"
                       "    10.0.1.7:7001: port\n"
                       "    \"fd00::/16\": six\n"
                       "    \"[fd00::1]:7000\": six-port\n"
                       "    \"fd00::2\": six-one\n");

    ck_assert_str_eq(zones_find(pool, "10.9.9.9", 7000), "all");
    ck_assert_str_eq(zones_find(pool, "10.0.1.127", 7000), "low");
    ck_assert_str_eq(zones_find(pool, "10.0.1.128", 7000), "all");
    ck_assert_str_eq(zones_find(pool, "10.0.1.7", 7000), "one");
    ck_assert_str_eq(zones_find(pool, "10.0.1.7", 7001), "port");
    ck_assert_str_eq(zones_find(pool, "fd00::9", 1), "six");
    ck_assert_str_eq(zones_find(pool, "fd00::1", 7000), "six-port");
    ck_assert_str_eq(zones_find(pool, "fd00::2", 7000), "six-one");
    ck_assert_ptr_null(zones_find(pool, "11.0.0.1", 7000));
    ck_assert_ptr_null(zones_find(pool, "fe00::1", 7000));
    ck_assert_ptr_null(zones_find(pool, "a.name", 7000));
    ck_assert_ptr_null(zones_find(pool, NULL, 7000));
    case_fini(&c);
}
END_TEST

START_TEST(network_of_no_bits_is_everybody)
{
    struct config_case c;
    const struct pool_settings *pool =
        case_pool(&c, HEAD "  zones: {0.0.0.0/0: z}\n");

    ck_assert_str_eq(zones_find(pool, "1.2.3.4", 1), "z");
    ck_assert_ptr_null(zones_find(pool, "::1", 1));
    case_fini(&c);
}
END_TEST

#define ADDRESS_ERROR                                                  \
    "error: a.zones: found no address, allowed a map from addresses, " \
    "address:port or network/bits to names\n"

START_TEST(rule_that_makes_no_sense_is_refused)
{
    static const char *const keys[] = {
        "a.name",      "10.0.0.1/33",     "10.0.0.1/",
        "10.0.0.1:0",  "10.0.0.1:x",      "1.2.3.4:65536",
        "'[::1]7000'", "'[::1]'",         "'::1/129'",
        "''",          "10.0.0.1/8:7000",
    };

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        char text[256];
        snprintf(text, sizeof(text), HEAD "  zones:\n    %s: z\n", keys[i]);
        expect_refused(text, "t.yml:6:5: " ADDRESS_ERROR);
    }
    expect_refused(HEAD "  zones: [z]\n",
                   "t.yml:5:10: error: a.zones: found a list, allowed a map "
                   "from addresses, address:port or network/bits to names\n");
    expect_refused(HEAD "  zones: {10.0.0.1: ''}\n",
                   "t.yml:5:21: error: a.zones: found \"\", allowed the name "
                   "of a zone\n");
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("zones");

    tcase_add_test(tcase, rule_that_says_most_counts);
    tcase_add_test(tcase, network_of_no_bits_is_everybody);
    tcase_add_test(tcase, rule_that_makes_no_sense_is_refused);
    return unit_run("config", tcase);
}
