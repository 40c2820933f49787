/*
 * admin/info.c - the text of INFO: the proxy in the words of a server.
 *
 * Client libraries look at redis_version, loading and role before they trust a
 * connection, and tools at the rest.  What only servers know is left out
 * rather than invented.
 */
#include "admin/admin.h"

#include <inttypes.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "admin/command_totals.h"
#include "admin/process.h"
#include "base/version.h"

#define US_PER_S 1000000
#define S_PER_DAY 86400

struct info {
    const struct admin_source *source;
    size_t pool;
    struct buf *out;
    struct process_facts facts;
};

#define RECENT(info, field) POOL_RECENT((info)->source, (info)->pool, field)
#define SUM(info, field) POOL_SUM((info)->source, (info)->pool, field)

static void
put(struct info *info, const char *name, uint64_t value)
{
    buf_printf(info->out, "%s:%" PRIu64 "\r\n", name, value);
}

static void
put_text(struct info *info, const char *name, const char *value)
{
    buf_printf(info->out, "%s:%s\r\n", name, value);
}

static bool
emulates(const struct info *info)
{
    return admin_source_pool(info->source, info->pool)->cluster_emulation;
}

/* "1.50M", as servers write sizes for people. */
static void
put_human(struct info *info, const char *name, uint64_t bytes)
{
    static const char units[] = "KMGTP";
    double size = (double)bytes;
    size_t unit = 0;

    if (bytes < 1024) {
        buf_printf(info->out, "%s:%" PRIu64 "B\r\n", name, bytes);
        return;
    }
    for (size /= 1024; size >= 1024 && units[unit + 1] != '\0'; size /= 1024)
        unit++;
    buf_printf(info->out, "%s:%.2f%c\r\n", name, size, units[unit]);
}

/* The number behind the last colon; 0 for a UNIX socket. */
static uint64_t
port_of(const char *address)
{
    const char *colon = strrchr(address, ':');
    uint64_t port = 0;

    if (colon == NULL || !view_to_u64(view_str(colon + 1), &port))
        return 0;
    return port;
}

static void
put_server(struct info *info)
{
    const struct admin_source *source = info->source;
    uint64_t uptime_s = admin_source_uptime_us(source) / US_PER_S;
    struct utsname os;

    put_text(info, "redis_version", SERVER_VERSION);
    put_text(info, "redis_mode", emulates(info) ? "cluster" : "standalone");
    put_text(info, "pointsman_version", POINTSMAN_VERSION);
    put_text(info, "pointsman_pool",
             admin_source_pool(source, info->pool)->name);
    if (uname(&os) == 0)
        buf_printf(info->out, "os:%s %s %s\r\n", os.sysname, os.release,
                   os.machine);
    put(info, "arch_bits", sizeof(void *) * 8);
    put_text(info, "multiplexing_api", "epoll");
    put(info, "process_id", (uint64_t)getpid());
    put(info, "tcp_port",
        port_of(source->pool_address(source->arg, info->pool)));
    put(info, "uptime_in_seconds", uptime_s);
    put(info, "uptime_in_days", uptime_s / S_PER_DAY);
    put(info, "pointsman_workers", source->workers);
}

static void
put_clients(struct info *info)
{
    put(info, "connected_clients", SUM(info, client_connections));
    put(info, "tracking_clients", SUM(info, tracking_clients));
    put(info, "blocked_clients", SUM(info, clients_blocked));
    put(info, "maxclients", info->source->snapshot->settings->maxclients);
}

/* The memory of the proxy, not of the servers behind it. */
static void
put_memory(struct info *info)
{
    const struct process_facts *facts = &info->facts;
    /* Some allocators cannot tell what they have given out. */
    uint64_t used = facts->allocated_bytes > 0 ? facts->allocated_bytes
                                               : facts->resident_bytes;

    put(info, "used_memory", used);
    put_human(info, "used_memory_human", used);
    put(info, "used_memory_rss", facts->resident_bytes);
    put_human(info, "used_memory_rss_human", facts->resident_bytes);
    put(info, "maxmemory", 0);
    put_human(info, "maxmemory_human", 0);
    put_text(info, "maxmemory_policy", "noeviction");
}

static void
put_persistence(struct info *info)
{
    put(info, "loading", 0);
    put(info, "async_loading", 0);
}

/* Where clients have connections of their own servers remember the keys. */
static void
put_tracking(struct info *info)
{
    const struct pool_settings *pool =
        admin_source_pool(info->source, info->pool);

    if (pool->tracking == TRACKING_SHARED) {
        put(info, "tracking_total_keys", SUM(info, tracking_keys));
        put(info, "tracking_total_items", SUM(info, tracking_items));
    }
    put(info, "tracking_total_prefixes", SUM(info, tracking_prefixes));
}

static void
put_stats(struct info *info)
{
    put(info, "total_connections_received", RECENT(info, clients_accepted));
    put(info, "total_commands_processed", RECENT(info, requests));
    put(info, "total_net_input_bytes", RECENT(info, request_bytes));
    put(info, "total_net_output_bytes", RECENT(info, reply_bytes));
    put(info, "rejected_connections", RECENT(info, clients_refused));
    put_tracking(info);
    put(info, "total_error_replies",
        RECENT(info, forward_error) + RECENT(info, errors_server));
}

static void
put_replication(struct info *info)
{
    put_text(info, "role", "master");
    put(info, "connected_slaves", 0);
}

static void
put_cpu(struct info *info)
{
    buf_printf(info->out, "used_cpu_sys:%.6f\r\n", info->facts.cpu_system_s);
    buf_printf(info->out, "used_cpu_user:%.6f\r\n", info->facts.cpu_user_s);
}

static double
per_call(uint64_t sum, uint64_t calls)
{
    return calls == 0 ? 0 : (double)sum / (double)calls;
}

static void
put_commandstats(struct info *info)
{
    struct command_totals totals =
        command_totals_read(info->source, info->pool, SINCE_RESETSTAT);

    for (size_t i = 0; i < totals.count; i++) {
        const struct command_stats *stats = &totals.all[i].stats;
        uint64_t calls = command_stats_calls(stats);
        uint64_t sum_us = cell_get(&stats->latency.sum_us);
        buf_printf(info->out,
                   "cmdstat_%s:calls=%" PRIu64 ",usec=%" PRIu64
                   ",usec_per_call=%.2f,rejected_calls=%" PRIu64
                   ",failed_calls=%" PRIu64 "\r\n",
                   totals.all[i].name, calls, sum_us, per_call(sum_us, calls),
                   cell_get(&stats->rejected), cell_get(&stats->failed));
    }
    command_totals_fini(&totals);
}

/* The least bound below which this part of the calls was. */
static double
percentile_us(const struct histogram *latency, uint64_t calls, double part)
{
    uint64_t below = 0;
    unsigned i = 0;

    for (; i < HISTOGRAM_BUCKETS - 2; i++) {
        below += cell_get(&latency->bucket[i]);
        if ((double)below >= (double)calls * part)
            break;
    }
    return (double)histogram_bound_us(i);
}

static void
put_latencystats(struct info *info)
{
    struct command_totals totals =
        command_totals_read(info->source, info->pool, SINCE_RESETSTAT);

    for (size_t i = 0; i < totals.count; i++) {
        const struct command_stats *stats = &totals.all[i].stats;
        uint64_t calls = command_stats_calls(stats);
        if (calls == 0)
            continue;
        buf_printf(info->out,
                   "latency_percentiles_usec_%s:p50=%.3f,p99=%.3f,"
                   "p99.9=%.3f\r\n",
                   totals.all[i].name,
                   percentile_us(&stats->latency, calls, 0.5),
                   percentile_us(&stats->latency, calls, 0.99),
                   percentile_us(&stats->latency, calls, 0.999));
    }
    command_totals_fini(&totals);
}

static void
put_errorstats(struct info *info)
{
    struct error_totals totals =
        error_totals_read(info->source, info->pool, SINCE_RESETSTAT);

    for (size_t i = 0; i < totals.count; i++)
        buf_printf(info->out, "errorstat_%s:count=%" PRIu64 "\r\n",
                   totals.all[i].code, totals.all[i].count);
    error_totals_fini(&totals);
}

static void
put_cluster(struct info *info)
{
    put(info, "cluster_enabled", emulates(info) ? 1 : 0);
}

static void
put_nothing(struct info *info)
{
    (void)info;
}

static const struct section {
    const char *title;
    void (*put)(struct info *info);
    bool is_default;
} sections_known[] = {
    {"Server", put_server, true},
    {"Clients", put_clients, true},
    {"Memory", put_memory, true},
    {"Persistence", put_persistence, true},
    {"Stats", put_stats, true},
    {"Replication", put_replication, true},
    {"CPU", put_cpu, true},
    {"Modules", put_nothing, true},
    {"Commandstats", put_commandstats, false},
    {"Errorstats", put_errorstats, true},
    {"Latencystats", put_latencystats, false},
    {"Cluster", put_cluster, true},
    /* Sessions ask the servers, and go on here. */
    {"Keyspace", put_nothing, true},
};

#define ALL_SECTIONS ((1u << ARRAY_LEN(sections_known)) - 1)

static unsigned
default_sections(void)
{
    unsigned wanted = 0;

    for (unsigned i = 0; i < ARRAY_LEN(sections_known); i++)
        wanted |= sections_known[i].is_default ? 1u << i : 0;
    return wanted;
}

/* The sections that one word names, as bits. */
static unsigned
sections_of_word(struct view word)
{
    if (view_equal_nocase(word, VIEW("all")) ||
        view_equal_nocase(word, VIEW("everything")))
        return ALL_SECTIONS;
    if (view_equal_nocase(word, VIEW("default")))
        return default_sections();
    for (unsigned i = 0; i < ARRAY_LEN(sections_known); i++) {
        if (view_equal_nocase(word, view_str(sections_known[i].title)))
            return 1u << i;
    }
    return 0;
}

static unsigned
sections_of_words(struct view words)
{
    unsigned wanted = 0;
    bool is_empty = true;

    while (words.len > 0) {
        struct view word = view_take(&words, ' ');
        if (word.len > 0) {
            wanted |= sections_of_word(word);
            is_empty = false;
        }
    }
    return is_empty ? default_sections() : wanted;
}

void
admin_render_info(const struct admin_source *source, size_t pool,
                  struct view sections, struct buf *out)
{
    struct info info = {source, pool, out, process_facts_read()};
    unsigned wanted = sections_of_words(sections);
    bool is_first = true;

    for (unsigned i = 0; i < ARRAY_LEN(sections_known); i++) {
        if ((wanted & 1u << i) == 0)
            continue;
        buf_printf(out, "%s# %s\r\n", is_first ? "" : "\r\n",
                   sections_known[i].title);
        sections_known[i].put(&info);
        is_first = false;
    }
}
