/*
 * tests/unit/config/test_messages.c - the exact words for the operator.
 */
#include "config_case.h"

#define HEAD "a:\n  listen: h:1\n  redis: true\n"
#define SERVERS "  servers: [h:1:1 s]\n"

struct refusal {
    const char *text;
    const char *message;
};

static const struct refusal refusals[] = {
    {HEAD SERVERS "  distribution: modulo\n  on_server_down: eject\n",
     "t.yml:6:3: error: a.on_server_down: found servers to be ejected with "
     "distribution modulo, allowed with ketama, modula and random\n"},
    {HEAD SERVERS "  auto_eject_hosts: false\n  on_server_down: eject\n",
     "t.yml:6:3: error: a.on_server_down: found eject together with "
     "auto_eject_hosts: false, allowed one of the two\n"},
    {HEAD SERVERS "  transactions: split\n",
     "t.yml:5:17: error: a.transactions: found \"split\", allowed queued or "
     "direct\n"},
    {HEAD SERVERS "  tracking: own\n",
     "t.yml:5:13: error: a.tracking: found \"own\", allowed shared or direct\n"},
    {HEAD SERVERS "  auto_eject_hosts: true\n  distribution: modulo\n",
     "t.yml:5:3: error: a.auto_eject_hosts: found servers to be ejected with "
     "distribution modulo, allowed with ketama, modula and random\n"},
    /* The process. */
    {HEAD SERVERS "pointsman: 1\n",
     "t.yml:5:12: error: pointsman: found no keys, allowed a map of them such "
     "as workers: auto\n"},
    {HEAD SERVERS "pointsman: {workers: 65}\n",
     "t.yml:5:22: error: pointsman.workers: found \"65\", allowed auto or a "
     "number from 1 to 64\n"},
    {HEAD SERVERS "pointsman: {stats: nowhere}\n",
     "t.yml:5:20: error: pointsman.stats: found \"nowhere\", allowed "
     "host:port, [v6]:port or off\n"},
    {HEAD SERVERS "pointsman: {resolver: a.example:53}\n",
     "t.yml:5:23: error: pointsman.resolver: found \"a.example:53\", allowed "
     "the address and port of a name server, such as 127.0.0.1:53, or a list "
     "of up to 8 of them\n"},
    {HEAD SERVERS "pointsman: {resolver: 127.0.0.1}\n",
     "t.yml:5:23: error: pointsman.resolver: found \"127.0.0.1\", allowed "
     "the address and port of a name server, such as 127.0.0.1:53, or a list "
     "of up to 8 of them\n"},
    {HEAD SERVERS "pointsman: {resolve_ttl_min: 2m}\n",
     "t.yml:5:13: error: pointsman.resolve_ttl_min: found 2m, allowed up to "
     "resolve_ttl_max (1m)\n"},
    {HEAD SERVERS "pointsman: {resolve_ttl_max: 500ms}\n",
     "t.yml:5:13: error: pointsman.resolve_ttl_min: found 1s, allowed up to "
     "resolve_ttl_max (500ms)\n"},
    {HEAD SERVERS "pointsman: {log_level: loud}\n",
     "t.yml:5:24: error: pointsman.log_level: found \"loud\", allowed error, "
     "warn, info or debug\n"},
    {HEAD SERVERS "pointsman: {maxclient: 1}\n",
     "t.yml:5:13: error: pointsman.maxclient: found an unknown key, allowed "
     "the keys of pointsman.yml(5); did you mean maxclients?\n"},
    /* The file as a whole. */
    {"", "t.yml:1:1: error: found no keys, allowed pools and pointsman\n"},
    {"- a\n", "t.yml:1:1: error: found no keys, allowed pools and pointsman\n"},
    {"pointsman: {workers: 1}\n",
     "t.yml:1:1: error: found no pool, allowed one or more keys with listen, "
     "servers ...\n"},
    {"a: secret\n", "t.yml:1:4: error: a: found no keys, allowed a pool with "
                    "listen, servers ...\n"},
    {"'': {}\n", "t.yml:1:1: error: found the pool name \"\", allowed a text "
                 "without control characters, not empty\n"},
    {"\"a\\eb\": {}\n",
     "t.yml:1:1: error: found the pool name \"a\\x1bb\", allowed a text "
     "without control characters, not empty\n"},
    /* A pool. */
    {"a:\n  redis: true\n" SERVERS,
     "t.yml:1:1: error: a.listen: found nothing, allowed host:port, [v6]:port "
     "or /path [octal mode]\n"},
    {HEAD, "t.yml:1:1: error: a.servers: found nothing, allowed a list of "
           "host:port:weight [name]\n"},
    {HEAD "  servers:\n",
     "t.yml:4:11: error: a.servers: found nothing, allowed a list of "
     "host:port:weight [name]\n"},
    {HEAD "  servers: h:1:1\n",
     "t.yml:4:12: error: a.servers: found \"h:1:1\", allowed a list of "
     "host:port:weight [name]\n"},
    {"a:\n  listen: h\n  redis: true\n" SERVERS,
     "t.yml:2:11: error: a.listen: found \"h\", allowed host:port, [v6]:port "
     "or /path [octal mode]\n"},
    {"a:\n  listen: [h:1, {}]\n  redis: true\n" SERVERS,
     "t.yml:2:17: error: a.listen: found an empty map of keys, allowed "
     "host:port, [v6]:port or /path [octal mode]\n"},
    {"a:\n  listen: []\n  redis: true\n" SERVERS,
     "t.yml:2:11: error: a.listen: found an empty list, allowed 1 to 16 of "
     "host:port, [v6]:port or /path [octal mode]\n"},
    {HEAD SERVERS "  distribution: ketma\n",
     "t.yml:5:17: error: a.distribution: found \"ketma\", allowed one of "
     "ketama, modula, modulo, random, range, slots\n"},
    {HEAD SERVERS "  hash: FNV1A_64\n",
     "t.yml:5:9: error: a.hash: found \"FNV1A_64\", allowed one of "
     "one_at_a_time, md5, crc16, crc32, crc32a, fnv1_64, fnv1a_64, fnv1_32, "
     "fnv1a_32, hsieh, murmur, jenkins, crc16_redis, murmur3, xxh3\n"},
    {HEAD SERVERS "  auth: nobody\n",
     "t.yml:5:9: error: a.auth: found \"nobody\", allowed pool or servers\n"},
    {HEAD SERVERS "  hash_chars: plain\n",
     "t.yml:5:15: error: a.hash_chars: found \"plain\", allowed signed or "
     "unsigned\n"},
    {HEAD SERVERS "  hash_tag: '{'\n",
     "t.yml:5:13: error: a.hash_tag: found \"{\", allowed exactly two "
     "characters such as \"{}\"\n"},
    {HEAD SERVERS "  hash_tag: {}\n",
     "t.yml:5:13: error: a.hash_tag: found an empty map of keys, allowed "
     "exactly two characters such as \"{}\"\n"},
    {"a:\n  listen: h:1\n  redis: false\n" SERVERS,
     "t.yml:3:10: error: a.redis: found \"false\", allowed true: memcached is "
     "not spoken here\n"},
    {"a:\n  listen: h:1\n  redis: yes\n" SERVERS,
     "t.yml:3:10: error: a.redis: found \"yes\", allowed true or false\n"},
    {HEAD SERVERS "  reuseport: 1\n",
     "t.yml:5:14: error: a.reuseport: found \"1\", allowed true or false\n"},
    {HEAD SERVERS "  timeout: -2\n",
     "t.yml:5:12: error: a.timeout: found \"-2\", allowed -1 or a duration "
     "from 0ms to 24h (units ms, s, m, h; without one it is milliseconds)\n"},
    {HEAD SERVERS "  request_limit: 1kb\n",
     "t.yml:5:18: error: a.request_limit: found \"1kb\", allowed a size from "
     "16kb to 3906250kb (units kb, mb, gb; without one it is bytes)\n"},
    {HEAD SERVERS "  commands: -@dangerous nosuch -keys\n",
     "t.yml:5:13: error: a.commands: found the rule \"nosuch\", allowed rules "
     "as in a server's ACL with spaces between them: +name, -name, "
     "-name|subcommand, +@category, -@category\n"},
    {HEAD SERVERS "  server_commands: +config +get\n",
     "t.yml:5:20: error: a.server_commands: found the rule \"+get\", allowed rules "
     "as in a server's ACL with spaces between them: +name, -name, "
     "-name|subcommand, +@category, -@category\n"},
    {HEAD SERVERS "  commands: [get]\n",
     "t.yml:5:13: error: a.commands: found a list, allowed rules "
     "as in a server's ACL with spaces between them: +name, -name, "
     "-name|subcommand, +@category, -@category\n"},
    {HEAD SERVERS "  backlog: many\n",
     "t.yml:5:12: error: a.backlog: found \"many\", allowed a number from 0 "
     "to 65535\n"},
    /* Keys. */
    {HEAD SERVERS "  distribtuion: ketama\n",
     "t.yml:5:3: error: a.distribtuion: found an unknown key, allowed the "
     "keys of pointsman.yml(5); did you mean distribution?\n"},
    {HEAD SERVERS "  completely_else: 1\n",
     "t.yml:5:3: error: a.completely_else: found an unknown key, allowed the "
     "keys of pointsman.yml(5)\n"},
    {HEAD SERVERS "  \"a\\nb\": 1\n",
     "t.yml:5:3: error: a.\"a\\x0ab\": found an unknown key, allowed the keys "
     "of pointsman.yml(5)\n"},
    {HEAD SERVERS "  timeout: 1\n  timeout: 1\n",
     "t.yml:6:3: error: found the key \"timeout\" again, allowed once (first "
     "on line 5)\n"},
    {HEAD SERVERS HEAD SERVERS,
     "t.yml:5:1: error: found the key \"a\" again, allowed once (first on "
     "line 1)\n"},
    /* Values that contradict each other. */
    {HEAD SERVERS "  reconnect_min: 5s\n",
     "t.yml:5:3: error: a.reconnect_min: found 5s, allowed up to "
     "reconnect_max (2s)\n"},
    {HEAD SERVERS "  connections_per_server: 1\n  server_connections: 2\n",
     "t.yml:6:3: error: a.server_connections: found 2, allowed up to "
     "connections_per_server (1)\n"},
    {HEAD SERVERS "  output_low_water: 128mb\n",
     "t.yml:5:3: error: a.output_low_water: found 128mb, allowed up to "
     "client_output_limit (64mb)\n"},
    {HEAD SERVERS "  redis_user: u\n",
     "t.yml:5:3: error: a.redis_user: found without redis_auth, allowed only "
     "together with it\n"},
    /* Servers. */
    {HEAD "  servers:\n    - h:1\n",
     "t.yml:5:7: error: a.servers: found \"h:1\", allowed host:port:weight "
     "[name] or /path:weight [name]\n"},
    {HEAD "  servers: [h:1:0]\n",
     "t.yml:4:13: error: a.servers: found \"h:1:0\", allowed host:port:weight "
     "[name] or /path:weight [name] with a weight from 1 to 2147483647\n"},
    {HEAD "  servers: []\n",
     "t.yml:4:12: error: a.servers: found an empty list, allowed a list of "
     "host:port:weight [name]\n"},
    {HEAD "  servers: [[x]]\n",
     "t.yml:4:13: error: a.servers: found a list, allowed host:port:weight "
     "[name], /path:weight [name] or {name: X, address: Y, ...}\n"},
    {HEAD "  servers: [h:1:1 x, h:2:1 x]\n",
     "t.yml:4:22: error: a.servers: found the name \"x\" again, allowed "
     "once\n"},
    {HEAD "  servers: [{name: x}]\n",
     "t.yml:4:13: error: a.servers.address: found nothing, allowed host:port, "
     "[v6]:port or /path\n"},
    {HEAD "  servers: [{address: h:0}]\n",
     "t.yml:4:23: error: a.servers.address: found \"h:0\", allowed a port "
     "from 1 to 65535 behind the host\n"},
    {HEAD "  servers: [{address: h:1, name: a b}]\n",
     "t.yml:4:34: error: a.servers.name: found \"a b\", allowed a name of 1 "
     "to 1024 visible characters\n"},
    {HEAD "  servers: [{address: h:1, weight: 0}]\n",
     "t.yml:4:36: error: a.servers.weight: found \"0\", allowed a number from "
     "1 to 2147483647\n"},
    {HEAD "  servers: [{address: h:1, wieght: 1}]\n",
     "t.yml:4:28: error: a.servers.wieght: found an unknown key, allowed the "
     "keys of pointsman.yml(5); did you mean weight?\n"},
};

START_TEST(fault_is_told_with_place_key_found_and_allowed)
{
    expect_refused(refusals[_i].text, refusals[_i].message);
}
END_TEST

START_TEST(one_address_is_listened_on_once)
{
    expect_refused(
        "a: {listen: h:1, redis: true, servers: [h:1:1]}\n"
        "b: {listen: [h:2, h:1], redis: true, servers: [h:1:1]}\n",
        "t.yml:2:19: error: b.listen: found \"h:1\", where a listens already, "
        "allowed another address\n");
    expect_refused(
        "a: {listen: /s 0600, redis: true, servers: [h:1:1]}\n"
        "b: {listen: /s, redis: true, servers: [h:1:1]}\n",
        "t.yml:2:13: error: b.listen: found \"/s\", where a listens already, "
        "allowed another address\n");
    expect_refused(
        "a: {listen: 127.0.0.1:22222, redis: true, servers: [h:1:1]}\n",
        "t.yml:1:13: error: a.listen: found \"127.0.0.1:22222\", where stats "
        "listens already, allowed another address\n");
    expect_messages("a: {listen: [h:0, h:0], redis: true, servers: [h:1:1]}\n"
                    "b: {listen: h:0, redis: true, servers: [h:1:1]}\n", "");
}
END_TEST

START_TEST(warning_is_told_and_the_file_is_taken)
{
    expect_messages("a:\n  listen: h:1\n" SERVERS,
                    "t.yml:1:1: warning: a.redis: left out, taken as true "
                    "(twemproxy takes it as false, which is memcached)\n");
    expect_messages(HEAD SERVERS "  client_connections: 99\n",
                    "t.yml:5:3: warning: a.client_connections: is enforced: "
                    "client 100 and later ones are refused (twemproxy ignores "
                    "it)\n");
    expect_messages(HEAD SERVERS "  client_connections: 0\n", "");
    expect_messages(HEAD SERVERS "  auto_eject_hosts: true\n", "");
    expect_messages(HEAD SERVERS "  on_server_down: eject\n", "");
    expect_messages(HEAD SERVERS "  reuseport: true\n",
                    "t.yml:5:3: warning: a.reuseport: has no effect: one "
                    "process serves all cores\n");
    expect_messages(HEAD SERVERS "  timeout: 1\n  connect_timeout: 1\n"
                                 "  request_timeout: 1\n",
                    "t.yml:5:3: warning: a.timeout: has no effect beside "
                    "connect_timeout and request_timeout\n");
}
END_TEST

START_TEST(all_faults_are_told_at_once)
{
    expect_refused(
        "a:\n  lisen: h:1\n  hash: x\n  servers: [h:1, h:2]\nb: 1\n",
        "t.yml:2:3: error: a.lisen: found an unknown key, allowed the keys of "
        "pointsman.yml(5); did you mean listen?\n"
        "t.yml:3:9: error: a.hash: found \"x\", allowed one of one_at_a_time, "
        "md5, crc16, crc32, crc32a, fnv1_64, fnv1a_64, fnv1_32, fnv1a_32, "
        "hsieh, murmur, jenkins, crc16_redis, murmur3, xxh3\n"
        "t.yml:4:13: error: a.servers: found \"h:1\", allowed "
        "host:port:weight [name] or /path:weight [name]\n"
        "t.yml:4:18: error: a.servers: found \"h:2\", allowed "
        "host:port:weight [name] or /path:weight [name]\n"
        "t.yml:1:1: error: a.listen: found nothing, allowed host:port, "
        "[v6]:port or /path [octal mode]\n"
        "t.yml:1:1: warning: a.redis: left out, taken as true (twemproxy takes "
        "it as false, which is memcached)\n"
        "t.yml:5:4: error: b: found no keys, allowed a pool with listen, "
        "servers ...\n");
}
END_TEST

static size_t
count_lines(const char *text)
{
    size_t lines = 0;

    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

START_TEST(endless_faults_are_counted_not_told)
{
    struct buf text = {0};

    buf_append_str(&text, HEAD SERVERS);
    for (int i = 0; i < 1000; i++)
        buf_printf(&text, "  unknown%d: 1\n", i);
    buf_append_char(&text, '\0');
    struct config_case c = case_parse(text.data);
    ck_assert_ptr_null(c.settings);
    ck_assert_uint_eq(count_lines(c.messages.data), 21);
    ck_assert_ptr_nonnull(strstr(
        c.messages.data, "t.yml: error: 980 more errors are not shown\n"));
    case_fini(&c);
    buf_fini(&text);
}
END_TEST

START_TEST(long_and_strange_text_is_cut_and_escaped)
{
    struct buf text = {0};

    buf_append_str(&text, HEAD SERVERS "  backlog: \"\\x1b\\\"");
    for (int i = 0; i < 5000; i++)
        buf_append_char(&text, 'x');
    buf_append_str(&text, "\"\n");
    buf_append_char(&text, '\0');
    struct config_case c = case_parse(text.data);
    ck_assert_ptr_null(c.settings);
    ck_assert_uint_lt(c.messages.len, 300);
    ck_assert_ptr_nonnull(strstr(c.messages.data, "found \"\\x1b\\\"xxx"));
    case_fini(&c);
    buf_fini(&text);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("messages");

    tcase_add_loop_test(tcase, fault_is_told_with_place_key_found_and_allowed,
                        0, ARRAY_LEN(refusals));
    tcase_add_test(tcase, one_address_is_listened_on_once);
    tcase_add_test(tcase, warning_is_told_and_the_file_is_taken);
    tcase_add_test(tcase, all_faults_are_told_at_once);
    tcase_add_test(tcase, endless_faults_are_counted_not_told);
    tcase_add_test(tcase, long_and_strange_text_is_cut_and_escaped);
    return unit_run("config", tcase);
}
