/*
 * tests/unit/config/test_settings.c - every row of settings.def.
 */
#include "config/settings.h"

#include <inttypes.h>

#include "config/section.h"
#include "config_case.h"

#define POOL_HEAD "a:\n  listen: h:1\n  redis: true\n  servers: [h:1:1 s]\n"
#define NAMED_HEAD "a:\n  listen: h:1\n  sentinels: [h:2]\n" \
                   "  servers: [{master: m}]\n"
#define CLUSTER_HEAD "a:\n  listen: h:1\n  distribution: slots\n" \
                     "  cluster: [h:2]\n"
#define PROCESS_HEAD POOL_HEAD "pointsman:\n"

static const struct value_row pool_rows[] = {
#define POOL(key, TYPE, def, min, max, help) \
    SECTION_ROW_##TYPE(struct pool_settings, key, min, max)
#include "config/settings.def"
};

static const struct value_row process_rows[] = {
#define PROCESS(key, TYPE, def, min, max, help) \
    SECTION_ROW_##TYPE(struct settings, key, min, max)
#include "config/settings.def"
};

/* What else a key needs to be good at its limits. */
static const char *
companion(const char *key)
{
    struct view name = view_str(key);

    if (view_equal(name, VIEW("reconnect_min")))
        return "  reconnect_max: 10m\n";
    if (view_equal(name, VIEW("reconnect_max")))
        return "  reconnect_min: 1\n";
    if (view_equal(name, VIEW("resolve_ttl_min")))
        return "  resolve_ttl_max: 24h\n";
    if (view_equal(name, VIEW("resolve_ttl_max")))
        return "  resolve_ttl_min: 10\n";
    if (view_equal(name, VIEW("server_connections")))
        return "  connections_per_server: 100000\n";
    if (view_equal(name, VIEW("output_low_water")))
        return "  client_output_limit: 2gb\n";
    if (view_equal(name, VIEW("redis_user")))
        return "  redis_auth: x\n";
    if (view_equal(name, VIEW("sentinel_user")))
        return "  sentinel_auth: x\n";
    return "";
}

static struct config_case
parse_row(const char *head, const char *key, const char *value)
{
    struct buf text = {0};

    buf_printf(&text, "%s  %s: %s\n%s", head, key, value, companion(key));
    buf_append_char(&text, '\0');
    struct config_case c = case_parse(text.data);
    buf_fini(&text);
    return c;
}

static int64_t
field_of(const struct value_row *row, const void *base)
{
    const char *field = (const char *)base + row->offset;

    if (row->type == VALUE_BOOL)
        return *(const bool *)(const void *)field;
    return *(const int64_t *)(const void *)field;
}

static void
expect_value(const char *head, const struct value_row *row, const char *value,
             int64_t expected)
{
    struct config_case c = parse_row(head, row->key, value);

    expect_accepted(&c, row->key);
    const void *base = c.settings;
    if (!view_equal(view_str(head), VIEW(PROCESS_HEAD)))
        base = c.settings->pools;
    ck_assert_msg(field_of(row, base) == expected,
                  "%s: %s is %" PRId64, row->key, value, field_of(row, base));
    case_fini(&c);
}

/* Refused, at the place of the value. */
static void
expect_wrong(const char *head, const struct value_row *row, const char *value)
{
    struct config_case c = parse_row(head, row->key, value);
    bool in_pool = !view_equal(view_str(head), VIEW(PROCESS_HEAD));
    /* Nothing stands right behind the colon, a value one further. */
    size_t column = strlen(row->key) + (value[0] == '\0' ? 4 : 5);
    char start[100];

    ck_assert_msg(c.settings == NULL, "accepted %s: %s", row->key, value);
    snprintf(start, sizeof(start), "t.yml:%d:%zu: error: %s.%s: found ",
             in_pool ? 5 : 6, column, in_pool ? "a" : "pointsman", row->key);
    ck_assert_msg(strncmp(c.messages.data, start, strlen(start)) == 0,
                  "%s\n%s", start, c.messages.data);
    case_fini(&c);
}

static void
check_limits(const char *head, const struct value_row *row)
{
    char text[32];

    for (int i = 0; i < 2; i++) {
        int64_t limit = i == 0 ? row->min : row->max;
        snprintf(text, sizeof(text), "%" PRId64, limit);
        expect_value(head, row, text, limit);
        snprintf(text, sizeof(text), "%" PRId64, i ? limit + 1 : limit - 1);
        expect_wrong(head, row, text);
    }
    expect_wrong(head, row, "18446744073709551616");
    expect_wrong(head, row, "1x");
    expect_wrong(head, row, "1.5");
}

static void
check_row(const char *head, const struct value_row *row)
{
    expect_wrong(head, row, "");
    expect_wrong(head, row, "{}");
    expect_wrong(head, row, "[1]");
    switch (row->type) {
    case VALUE_BOOL:
        expect_value(head, row, "true", true);
        expect_value(head, row, "false", false);
        expect_wrong(head, row, "yes");
        expect_wrong(head, row, "TRUE");
        expect_wrong(head, row, "1");
        return;
    case VALUE_COUNT:
        check_limits(head, row);
        expect_wrong(head, row, "1s");
        expect_wrong(head, row, "16kb");
        return;
    case VALUE_MSEC:
        check_limits(head, row);
        expect_value(head, row, "60s", 60000);
        expect_wrong(head, row, "64kb");
        return;
    case VALUE_USEC:
        check_limits(head, row);
        expect_value(head, row, "20ms", 20000);
        expect_wrong(head, row, "1m");
        return;
    case VALUE_BYTES:
        check_limits(head, row);
        expect_value(head, row, "128kb", 131072);
        expect_wrong(head, row, "30s");
        return;
    case VALUE_TEXT:
        expect_wrong(head, row, "''");
        expect_wrong(head, row, "\"a\\0b\"");
        return;
    }
}

/* A pool in which the key has an effect. */
static const char *
pool_head(const char *key)
{
    if (strncmp(key, "sentinel_", 9) == 0 || strcmp(key, "failover_hold") == 0)
        return NAMED_HEAD;
    if (strncmp(key, "cluster_refresh_", 16) == 0 ||
        strncmp(key, "replica_", 8) == 0 || strcmp(key, "zone") == 0)
        return CLUSTER_HEAD;
    return POOL_HEAD;
}

START_TEST(pool_key_keeps_its_type_and_limits)
{
    /* Secrets may hold any bytes but NUL and have a test of their own. */
    const struct value_row *row = &pool_rows[_i];

    check_row(pool_head(row->key), row);
}
END_TEST

START_TEST(process_key_keeps_its_type_and_limits)
{
    check_row(PROCESS_HEAD, &process_rows[_i]);
}
END_TEST

#define EXPECT_DEFAULT_BOOL(s, key, def) ck_assert_int_eq((s)->key, def);
#define EXPECT_DEFAULT_COUNT(s, key, def) ck_assert_uint_eq((s)->key, def);
#define EXPECT_DEFAULT_MSEC(s, key, def) ck_assert_int_eq((s)->key##_ms, def);
#define EXPECT_DEFAULT_USEC(s, key, def) ck_assert_int_eq((s)->key##_us, def);
#define EXPECT_DEFAULT_BYTES(s, key, def) \
    ck_assert_uint_eq((s)->key##_bytes, def);
#define EXPECT_DEFAULT_TEXT(s, key, def) ck_assert_ptr_eq((s)->key, def);

START_TEST(what_is_left_out_has_its_default)
{
    struct config_case c;
    const struct pool_settings *pool = case_pool(&c, POOL_HEAD);
    const struct settings *settings = c.settings;

#define POOL(key, TYPE, def, min, max, help) \
    EXPECT_DEFAULT_##TYPE(pool, key, def)
#define PROCESS(key, TYPE, def, min, max, help) \
    EXPECT_DEFAULT_##TYPE(settings, key, def)
#include "config/settings.def"
    ck_assert_uint_ge(settings->workers, 1);
    ck_assert_uint_le(settings->workers, 64);
    ck_assert(settings->has_stats);
    ck_assert_str_eq(settings->stats.text, "127.0.0.1:22222");
    ck_assert_uint_eq(settings->stats.port, 22222);
    ck_assert_int_eq(settings->log_level, LOG_LEVEL_INFO);
    ck_assert_int_eq(pool->distribution, DISTRIBUTION_KETAMA);
    ck_assert_int_eq(pool->hash, HASH_FNV1A_64);
    ck_assert(!pool->unsigned_chars);
    ck_assert(!pool->has_tag);
    ck_assert_int_eq(pool->range_by, RANGE_BY_NUMBER);
    /* Keys never move by themselves. */
    ck_assert_int_eq(pool->on_server_down, DOWN_ERROR);
    ck_assert_int_eq(pool->transactions, TRANSACTIONS_QUEUED);
    ck_assert_int_eq(pool->tracking, TRACKING_SHARED);
    ck_assert(!pool->auth_by_servers);
    ck_assert(!pool_ejects(pool));
    ck_assert_uint_eq(pool->servers[0].weight, 1);
    case_fini(&c);
}
END_TEST

START_TEST(process_words_are_read)
{
    struct config_case c;

    case_pool(&c, PROCESS_HEAD "  workers: 64\n  stats: off\n"
                               "  log_level: debug\n  log_file: /l\n");
    ck_assert_uint_eq(c.settings->workers, 64);
    ck_assert(!c.settings->has_stats);
    ck_assert_int_eq(c.settings->log_level, LOG_LEVEL_DEBUG);
    ck_assert_str_eq(c.settings->log_file, "/l");
    case_fini(&c);

    case_pool(&c, PROCESS_HEAD "  workers: auto\n  stats: '[::1]:0'\n");
    ck_assert_uint_ge(c.settings->workers, 1);
    ck_assert_str_eq(c.settings->stats.host, "::1");
    ck_assert_uint_eq(c.settings->stats.port, 0);
    case_fini(&c);
}
END_TEST

START_TEST(name_servers_are_one_or_several)
{
    struct config_case c;

    case_pool(&c, PROCESS_HEAD "  workers: 1\n");
    ck_assert_ptr_null(c.settings->resolver);
    case_fini(&c);
    case_pool(&c, PROCESS_HEAD "  resolver: 127.0.0.1:5353\n");
    ck_assert_str_eq(c.settings->resolver, "127.0.0.1:5353");
    case_fini(&c);
    case_pool(&c, PROCESS_HEAD "  resolver: ['10.0.0.2:53', '[::1]:54']\n");
    ck_assert_str_eq(c.settings->resolver, "10.0.0.2:53,[::1]:54");
    case_fini(&c);
}
END_TEST

START_TEST(pool_words_are_read)
{
    struct config_case c;
    const struct pool_settings *pool = case_pool(
        &c, "a:\n  listen: [h:0, /run/a.sock 0600]\n  redis: true\n"
            "  distribution: modula\n  hash: md5\n  hash_chars: unsigned\n"
            "  hash_tag: $$\n  servers: [h:1:1 x, h:1:2 y]\n");

    ck_assert_uint_eq(pool->listen_count, 2);
    ck_assert_uint_eq(pool->listens[0].port, 0);
    ck_assert_str_eq(pool->listens[1].path, "/run/a.sock");
    ck_assert_int_eq(pool->listens[1].mode, 0600);
    ck_assert_int_eq(pool->distribution, DISTRIBUTION_MODULA);
    ck_assert_int_eq(pool->hash, HASH_MD5);
    ck_assert(pool->unsigned_chars);
    ck_assert(pool->has_tag);
    ck_assert_int_eq(memcmp(pool->tag, "$$", 2), 0);
    ck_assert_str_eq(pool->servers[1].name, "y");
    ck_assert_uint_eq(pool->servers[1].weight, 2);
    case_fini(&c);
}
END_TEST

START_TEST(timeout_sets_both_deadlines_that_are_not_given)
{
    struct config_case c;
    const struct pool_settings *pool =
        case_pool(&c, POOL_HEAD "  timeout: 400");
    ck_assert_int_eq(pool->connect_timeout_ms, 400);
    ck_assert_int_eq(pool->request_timeout_ms, 400);
    case_fini(&c);

    pool = case_pool(&c, POOL_HEAD "  connect_timeout: 7\n  timeout: 400");
    ck_assert_int_eq(pool->connect_timeout_ms, 7);
    ck_assert_int_eq(pool->request_timeout_ms, 400);
    case_fini(&c);
}
END_TEST

START_TEST(timeout_without_end_leaves_the_defaults)
{
    static const char *const texts[] = {POOL_HEAD "  timeout: -1",
                                        POOL_HEAD "  timeout: 0"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct config_case c;
        const struct pool_settings *pool = case_pool(&c, texts[i]);
        ck_assert_int_eq(pool->connect_timeout_ms, 1000);
        ck_assert_int_eq(pool->request_timeout_ms, 15000);
        case_fini(&c);
    }
}
END_TEST

START_TEST(pools_keep_their_order_and_are_found_by_name)
{
    struct config_case c = case_parse(
        "zz: {listen: h:1, redis: true, servers: [h:1:1]}\n"
        "aa: {listen: h:2, redis: true, servers: [h:1:1]}\n");

    expect_accepted(&c, "two pools");
    ck_assert_uint_eq(c.settings->pool_count, 2);
    ck_assert_str_eq(c.settings->pools[0].name, "zz");
    ck_assert_ptr_eq(settings_find_pool(c.settings, VIEW("aa")),
                     &c.settings->pools[1]);
    ck_assert_ptr_null(settings_find_pool(c.settings, VIEW("a")));
    case_fini(&c);
}
END_TEST

START_TEST(missing_file_is_reported)
{
    struct buf messages = {0};

    ck_assert_ptr_null(settings_load("/does/not/exist.yml", &messages));
    buf_append_char(&messages, '\0');
    ck_assert_str_eq(messages.data, "/does/not/exist.yml: error: cannot be "
                                    "opened: No such file or directory\n");
    buf_fini(&messages);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("settings");

    tcase_add_loop_test(tcase, pool_key_keeps_its_type_and_limits, 0,
                        ARRAY_LEN(pool_rows));
    tcase_add_loop_test(tcase, process_key_keeps_its_type_and_limits, 0,
                        ARRAY_LEN(process_rows));
    tcase_add_test(tcase, what_is_left_out_has_its_default);
    tcase_add_test(tcase, process_words_are_read);
    tcase_add_test(tcase, name_servers_are_one_or_several);
    tcase_add_test(tcase, pool_words_are_read);
    tcase_add_test(tcase, timeout_sets_both_deadlines_that_are_not_given);
    tcase_add_test(tcase, timeout_without_end_leaves_the_defaults);
    tcase_add_test(tcase, pools_keep_their_order_and_are_found_by_name);
    tcase_add_test(tcase, missing_file_is_reported);
    return unit_run("config", tcase);
}
