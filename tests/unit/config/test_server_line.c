/*
 * tests/unit/config/test_server_line.c - twemproxy's server lines.
 */
#include "config/server_line.h"

#include "base/mem.h"
#include "config/address.h"
#include "config_case.h"
#include "guard.h"

struct golden {
    const char *line;
    const char *name;
    const char *host; /* or the path */
    uint16_t port;
    uint32_t weight;
};

static const struct golden golden[] = {
    {"127.0.0.1:6379:1", "127.0.0.1:6379", "127.0.0.1", 6379, 1},
    {"127.0.0.1:6379:1 server1", "server1", "127.0.0.1", 6379, 1},
    {"127.0.0.1:11211:1", "127.0.0.1", "127.0.0.1", 11211, 1},
    {"127.0.0.1:11211:1 s", "s", "127.0.0.1", 11211, 1},
    {"LOCALHOST:6379:10", "LOCALHOST:6379", "LOCALHOST", 6379, 10},
    {"/tmp/redis.sock:1", "/tmp/redis.sock:", "/tmp/redis.sock", 0, 1},
    {"/tmp/redis.sock:2 a", "a", "/tmp/redis.sock", 0, 2},
    {"/tmp/my redis.sock:2 a", "a", "/tmp/my redis.sock", 0, 2},
    {"/tmp/a:b.sock:3", "/tmp/a:b.sock:", "/tmp/a:b.sock", 0, 3},
    {"::1:6379:1", "::1:6379", "::1", 6379, 1},
    {"[::1]:6379:1", "[::1]:6379", "::1", 6379, 1},
    {"[::1]:11211:1", "[::1]", "::1", 11211, 1},
    {"h:06379:01", "h:06379", "h", 6379, 1},
    {"h:1:2147483647 a:b", "a:b", "h", 1, 2147483647},
};

static void
server_fini(struct server_settings *server)
{
    mem_free(server->name);
    address_text_fini(&server->address);
}

START_TEST(line_is_read_from_its_end_as_twemproxy_does)
{
    const struct golden *g = &golden[_i];
    struct server_settings server = {0};

    ck_assert_ptr_null(server_line_parse(view_str(g->line), &server));
    ck_assert_str_eq(server.name, g->name);
    ck_assert_str_eq(g->port == 0 ? server.address.path : server.address.host,
                     g->host);
    ck_assert_uint_eq(server.address.port, g->port);
    ck_assert_uint_eq(server.weight, g->weight);
    server_fini(&server);
}
END_TEST

START_TEST(line_without_its_parts_is_refused)
{
    static const char *const wrong[] = {
        "", "h", "h:1", "h:1:0", "h:1:x", "h:1:-1", "h:1:2147483648", "h:0:1",
        "h:65536:1", "h:x:1", ":1:1", "h:1:1 ", "h:1:1  a", "h:1:1 a b",
        "/tmp/s", "/tmp/s:0", "/tmp/s:x", "/:1", "*:1:1", "h:1: 1", " h:1:1",
        "/tmp/my redis.sock:2",
    };

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct server_settings server = {0};
        ck_assert_msg(server_line_parse(view_str(wrong[i]), &server) != NULL,
                      "%s", wrong[i]);
        ck_assert_ptr_null(server.name);
        ck_assert_ptr_null(server.address.text);
    }
}
END_TEST

START_TEST(name_is_visible_and_not_endless)
{
    char name[SERVER_NAME_MAX + 1];

    memset(name, 'n', sizeof(name));
    ck_assert(server_line_is_name(view_of(name, SERVER_NAME_MAX)));
    ck_assert(!server_line_is_name(view_of(name, SERVER_NAME_MAX + 1)));
    ck_assert(server_line_is_name(VIEW("\xc3\xa4")));
    ck_assert(!server_line_is_name(VIEW("")));
    ck_assert(!server_line_is_name(VIEW("a b")));
    ck_assert(!server_line_is_name(VIEW("a\tb")));
    ck_assert(!server_line_is_name(VIEW("a\0b")));
}
END_TEST

START_TEST(cut_anywhere_nothing_is_read_beyond)
{
    for (size_t cut = 0; cut <= strlen(golden[_i].line); cut++) {
        struct guard guard = guard_copy(golden[_i].line, cut);
        struct server_settings server = {0};
        const char *allowed =
            server_line_parse(view_of(guard.data, guard.len), &server);
        ck_assert_int_eq(allowed == NULL, server.name != NULL);
        server_fini(&server);
        guard_free(&guard);
    }
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("server_line");

    tcase_add_loop_test(tcase, line_is_read_from_its_end_as_twemproxy_does, 0,
                        ARRAY_LEN(golden));
    tcase_add_test(tcase, line_without_its_parts_is_refused);
    tcase_add_test(tcase, name_is_visible_and_not_endless);
    tcase_add_loop_test(tcase, cut_anywhere_nothing_is_read_beyond, 0,
                        ARRAY_LEN(golden));
    return unit_run("config", tcase);
}
