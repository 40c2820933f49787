/*
 * config/pool.c - the keys of a pool.
 *
 * distribution and range_by are read first, since the servers are written
 * differently for each; then all keys in their order; then the servers.
 */
#include "config/pool.h"

#include "base/log.h"
#include "base/mem.h"
#include "config/address.h"
#include "config/check.h"
#include "config/cluster.h"
#include "config/secret.h"
#include "config/section.h"
#include "config/sentinel.h"
#include "config/servers.h"
#include "config/zones.h"

#define COMMANDS_ALLOWED                                                \
    "rules as in a server's ACL with spaces between them: +name, -name, " \
    "-name|subcommand, +@category, -@category"
#define LISTEN_ALLOWED "host:port, [v6]:port or /path [octal mode]"

/* A failure leaves an address without text, to keep step with the nodes. */
static void
read_one_listen(struct report *report, const struct node *node,
                struct address_text *address)
{
    const char *allowed = LISTEN_ALLOWED;

    if (node->kind == NODE_TEXT && node->text_len > 0)
        allowed = address_text_parse(node_text(node), ADDRESS_LISTEN, address);
    if (allowed != NULL)
        report_found(report, node, "listen", "%s", allowed);
}

static void
read_listen(struct report *report, const struct node *node, void *target)
{
    struct pool_settings *pool = target;
    const struct node *item = node->kind == NODE_LIST ? node->first : node;
    size_t count = node->kind == NODE_LIST ? node->count : 1;

    if (count == 0 || count > POOL_LISTENS_MAX) {
        report_found(report, node, "listen", "1 to %d of " LISTEN_ALLOWED,
                     POOL_LISTENS_MAX);
        return;
    }
    pool->listens = mem_array(count, sizeof(*pool->listens));
    pool->listen_count = count;
    for (size_t i = 0; i < count; i++, item = item->next)
        read_one_listen(report, item, &pool->listens[i]);
}

static void
report_hash(struct report *report, const struct node *node)
{
    struct buf names = {0};

    for (int i = 0; i < HASH_COUNT; i++)
        buf_printf(&names, "%s%s", i == 0 ? "" : ", ",
                   hash_name((enum hash_kind)i));
    report_found(report, node, "hash", "one of %.*s", (int)names.len,
                 names.data);
    buf_fini(&names);
}

static void
read_hash(struct report *report, const struct node *node, void *target)
{
    struct pool_settings *pool = target;
    int hash = hash_parse(node_text(node));

    if (hash < 0)
        report_hash(report, node);
    else
        pool->hash = (enum hash_kind)hash;
}

static void
read_hash_chars(struct report *report, const struct node *node, void *target)
{
    struct pool_settings *pool = target;

    pool->unsigned_chars = view_equal(node_text(node), VIEW("unsigned"));
    if (!pool->unsigned_chars && !view_equal(node_text(node), VIEW("signed")))
        report_found(report, node, "hash_chars", "signed or unsigned");
}

static void
read_hash_tag(struct report *report, const struct node *node, void *target)
{
    struct pool_settings *pool = target;

    if (node->kind != NODE_TEXT || node->text_len != sizeof(pool->tag)) {
        report_found(report, node, "hash_tag",
                     "exactly two characters such as \"{}\"");
        return;
    }
    pool->has_tag = true;
    memcpy(pool->tag, node->text, sizeof(pool->tag));
}

static void
read_redis(struct report *report, const struct node *node, void *target UNUSED)
{
    bool is_redis = true;

    if (value_read_bool(report, node, "redis", &is_redis) && !is_redis)
        report_found(report, node, "redis",
                     "true: memcached is not spoken here");
}

static void
read_redis_auth(struct report *report, const struct node *node, void *target)
{
    struct pool_settings *pool = target;

    secret_read(report, node, "redis_auth", &pool->redis_auth);
}

static void
read_auth(struct report *report, const struct node *node, void *target)
{
    struct pool_settings *pool = target;

    pool->auth_by_servers = view_equal(node_text(node), VIEW("servers"));
    if (!pool->auth_by_servers && !view_equal(node_text(node), VIEW("pool")))
        report_found(report, node, "auth", "pool or servers");
}

static void
read_on_server_down(struct report *report, const struct node *node,
                    void *target)
{
    struct pool_settings *pool = target;

    if (view_equal(node_text(node), VIEW("nil")))
        pool->on_server_down = DOWN_NIL;
    else if (view_equal(node_text(node), VIEW("eject")))
        pool->on_server_down = DOWN_EJECT;
    else if (!view_equal(node_text(node), VIEW("error")))
        report_found(report, node, "on_server_down", "error, nil or eject");
}

static void
read_transactions(struct report *report, const struct node *node, void *target)
{
    struct pool_settings *pool = target;

    if (view_equal(node_text(node), VIEW("direct")))
        pool->transactions = TRANSACTIONS_DIRECT;
    else if (!view_equal(node_text(node), VIEW("queued")))
        report_found(report, node, "transactions", "queued or direct");
}

static void
read_tracking(struct report *report, const struct node *node, void *target)
{
    struct pool_settings *pool = target;

    if (view_equal(node_text(node), VIEW("direct")))
        pool->tracking = TRACKING_DIRECT;
    else if (!view_equal(node_text(node), VIEW("shared")))
        report_found(report, node, "tracking", "shared or direct");
}

typedef int (*access_fn)(struct access *access, struct view rules,
                         struct error *error);

/* NULL after having reported. */
static struct access *
read_rules(struct report *report, const struct node *node, const char *key,
           access_fn parse)
{
    char quoted[REPORT_QUOTE_SIZE];
    struct error rule;

    if (node->kind != NODE_TEXT || node_is_empty(node)) {
        report_found(report, node, key, COMMANDS_ALLOWED);
        return NULL;
    }
    struct access *access = MEM_NEW(struct access);
    if (parse(access, node_text(node), &rule) < 0)
        report_error(report, node->at, key,
                     "found the rule %s, allowed " COMMANDS_ALLOWED,
                     log_quote(quoted, sizeof(quoted), view_str(rule.text)));
    return access;
}

static void
read_commands(struct report *report, const struct node *node, void *target)
{
    struct pool_settings *pool = target;

    pool->access = read_rules(report, node, "commands", access_parse);
    if (pool->access != NULL)
        pool->access_rules = mem_view_dup(node_text(node));
}

static void
read_server_commands(struct report *report, const struct node *node,
                     void *target)
{
    struct pool_settings *pool = target;

    pool->server_commands = read_rules(report, node, "server_commands",
                                       access_parse_server_commands);
}

static void
read_reuseport(struct report *report, const struct node *node,
               void *target UNUSED)
{
    bool is_wanted;

    if (value_read_bool(report, node, "reuseport", &is_wanted))
        report_warning(report, node->key_at, "reuseport",
                       "has no effect: one process serves all cores");
}

static const struct word pool_words[] = {
#define POOL_WORD(key, read) {#key, read},
#include "config/words.def"
};

static const struct value_row pool_rows[] = {
#define POOL(key, TYPE, def, min, max, help) \
    SECTION_ROW_##TYPE(struct pool_settings, key, min, max)
#include "config/settings.def"
};

static const struct section pool_section = {
    .words = pool_words,
    .word_count = ARRAY_LEN(pool_words),
    .rows = pool_rows,
    .row_count = ARRAY_LEN(pool_rows),
};

/* A statement a setting. */
static void
set_defaults(struct pool_settings *pool) /* NOLINT(readability-function-size) */
{
#define POOL(key, TYPE, def, min, max, help) \
    SECTION_DEFAULT_##TYPE(pool, key, def)
#include "config/settings.def"
    pool->distribution = DISTRIBUTION_KETAMA;
    pool->hash = HASH_FNV1A_64;
    pool->range_by = RANGE_BY_NUMBER;
}

static void
report_distribution(struct report *report, const struct node *node)
{
    struct buf names = {0};

    for (int i = 0; i < DISTRIBUTION_COUNT; i++)
        buf_printf(&names, "%s%s", i == 0 ? "" : ", ",
                   distribution_name((enum distribution)i));
    report_found(report, node, "distribution", "one of %.*s", (int)names.len,
                 names.data);
    buf_fini(&names);
}

/* False: how the servers are written is not known. */
static bool
read_distribution(struct report *report, const struct node *map,
                  struct pool_settings *pool)
{
    const struct node *node = node_find(map, VIEW("distribution"));
    int distribution;

    if (node == NULL)
        return true;
    distribution = distribution_parse(node_text(node));
    if (distribution < 0) {
        report_distribution(report, node);
        return false;
    }
    pool->distribution = (enum distribution)distribution;
    /* The cluster specification allows no choice. */
    if (pool->distribution == DISTRIBUTION_SLOTS) {
        pool->hash = HASH_CRC16_REDIS;
        pool->has_tag = true;
        memcpy(pool->tag, "{}", sizeof(pool->tag));
    }
    return true;
}

static bool
read_range_by(struct report *report, const struct node *map,
              struct pool_settings *pool)
{
    const struct node *node = node_find(map, VIEW("range_by"));

    if (node == NULL || view_equal(node_text(node), VIEW("number")))
        return true;
    if (view_equal(node_text(node), VIEW("bytes"))) {
        pool->range_by = RANGE_BY_BYTES;
        return true;
    }
    report_found(report, node, "range_by", "number or bytes");
    return false;
}

/* One number for two deadlines, which may also be given themselves.  0 and -1
 * are twemproxy's words for no deadline; here they leave the defaults. */
static void
spread_timeout(const struct node *map, struct pool_settings *pool)
{
    if (pool->timeout_ms <= 0)
        return;
    if (node_find(map, VIEW("connect_timeout")) == NULL)
        pool->connect_timeout_ms = pool->timeout_ms;
    if (node_find(map, VIEW("request_timeout")) == NULL)
        pool->request_timeout_ms = pool->timeout_ms;
}

static void
read_keys(struct report *report, const struct node *map,
          struct pool_settings *pool)
{
    const struct node *servers = node_find(map, VIEW("servers"));
    unsigned errors = report->errors;
    bool is_placed = read_distribution(report, map, pool) &&
                     read_range_by(report, map, pool);

    section_read(report, map, &pool_section, pool);
    spread_timeout(map, pool);
    if (servers != NULL && is_placed)
        servers_read(report, servers, pool);
    check_pool(report, map, pool);
    if (is_placed)
        check_placement(report, map, pool);
    if (report->errors == errors)
        check_route(report, map, pool);
}

void
pool_settings_read(struct report *report, const struct node *node,
          struct pool_settings *pool)
{
    char name[REPORT_QUOTE_SIZE];

    set_defaults(pool);
    pool->name = mem_view_dup(node_key(node));
    report->section = pool->name;
    if (node->key_len == 0 || !value_is_printable(node_key(node))) {
        report->section = NULL;
        report_error(report, node->key_at, NULL, "found the pool name %s, "
                     "allowed a text without control characters, not empty",
                     log_quote(name, sizeof(name), node_key(node)));
    } else if (node->kind == NODE_MAP) {
        read_keys(report, node, pool);
    } else {
        report_error(report, node->at, NULL, "found no keys, allowed a pool "
                     "with listen, servers ...");
    }
    report->section = NULL;
}

void
pool_settings_fini(struct pool_settings *pool)
{
    for (size_t i = 0; i < pool->listen_count; i++)
        address_text_fini(&pool->listens[i]);
    mem_free(pool->listens);
    servers_fini(pool);
    cluster_fini(pool);
    mem_free(pool->access);
    mem_free(pool->server_commands);
    mem_free(pool->access_rules);
    zones_fini(pool);
    sentinel_conf_fini(pool);
#define POOL(key, TYPE, def, min, max, help) SECTION_FREE_##TYPE(pool, key)
#include "config/settings.def"
    mem_free(pool->name);
}
