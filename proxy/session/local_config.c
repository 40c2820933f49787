/*
 * session/local_config.c - CONFIG GET.
 *
 * Not the servers' configuration, which would tell their passwords and differ
 * from shard to shard, but what tools ask before they begin, as it is for a
 * client of the proxy.
 */
#include "command/glob.h"
#include "resp/encode.h"
#include "session/local_priv.h"

typedef void (*config_show_fn)(const struct session_pool *pool,
                               struct buf *out);

struct config_row {
    const char *name;
    const char *fixed;   /* the value, or NULL: */
    config_show_fn show; /* append it */
};

/* A row that was asked for.  Servers repeat a name as it was spelled. */
struct config_found {
    const struct config_row *row;
    struct view name;
};

static void
show_databases(const struct session_pool *pool, struct buf *out)
{
    buf_printf(out, "%llu", (unsigned long long)pool->settings->databases);
}

static void
show_maxclients(const struct session_pool *pool, struct buf *out)
{
    const struct settings *settings = pool->env->snapshot->settings;

    buf_printf(out, "%llu", (unsigned long long)settings->maxclients);
}

static void
show_timeout(const struct session_pool *pool, struct buf *out)
{
    buf_printf(out, "%lld",
               (long long)pool->settings->client_idle_timeout_ms / 1000);
}

static void
show_tcp_keepalive(const struct session_pool *pool, struct buf *out)
{
    buf_append_str(out, pool->settings->tcpkeepalive ? "300" : "0");
}

static void
show_cluster_enabled(const struct session_pool *pool, struct buf *out)
{
    buf_append_str(out, pool->settings->cluster_emulation ? "yes" : "no");
}

/* The first TCP port; 0 as on a server that listens at a UNIX socket only. */
static void
show_port(const struct session_pool *pool, struct buf *out)
{
    const struct pool_settings *settings = pool->settings;
    unsigned port = 0;

    for (size_t i = 0; i < settings->listen_count && port == 0; i++)
        port = settings->listens[i].port;
    buf_printf(out, "%u", port);
}

static void
show_bind(const struct session_pool *pool, struct buf *out)
{
    const struct pool_settings *settings = pool->settings;
    const char *space = "";

    for (size_t i = 0; i < settings->listen_count; i++) {
        if (settings->listens[i].host == NULL)
            continue;
        buf_printf(out, "%s%s", space, settings->listens[i].host);
        space = " ";
    }
}

static void
show_latency_threshold(const struct session_pool *pool, struct buf *out)
{
    buf_printf(out, "%lld",
               (long long)pool->settings->latency_monitor_threshold_ms);
}

static void
show_slower_than(const struct session_pool *pool, struct buf *out)
{
    buf_printf(out, "%lld",
               (long long)pool->settings->slowlog_log_slower_than_us);
}

static void
show_slowlog_len(const struct session_pool *pool, struct buf *out)
{
    buf_printf(out, "%llu",
               (unsigned long long)pool->settings->slowlog_max_len);
}

static const struct config_row rows[] = {
    {"appendonly", "no", NULL},
    {"bind", NULL, show_bind},
    {"cluster-enabled", NULL, show_cluster_enabled},
    {"cluster-require-full-coverage", "yes", NULL},
    {"databases", NULL, show_databases},
    {"latency-monitor-threshold", NULL, show_latency_threshold},
    {"maxclients", NULL, show_maxclients},
    {"maxmemory", "0", NULL},
    {"maxmemory-policy", "noeviction", NULL},
    {"notify-keyspace-events", "", NULL},
    {"port", NULL, show_port},
    {"proto-max-bulk-len", "536870912", NULL},
    {"save", "", NULL},
    {"slowlog-log-slower-than", NULL, show_slower_than},
    {"slowlog-max-len", NULL, show_slowlog_len},
    {"tcp-keepalive", NULL, show_tcp_keepalive},
    {"timeout", NULL, show_timeout},
};

static bool
is_pattern(struct view word)
{
    for (size_t i = 0; i < word.len; i++) {
        if (memchr("*?[", word.data[i], 3) != NULL)
            return true;
    }
    return false;
}

/* Note the rows that this word names and that no earlier word named. */
static void
config_find(struct view word, struct config_found found[ARRAY_LEN(rows)])
{
    bool pattern = is_pattern(word);

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct view name = view_str(rows[i].name);
        bool match = pattern ? glob_match_nocase(word, name)
                             : view_equal_nocase(word, name);
        if (match && found[i].row == NULL)
            found[i] = (struct config_found){&rows[i], pattern ? name : word};
    }
}

static void
config_encode(const struct config_found *found, const struct session_pool *pool,
              struct buf *out)
{
    struct buf value = {0};

    if (found->row->fixed != NULL)
        buf_append_str(&value, found->row->fixed);
    else
        found->row->show(pool, &value);
    encode_bulk(out, found->name);
    encode_bulk(out, buf_view(&value));
    buf_fini(&value);
}

enum local_result
local_config_get(const struct local_call *call)
{
    struct config_found found[ARRAY_LEN(rows)] = {{NULL, {NULL, 0}}};
    size_t count = 0;

    for (uint32_t i = 2; i < call->args->argc; i++)
        config_find(local_arg(call, i), found);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        count += found[i].row != NULL;
    encode_map(call->out, call->session->resp, count);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (found[i].row != NULL)
            config_encode(&found[i], call->session->pool, call->out);
    }
    return LOCAL_REPLY;
}
