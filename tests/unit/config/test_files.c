/*
 * tests/unit/config/test_files.c - whole files: those of twemproxy's users
 * and our own samples.  CONF_DIR is the folder of the samples.
 */
#include <string.h>

#include "config/slurp.h"
#include "config_case.h"

static void
expect_server(const struct pool_settings *pool, size_t index, const char *name,
              const char *address, uint32_t weight)
{
    ck_assert_uint_lt(index, pool->server_count);
    ck_assert_str_eq(pool->servers[index].name, name);
    ck_assert_str_eq(pool->servers[index].address.text, address);
    ck_assert_uint_eq(pool->servers[index].weight, weight);
}

/* As twemproxy comes with it; the pools without redis: true are memcached
 * there, and only warned of here. */
static const char shipped[] =
    "alpha:\n"
    "  listen: 127.0.0.1:22121\n"
    "  hash: fnv1a_64\n"
    "  distribution: ketama\n"
    "  auto_eject_hosts: true\n"
    "  redis: true\n"
    "  server_retry_timeout: 2000\n"
    "  server_failure_limit: 1\n"
    "  servers:\n"
    "   - 127.0.0.1:6379:1\n"
    "\n"
    "beta:\n"
    "  listen: 127.0.0.1:22122\n"
    "  hash: fnv1a_64\n"
    "  hash_tag: \"{}\"\n"
    "  distribution: ketama\n"
    "  auto_eject_hosts: false\n"
    "  timeout: 400\n"
    "  redis: true\n"
    "  servers:\n"
    "   - 127.0.0.1:6380:1 server1\n"
    "   - 127.0.0.1:6381:1 server2\n"
    "   - 127.0.0.1:6382:1 server3\n"
    "   - 127.0.0.1:6383:1 server4\n"
    "\n"
    "gamma:\n"
    "  listen: 127.0.0.1:22123\n"
    "  hash: fnv1a_64\n"
    "  distribution: ketama\n"
    "  timeout: 400\n"
    "  backlog: 1024\n"
    "  preconnect: true\n"
    "  auto_eject_hosts: true\n"
    "  server_retry_timeout: 2000\n"
    "  server_failure_limit: 3\n"
    "  servers:\n"
    "   - 127.0.0.1:11212:1\n"
    "   - 127.0.0.1:11213:1\n"
    "\n"
    "delta:\n"
    "  listen: 127.0.0.1:22124\n"
    "  hash: fnv1a_64\n"
    "  distribution: ketama\n"
    "  timeout: 100\n"
    "  auto_eject_hosts: true\n"
    "  server_retry_timeout: 2000\n"
    "  server_failure_limit: 1\n"
    "  servers:\n"
    "   - 127.0.0.1:11214:1\n"
    "   - 127.0.0.1:11215:1\n"
    "   - 127.0.0.1:11216:1\n"
    "\n"
    "omega:\n"
    "  listen: /tmp/gamma 0666\n"
    "  hash: hsieh\n"
    "  distribution: ketama\n"
    "  auto_eject_hosts: false\n"
    "  servers:\n"
    "   - 127.0.0.1:11214:100000\n"
    "   - 127.0.0.1:11215:1\n";

START_TEST(file_that_comes_with_twemproxy_loads)
{
    struct config_case c = case_parse(shipped);
    expect_accepted(&c, shipped);
    ck_assert_ptr_null(strstr(c.messages.data, "error"));
    ck_assert_uint_eq(c.settings->pool_count, 5);

    const struct pool_settings *alpha = &c.settings->pools[0];
    ck_assert(alpha->auto_eject_hosts);
    ck_assert_int_eq(alpha->server_retry_timeout_ms, 2000);
    ck_assert_uint_eq(alpha->server_failure_limit, 1);
    expect_server(alpha, 0, "127.0.0.1:6379", "127.0.0.1:6379", 1);

    const struct pool_settings *beta = &c.settings->pools[1];
    ck_assert(beta->has_tag);
    ck_assert_int_eq(beta->request_timeout_ms, 400);
    expect_server(beta, 3, "server4", "127.0.0.1:6383", 1);

    const struct pool_settings *gamma = &c.settings->pools[2];
    ck_assert_uint_eq(gamma->backlog, 1024);
    ck_assert(gamma->preconnect);

    const struct pool_settings *omega = &c.settings->pools[4];
    ck_assert_str_eq(omega->listens[0].path, "/tmp/gamma");
    ck_assert_int_eq(omega->listens[0].mode, 0666);
    ck_assert_int_eq(omega->hash, HASH_HSIEH);
    expect_server(omega, 0, "127.0.0.1:11214", "127.0.0.1:11214", 100000);
    case_fini(&c);
}
END_TEST

/* Every key that twemproxy has. */
START_TEST(every_key_of_twemproxy_loads)
{
    static const char text[] =
        "all:\n"
        "  listen: 0.0.0.0:22121\n"
        "  hash: murmur\n"
        "  hash_tag: $$\n"
        "  distribution: modula\n"
        "  timeout: 30000\n"
        "  backlog: 65535\n"
        "  client_connections: 200\n"
        "  redis: true\n"
        "  tcpkeepalive: false\n"
        "  reuseport: false\n"
        "  redis_auth: foobar\n"
        "  redis_db: 5\n"
        "  preconnect: true\n"
        "  auto_eject_hosts: false\n"
        "  server_connections: 2\n"
        "  server_retry_timeout: 0\n"
        "  server_failure_limit: 0\n"
        "  servers:\n"
        "  - redis-1.example.org:6379:10 one\n"
        "  - 10.0.0.2:11211:1\n"
        "  - /var/run/redis/redis.sock:1\n"
        "  - /var/run/redis/other.sock:2 four\n"
        "  - ::1:6379:1 five\n";

    struct config_case c = case_parse(text);
    expect_accepted(&c, text);
    const struct pool_settings *pool = &c.settings->pools[0];
    ck_assert(!pool->tcpkeepalive);
    ck_assert_str_eq(pool->redis_auth, "foobar");
    ck_assert_uint_eq(pool->redis_db, 5);
    ck_assert_uint_eq(pool->client_connections, 200);
    ck_assert_uint_eq(pool->server_connections, 2);
    ck_assert_int_eq(pool->server_retry_timeout_ms, 0);
    expect_server(pool, 0, "one", "redis-1.example.org:6379", 10);
    expect_server(pool, 1, "10.0.0.2", "10.0.0.2:11211", 1);
    expect_server(pool, 2, "/var/run/redis/redis.sock:",
                  "/var/run/redis/redis.sock", 1);
    expect_server(pool, 3, "four", "/var/run/redis/other.sock", 2);
    expect_server(pool, 4, "five", "::1:6379", 1);
    ck_assert_str_eq(
        c.messages.data,
        "t.yml:11:3: warning: all.reuseport: has no effect: one process "
        "serves all cores\n"
        "t.yml:8:3: warning: all.client_connections: is enforced: client 201 "
        "and later ones are refused (twemproxy ignores it)\n");
    case_fini(&c);
}
END_TEST

static const char *const samples[] = {
    "ketama.yml", "modula.yml", "modulo.yml",     "range.yml",
    "slots.yml",  "pointsman.yml", "nutcracker.yml", "sentinel.yml",
};

START_TEST(sample_loads)
{
    struct buf path = {0}, messages = {0};

    buf_printf(&path, "%s/%s", CONF_DIR, samples[_i]);
    struct settings *settings = settings_load(path.data, &messages);
    ck_assert_msg(settings != NULL, "%s:\n%.*s", path.data, (int)messages.len,
                  messages.data);
    /* Only what stands for a file of twemproxy may be warned of. */
    if (!view_equal(view_str(samples[_i]), VIEW("nutcracker.yml")))
        ck_assert_uint_eq(messages.len, 0);
    settings_free(&settings);
    buf_fini(&messages);
    buf_fini(&path);
}
END_TEST

/* What stands between the first line that is "```yaml" and the next "```". */
static struct view
example_of(struct view text)
{
    struct view head = VIEW("\n```yaml\n"), foot = VIEW("\n```\n");
    const char *from = memmem(text.data, text.len, head.data, head.len);

    ck_assert_ptr_nonnull(from);
    from += head.len;
    size_t rest = text.len - (size_t)(from - text.data);
    const char *to = memmem(from, rest, foot.data, foot.len);
    ck_assert_ptr_nonnull(to);
    return view_of(from, (size_t)(to - from) + 1);
}

START_TEST(example_in_the_readme_loads)
{
    struct buf text = {0}, messages = {0};
    struct error error;

    ck_assert_int_eq(slurp(CONF_DIR "/../README.md", 1 << 20, &text, &error),
                     0);
    struct settings *settings = settings_parse(
        "README.md", example_of(buf_view(&text)), &messages);
    ck_assert_msg(settings != NULL, "%.*s", (int)messages.len, messages.data);
    ck_assert_uint_eq(messages.len, 0);
    settings_free(&settings);
    buf_fini(&messages);
    buf_fini(&text);
}
END_TEST

/* The sample says that it shows the defaults. */
START_TEST(sample_of_everything_shows_the_defaults)
{
    struct buf messages = {0};
    struct settings *settings =
        settings_load(CONF_DIR "/pointsman.yml", &messages);

    ck_assert_ptr_nonnull(settings);
    const struct pool_settings *pool = &settings->pools[0];
#define SAME_BOOL(s, key, def) ck_assert_int_eq((s)->key, def);
#define SAME_COUNT(s, key, def) ck_assert_uint_eq((s)->key, def);
#define SAME_MSEC(s, key, def) ck_assert_int_eq((s)->key##_ms, def);
#define SAME_USEC(s, key, def) ck_assert_int_eq((s)->key##_us, def);
#define SAME_BYTES(s, key, def) ck_assert_uint_eq((s)->key##_bytes, def);
#define SAME_TEXT(s, key, def)
#define POOL(key, TYPE, def, min, max, help) SAME_##TYPE(pool, key, def)
#define PROCESS(key, TYPE, def, min, max, help) SAME_##TYPE(settings, key, def)
#include "config/settings.def"
    settings_free(&settings);
    buf_fini(&messages);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("files");

    tcase_add_test(tcase, file_that_comes_with_twemproxy_loads);
    tcase_add_test(tcase, every_key_of_twemproxy_loads);
    tcase_add_loop_test(tcase, sample_loads, 0, ARRAY_LEN(samples));
    tcase_add_test(tcase, example_in_the_readme_loads);
    tcase_add_test(tcase, sample_of_everything_shows_the_defaults);
    return unit_run("config", tcase);
}
