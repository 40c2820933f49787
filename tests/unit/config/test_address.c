/*
 * tests/unit/config/test_address.c - hosts, ports and paths.
 */
#include "config/address.h"

#include "config_case.h"
#include "guard.h"

static void
expect_host(const char *text, enum address_use use, const char *host,
            uint16_t port)
{
    struct address_text address;

    ck_assert_msg(address_text_parse(view_str(text), use, &address) == NULL,
                  "%s", text);
    ck_assert_str_eq(address.host, host);
    ck_assert_uint_eq(address.port, port);
    ck_assert_ptr_null(address.path);
    ck_assert_int_eq(address.mode, -1);
    ck_assert_str_eq(address.text, text);
    address_text_fini(&address);
}

static void
expect_path(const char *text, enum address_use use, const char *path, int mode)
{
    struct address_text address;

    ck_assert_msg(address_text_parse(view_str(text), use, &address) == NULL,
                  "%s", text);
    ck_assert_str_eq(address.path, path);
    ck_assert_int_eq(address.mode, mode);
    ck_assert_ptr_null(address.host);
    address_text_fini(&address);
}

static void
expect_no_address(const char *text, enum address_use use, const char *allowed)
{
    struct address_text address;
    const char *answer = address_text_parse(view_str(text), use, &address);

    ck_assert_msg(answer != NULL, "%s", text);
    ck_assert_str_eq(answer, allowed);
}

START_TEST(port_stands_behind_the_last_colon)
{
    expect_host("127.0.0.1:22121", ADDRESS_LISTEN, "127.0.0.1", 22121);
    expect_host("::1:22121", ADDRESS_LISTEN, "::1", 22121);
    expect_host("[::1]:22121", ADDRESS_LISTEN, "::1", 22121);
    expect_host("LOCALHOST:65535", ADDRESS_SERVER, "LOCALHOST", 65535);
    expect_host("redis_1.example.org.:1", ADDRESS_SERVER,
                "redis_1.example.org.", 1);
}
END_TEST

START_TEST(listening_takes_port_0_and_every_address_servers_do_not)
{
    expect_host("h:0", ADDRESS_LISTEN, "h", 0);
    expect_host("*:1", ADDRESS_LISTEN, "*", 1);
    expect_host("h:0", ADDRESS_STATS, "h", 0);
    expect_no_address("h:0", ADDRESS_SERVER,
                      "a port from 1 to 65535 behind the host");
    expect_no_address("*:1", ADDRESS_SERVER,
                      "a host name or address before the port");
}
END_TEST

START_TEST(path_may_have_a_mode_where_one_listens)
{
    expect_path("/run/a.sock", ADDRESS_LISTEN, "/run/a.sock", -1);
    expect_path("/run/a.sock 0660", ADDRESS_LISTEN, "/run/a.sock", 0660);
    expect_path("/run/a b.sock 777", ADDRESS_LISTEN, "/run/a b.sock", 0777);
    expect_path("/run/a b.sock", ADDRESS_SERVER, "/run/a b.sock", -1);
    expect_no_address("/run/a.sock 1777", ADDRESS_LISTEN,
                      "an octal mode up to 0777 behind the path");
    expect_no_address("/run/a.sock 068", ADDRESS_LISTEN,
                      "an octal mode up to 0777 behind the path");
    expect_no_address("/run/a.sock ", ADDRESS_LISTEN,
                      "an octal mode up to 0777 behind the path");
}
END_TEST

START_TEST(path_must_fit_a_socket_address)
{
    char path[ADDRESS_PATH_MAX + 2] = {0};

    memset(path, 'x', ADDRESS_PATH_MAX);
    path[0] = '/';
    expect_path(path, ADDRESS_SERVER, path, -1);
    path[ADDRESS_PATH_MAX] = 'x';
    expect_no_address(path, ADDRESS_SERVER,
                      "the path of a UNIX socket, up to 107 bytes");
    expect_no_address("/", ADDRESS_SERVER,
                      "the path of a UNIX socket, up to 107 bytes");
    expect_no_address("/run/a.sock", ADDRESS_STATS,
                      "host:port, [v6]:port or off");
}
END_TEST

START_TEST(all_else_is_refused)
{
    expect_no_address("", ADDRESS_LISTEN,
                      "host:port, [v6]:port or /path [octal mode]");
    expect_no_address("host", ADDRESS_SERVER,
                      "host:port, [v6]:port or /path");
    expect_no_address(":1", ADDRESS_LISTEN,
                      "a host name or address before the port");
    expect_no_address("a b:1", ADDRESS_LISTEN,
                      "a host name or address before the port");
    expect_no_address("[]:1", ADDRESS_LISTEN,
                      "a host name or address before the port");
    expect_no_address("[::1:1", ADDRESS_LISTEN,
                      "a host name or address before the port");
    expect_no_address("h:", ADDRESS_LISTEN,
                      "a port up to 65535 behind the host");
    expect_no_address("h:65536", ADDRESS_LISTEN,
                      "a port up to 65535 behind the host");
    expect_no_address("h:-1", ADDRESS_LISTEN,
                      "a port up to 65535 behind the host");
    expect_no_address("h:1x", ADDRESS_SERVER,
                      "a port from 1 to 65535 behind the host");
}
END_TEST

START_TEST(cut_anywhere_nothing_is_read_beyond)
{
    static const char *const texts[] = {"[::1]:22121", "/run/a.sock 0660",
                                        "host:80"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        for (size_t cut = 0; cut <= strlen(texts[i]); cut++) {
            struct guard guard = guard_copy(texts[i], cut);
            struct view bytes = view_of(guard.data, guard.len);
            struct address_text address;
            if (address_text_parse(bytes, ADDRESS_LISTEN, &address) == NULL) {
                ck_assert_uint_eq(strlen(address.text), cut);
                address_text_fini(&address);
            }
            guard_free(&guard);
        }
    }
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("address");

    tcase_add_test(tcase, port_stands_behind_the_last_colon);
    tcase_add_test(tcase,
                   listening_takes_port_0_and_every_address_servers_do_not);
    tcase_add_test(tcase, path_may_have_a_mode_where_one_listens);
    tcase_add_test(tcase, path_must_fit_a_socket_address);
    tcase_add_test(tcase, all_else_is_refused);
    tcase_add_test(tcase, cut_anywhere_nothing_is_read_beyond);
    return unit_run("config", tcase);
}
