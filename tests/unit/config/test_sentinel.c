/*
 * tests/unit/config/test_sentinel.c - pools whose servers Sentinels name.
 */
#include "config_case.h"

#define HEAD "pointsman: {state_file: /f}\na:\n  listen: h:1\n  redis: true\n"
#define LIST "  sentinels: [h:26379, '[::1]:26380']\n"
#define NAMED HEAD LIST
#define SERVER "  servers: [{name: s, master: m}]\n"

START_TEST(masters_take_the_place_of_addresses)
{
    struct config_case c;
    const struct pool_settings *pool =
        case_pool(&c, NAMED "  sentinel_quorum: 2\n  sentinel_auth: x\n"
                            "  sentinel_user: u\n  sentinel_interval: 2s\n"
                            "  on_no_quorum: reject_writes\n"
                            "  servers: [{name: s, master: m, weight: 2}, "
                            "{master: acc.2}]\n");

    ck_assert(pool_is_named(pool) && pool_is_followed(pool));
    ck_assert(!pool_is_cluster(pool));
    ck_assert_uint_eq(pool->sentinel_count, 2);
    ck_assert_str_eq(pool->sentinels[1].host, "::1");
    ck_assert_uint_eq(pool->sentinels[1].port, 26380);
    ck_assert_uint_eq(pool->server_count, 2);
    ck_assert_str_eq(pool->servers[0].name, "s");
    ck_assert_str_eq(pool->servers[0].master, "m");
    ck_assert_uint_eq(pool->servers[0].weight, 2);
    ck_assert_str_eq(pool->servers[1].name, "acc.2");
    ck_assert_str_eq(pool->servers[1].master, "acc.2");
    ck_assert_ptr_null(pool->servers[1].address.text);
    ck_assert_uint_eq(pool->sentinel_quorum, 2);
    ck_assert_str_eq(pool->sentinel_auth, "x");
    ck_assert_int_eq(pool->sentinel_interval_ms, 2000);
    ck_assert(pool->rejects_without_quorum);
    ck_assert_str_eq(c.settings->state_file, "/f");
    case_fini(&c);
}
END_TEST

START_TEST(replicas_of_masters_may_be_read_from)
{
    struct config_case c;
    const struct pool_settings *pool =
        case_pool(&c, NAMED SERVER "  read_from: zone\n  zone: z\n"
                                   "  zones: {10.0.0.0/8: z}\n");

    ck_assert_int_eq(pool->read_from, READ_FROM_ZONE);
    ck_assert_uint_eq(pool->zone_count, 1);
    case_fini(&c);
}
END_TEST

START_TEST(listed_servers_are_not_followed)
{
    struct config_case c;
    const struct pool_settings *pool =
        case_pool(&c, "a:\n  listen: h:1\n  redis: true\n"
                      "  servers: [h:1:1]\n");

    ck_assert(!pool_is_named(pool) && !pool_is_followed(pool));
    ck_assert(!pool->rejects_without_quorum);
    case_fini(&c);
}
END_TEST

static const struct {
    const char *text;
    const char *message;
} refusals[] = {
    {HEAD "  sentinels: []\n" SERVER,
     "t.yml:5:14: error: a.sentinels: found an empty list, allowed a "
     "list of 1 to 32 addresses host:port\n"
     "t.yml:6:23: error: a.servers.master: found without sentinels, allowed "
     "only together with it\n"
     "t.yml:6:13: error: a.servers.address: found nothing, allowed host:port, "
     "[v6]:port or /path\n"},
    {HEAD "  sentinels: [/path]\n" SERVER,
     "t.yml:5:15: error: a.sentinels: found \"/path\", allowed host:port or "
     "[v6]:port\n"},
    {HEAD SERVER,
     "t.yml:5:23: error: a.servers.master: found without sentinels, allowed "
     "only together with it\n"
     "t.yml:5:13: error: a.servers.address: found nothing, allowed host:port, "
     "[v6]:port or /path\n"},
    {NAMED "  servers: [h:1:1]\n",
     "t.yml:6:13: error: a.servers: found \"h:1:1\", allowed {name: X, master:"
     " Y, ...} in a pool with sentinels\n"},
    {NAMED "  servers: [{name: s, address: h:1}]\n",
     "t.yml:6:23: error: a.servers.address: found in a pool with sentinels, "
     "allowed master\n"
     "t.yml:6:13: error: a.servers.master: found nothing, allowed the name of "
     "a master in a pool with sentinels\n"},
    {NAMED "  servers: [{name: s, master: 'a b'}]\n",
     "t.yml:6:31: error: a.servers.master: found \"a b\", allowed a name of 1 "
     "to 255 visible characters\n"},
    {NAMED "  servers: [{name: s, master: m}, {name: t, master: m}]\n",
     "t.yml:6:35: error: a.servers: found the master \"m\" again, allowed once\n"},
    {NAMED SERVER "  on_no_quorum: panic\n",
     "t.yml:7:17: error: a.on_no_quorum: found \"panic\", allowed keep or "
     "reject_writes\n"},
    {NAMED SERVER "  sentinel_user: u\n",
     "t.yml:7:3: error: a.sentinel_user: found without sentinel_auth, allowed "
     "only together with it\n"},
    {NAMED SERVER "  auto_eject_hosts: true\n",
     "t.yml:5:3: error: a.sentinels: found servers to be ejected, allowed to "
     "leave that to the failover\n"},
    {NAMED SERVER "  read_from: zone\n",
     "t.yml:7:3: error: a.read_from: found zone without the key zone, allowed "
     "only together with it\n"},
    {HEAD "  servers: [h:1:1]\n  sentinel_quorum: 2\n  on_no_quorum: keep\n",
     "t.yml:6:3: error: a.sentinel_quorum: found without sentinels, allowed "
     "only together with it\n"
     "t.yml:7:3: error: a.on_no_quorum: found without sentinels, allowed only "
     "together with it\n"},
};

START_TEST(what_makes_no_sense_is_refused)
{
    expect_refused(refusals[_i].text, refusals[_i].message);
}
END_TEST

START_TEST(epochs_that_are_forgotten_are_warned_of)
{
    expect_messages("a:\n  listen: h:1\n  redis: true\n" LIST SERVER,
                    "t.yml:1:1: warning: sentinels without state_file in "
                    "section pointsman: which epochs of masters were seen is "
                    "forgotten at a restart\n");
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("sentinel");

    tcase_add_test(tcase, masters_take_the_place_of_addresses);
    tcase_add_test(tcase, replicas_of_masters_may_be_read_from);
    tcase_add_test(tcase, listed_servers_are_not_followed);
    tcase_add_loop_test(tcase, what_makes_no_sense_is_refused, 0,
                        ARRAY_LEN(refusals));
    tcase_add_test(tcase, epochs_that_are_forgotten_are_warned_of);
    return unit_run("config", tcase);
}
