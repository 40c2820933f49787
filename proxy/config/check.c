/*
 * config/check.c - cross checks of a pool and between pools.
 */
#include "config/check.h"

#include <inttypes.h>

#include "base/log.h"
#include "base/mem.h"
#include "config/address.h"
#include "config/cluster.h"
#include "config/process.h"
#include "config/sentinel.h"
#include "config/units.h"

/* The place of the first of two keys that is written at all. */
static struct mark
mark_of_either(const struct node *map, struct view a, struct view b)
{
    return node_find(map, a) ? node_key_mark(map, a) : node_key_mark(map, b);
}

static void
check_required(struct report *report, const struct node *map)
{
    if (node_find(map, VIEW("listen")) == NULL)
        report_error(report, map->key_at, "listen", "found nothing, allowed "
                     "host:port, [v6]:port or /path [octal mode]");
    if (node_find(map, VIEW("servers")) == NULL &&
        node_find(map, VIEW("cluster")) == NULL)
        report_error(report, map->key_at, "servers", "found nothing, allowed "
                     "a list of host:port:weight [name]");
}

static bool
is_of_twemproxy(enum distribution distribution)
{
    return distribution == DISTRIBUTION_KETAMA ||
           distribution == DISTRIBUTION_MODULA ||
           distribution == DISTRIBUTION_RANDOM;
}

/* Where a file of twemproxy means something else here, loading says so. */
static void
check_differences(struct report *report, const struct node *map,
                  const struct pool_settings *pool)
{
    if (node_find(map, VIEW("redis")) == NULL &&
        is_of_twemproxy(pool->distribution))
        report_warning(report, map->key_at, "redis", "left out, taken as true "
                       "(twemproxy takes it as false, which is memcached)");
    if (pool->client_connections != 0)
        report_warning(report, node_key_mark(map, VIEW("client_connections")),
                       "client_connections", "is enforced: client %" PRIu64
                       " and later ones are refused (twemproxy ignores it)",
                       pool->client_connections + 1);
    if (node_find(map, VIEW("timeout")) != NULL &&
        node_find(map, VIEW("connect_timeout")) != NULL &&
        node_find(map, VIEW("request_timeout")) != NULL)
        report_warning(report, node_key_mark(map, VIEW("timeout")), "timeout",
                       "has no effect beside connect_timeout and "
                       "request_timeout");
}

/* Elsewhere a key has one place, where the others do not look for it. */
static void
check_eject(struct report *report, const struct node *map,
            const struct pool_settings *pool)
{
    const char *key =
        pool->auto_eject_hosts ? "auto_eject_hosts" : "on_server_down";

    if (!pool_ejects(pool) || is_of_twemproxy(pool->distribution))
        return;
    report_error(report, node_key_mark(map, view_str(key)), key,
                 "found servers to be ejected with distribution %s, allowed "
                 "with ketama, modula and random",
                 distribution_name(pool->distribution));
}

/* Two keys that say the opposite of each other. */
static void
check_eject_twice(struct report *report, const struct node *map,
                  const struct pool_settings *pool)
{
    if (pool->on_server_down == DOWN_EJECT &&
        !pool->auto_eject_hosts &&
        node_find(map, VIEW("auto_eject_hosts")) != NULL)
        report_error(report, node_key_mark(map, VIEW("on_server_down")),
                     "on_server_down", "found eject together with "
                     "auto_eject_hosts: false, allowed one of the two");
}

static void
check_reconnect(struct report *report, const struct node *map,
                const struct pool_settings *pool)
{
    char min[UNITS_TEXT_SIZE], max[UNITS_TEXT_SIZE];

    if (pool->reconnect_min_ms > pool->reconnect_max_ms)
        report_error(report, mark_of_either(map, VIEW("reconnect_min"),
                                            VIEW("reconnect_max")),
                     "reconnect_min", "found %s, allowed up to reconnect_max "
                     "(%s)", units_print_msec(min, pool->reconnect_min_ms),
                     units_print_msec(max, pool->reconnect_max_ms));
}

static void
check_output(struct report *report, const struct node *map,
             const struct pool_settings *pool)
{
    char low[UNITS_TEXT_SIZE], max[UNITS_TEXT_SIZE];

    if (pool->output_low_water_bytes > pool->client_output_limit_bytes)
        report_error(report, mark_of_either(map, VIEW("output_low_water"),
                                            VIEW("client_output_limit")),
                     "output_low_water", "found %s, allowed up to "
                     "client_output_limit (%s)",
                     units_print_bytes(low, pool->output_low_water_bytes),
                     units_print_bytes(max, pool->client_output_limit_bytes));
}

static void
check_connections(struct report *report, const struct node *map,
                  const struct pool_settings *pool)
{
    if (pool->server_connections > pool->connections_per_server)
        report_error(report, mark_of_either(map, VIEW("server_connections"),
                                            VIEW("connections_per_server")),
                     "server_connections", "found %" PRIu64 ", allowed up to "
                     "connections_per_server (%" PRIu64 ")",
                     pool->server_connections, pool->connections_per_server);
}

static void
check_user(struct report *report, const struct node *map,
           const struct pool_settings *pool)
{
    if (pool->redis_user != NULL && node_find(map, VIEW("redis_auth")) == NULL)
        report_error(report, node_key_mark(map, VIEW("redis_user")),
                     "redis_user", "found without redis_auth, allowed only "
                     "together with it");
}

void
check_pool(struct report *report, const struct node *map,
           const struct pool_settings *pool)
{
    check_required(report, map);
    check_differences(report, map, pool);
    check_reconnect(report, map, pool);
    check_output(report, map, pool);
    check_connections(report, map, pool);
    check_user(report, map, pool);
    check_eject(report, map, pool);
    check_eject_twice(report, map, pool);
    cluster_check(report, map, pool);
    sentinel_conf_check(report, map, pool);
}

#define WITH(NAME) (1u << DISTRIBUTION_##NAME)
#define WITH_HASH (WITH(KETAMA) | WITH(MODULA) | WITH(MODULO))

/* A key and the distributions with which it has an effect. */
struct effect {
    const char *key;
    const char *path; /* in messages */
    unsigned where;
    bool is_of_twemproxy; /* which does not mind */
};

static const struct effect pool_effects[] = {
    {"hash", "hash", WITH_HASH, true},
    {"hash_chars", "hash_chars", WITH_HASH, false},
    {"hash_tag", "hash_tag", WITH_HASH | WITH(RANGE) | WITH(SLOTS), true},
    {"range_by", "range_by", WITH(RANGE), false},
};

static const struct effect server_effects[] = {
    {"weight", "servers.weight", WITH(KETAMA) | WITH(MODULA), false},
    {"from", "servers.from", WITH(RANGE), false},
    {"to", "servers.to", WITH(RANGE), false},
    {"before", "servers.before", WITH(RANGE), false},
    {"ranges", "servers.ranges", WITH(RANGE), false},
    {"default", "servers.default", WITH(RANGE), false},
    {"slots", "servers.slots", WITH(SLOTS), false},
};

static void
report_no_effect(struct report *report, const struct node *entry,
                 const struct effect *effect, enum distribution distribution)
{
    struct buf names = {0};

    for (int i = 0; i < DISTRIBUTION_COUNT; i++) {
        if (effect->where & 1u << i)
            buf_printf(&names, "%s%s", names.len == 0 ? "" : ", ",
                       distribution_name((enum distribution)i));
    }
    report_error(report, entry->key_at, effect->path, "found with distribution "
                 "%s, where it has no effect, allowed with %.*s",
                 distribution_name(distribution), (int)names.len, names.data);
    buf_fini(&names);
}

static void
check_effects(struct report *report, const struct node *map,
              const struct effect *effects, size_t count,
              enum distribution distribution)
{
    for (size_t i = 0; i < count; i++) {
        const struct node *entry = node_find(map, view_str(effects[i].key));

        if (entry == NULL || effects[i].where & 1u << distribution)
            continue;
        if (effects[i].is_of_twemproxy && is_of_twemproxy(distribution))
            report_warning(report, entry->key_at, effects[i].path, "has no "
                           "effect with distribution %s",
                           distribution_name(distribution));
        else
            report_no_effect(report, entry, &effects[i], distribution);
    }
}

static void
check_slots_tag(struct report *report, const struct node *map,
                const struct pool_settings *pool)
{
    const struct node *tag = node_find(map, VIEW("hash_tag"));

    if (tag != NULL && pool->distribution == DISTRIBUTION_SLOTS &&
        pool->has_tag && !view_equal(node_text(tag), VIEW("{}")))
        report_found(report, tag, "hash_tag",
                     "\"{}\" with distribution slots, or to leave it out");
}

static void
check_name(struct report *report, const struct node *item,
           const struct pool_settings *pool, size_t index)
{
    char quoted[REPORT_QUOTE_SIZE];
    const char *name = pool->servers[index].name;

    for (size_t i = 0; name != NULL && i < index; i++) {
        const char *other = pool->servers[i].name;

        if (other == NULL || !view_equal(view_str(other), view_str(name)))
            continue;
        report_error(report, item->at, "servers", "found the name %s again, "
                     "allowed once",
                     log_quote(quoted, sizeof(quoted), view_str(name)));
        return;
    }
}

static void
check_has_range(struct report *report, const struct node *item,
                const struct pool_settings *pool, size_t index)
{
    const struct server_settings *server = &pool->servers[index];

    /* One that was written but wrong has been reported. */
    bool is_written = node_find(item, VIEW("from")) != NULL ||
                      node_find(item, VIEW("to")) != NULL ||
                      node_find(item, VIEW("before")) != NULL ||
                      node_find(item, VIEW("ranges")) != NULL;
    if (pool->distribution != DISTRIBUTION_RANGE || is_written ||
        server->name == NULL || server->is_default)
        return;
    report_error(report, item->at, "servers", "found a server without a range,"
                 " allowed {name: X, address: Y, from: A, %s: B} or one with "
                 "default: true",
                 pool->range_by == RANGE_BY_NUMBER ? "to" : "before");
}

void
check_placement(struct report *report, const struct node *map,
                const struct pool_settings *pool)
{
    const struct node *servers = node_find(map, VIEW("servers"));

    check_effects(report, map, pool_effects, ARRAY_LEN(pool_effects),
                  pool->distribution);
    check_slots_tag(report, map, pool);
    if (pool->server_count == 0)
        return;

    const struct node *item = servers->first;
    for (size_t i = 0; i < pool->server_count; i++, item = item->next) {
        check_effects(report, item, server_effects, ARRAY_LEN(server_effects),
                      pool->distribution);
        check_name(report, item, pool, i);
        check_has_range(report, item, pool, i);
    }
}

/* A key that nobody owns is refused, which may be meant. */
static void
check_gap(struct report *report, const struct node *map,
          const struct route *route)
{
    struct buf ranges = {0};

    if (route_gap(route, &ranges))
        report_warning(report, node_key_mark(map, VIEW("servers")), "servers",
                       "keys between %.*s belong to no server and are refused; "
                       "one with default: true would have them",
                       (int)MIN(ranges.len, (size_t)400), ranges.data);
    buf_fini(&ranges);
}

void
check_route(struct report *report, const struct node *map,
            const struct pool_settings *pool)
{
    struct error error;
    struct route *route = settings_make_route(pool, &error);

    if (route == NULL)
        report_error(report, node_key_mark(map, VIEW("servers")), "servers",
                     "%s", error.text);
    else
        check_gap(report, map, route);
    route_free(&route);
}

struct listener {
    const struct address_text *address;
    const char *owner;
    struct mark at;
};

static void
add_listeners(struct listener **nextp, const struct node *map,
              const struct pool_settings *pool)
{
    const struct node *node = node_find(map, VIEW("listen"));

    if (pool->listen_count == 0)
        return;
    if (node->kind == NODE_LIST)
        node = node->first;
    for (size_t i = 0; i < pool->listen_count; i++, node = node->next) {
        if (pool->listens[i].text != NULL)
            *(*nextp)++ = (struct listener){&pool->listens[i], pool->name,
                                            node->at};
    }
}

static void
check_listener(struct report *report, const struct listener *all,
               const struct listener *one)
{
    char quoted[REPORT_QUOTE_SIZE];

    for (const struct listener *other = all; other < one; other++) {
        if (!address_text_collides(other->address, one->address))
            continue;
        log_quote(quoted, sizeof(quoted), view_str(one->address->text));
        report->section = one->owner;
        report_error(report, one->at, "listen", "found %s, where %s listens "
                     "already, allowed another address", quoted, other->owner);
        report->section = NULL;
        return;
    }
}

void
check_listens(struct report *report, const struct node *root,
              const struct settings *settings)
{
    size_t count = 1;
    const struct pool_settings *pool = settings->pools;

    for (size_t i = 0; i < settings->pool_count; i++)
        count += settings->pools[i].listen_count;
    struct listener *all = mem_array(count, sizeof(*all)), *next = all;
    if (settings->has_stats)
        *next++ = (struct listener){&settings->stats, "stats", root->at};

    for (const struct node *map = root->first; map; map = map->next) {
        if (!view_equal(node_key(map), VIEW(PROCESS_SECTION)))
            add_listeners(&next, map, pool++);
    }
    for (const struct listener *one = all; one < next; one++)
        check_listener(report, all, one);
    mem_free(all);
}
