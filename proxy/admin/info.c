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

#include "admin/process.h"
#include "base/version.h"

#define US_PER_S 1000000
#define S_PER_DAY 86400
#define HUMAN_MAX 32

struct info {
    const struct admin_source *source;
    size_t pool;
    struct buf *out;
    struct process_facts facts;
};

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

static void
put_stats(struct info *info)
{
    put(info, "total_connections_received", SUM(info, clients_accepted));
    put(info, "total_commands_processed", SUM(info, requests));
    put(info, "total_net_input_bytes", SUM(info, request_bytes));
    put(info, "total_net_output_bytes", SUM(info, reply_bytes));
    put(info, "rejected_connections", SUM(info, clients_refused));
    put(info, "total_error_replies",
        SUM(info, forward_error) + SUM(info, errors_server));
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

/* Errors by the kinds that are counted, those that occurred. */
static void
put_errorstats(struct info *info)
{
    static const struct view prefix = {"errors_", 7};

    for (unsigned i = 0; i < session_stat_count; i++) {
        const struct stat_desc *desc = &session_stat_descs[i];
        if (strncmp(desc->name, prefix.data, prefix.len) != 0)
            continue;
        uint64_t count = admin_sum_pool(info->source, info->pool, desc->offset);
        if (count > 0)
            buf_printf(info->out, "errorstat_%s:count=%" PRIu64 "\r\n",
                       desc->name + prefix.len, count);
    }
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
} sections_known[] = {
    {"Server", put_server},
    {"Clients", put_clients},
    {"Memory", put_memory},
    {"Persistence", put_persistence},
    {"Stats", put_stats},
    {"Replication", put_replication},
    {"CPU", put_cpu},
    {"Modules", put_nothing},
    {"Errorstats", put_errorstats},
    {"Cluster", put_cluster},
    {"Keyspace", put_nothing}, /* sessions ask the servers, and go on here */
};

#define ALL_SECTIONS ((1u << ARRAY_LEN(sections_known)) - 1)

/* The sections that one word names, as bits. */
static unsigned
sections_of_word(struct view word)
{
    if (view_equal_nocase(word, VIEW("all")) ||
        view_equal_nocase(word, VIEW("default")) ||
        view_equal_nocase(word, VIEW("everything")))
        return ALL_SECTIONS;
    for (unsigned i = 0; i < ARRAY_LEN(sections_known); i++) {
        if (view_equal_nocase(word, view_str(sections_known[i].title)))
            return 1u << i;
    }
    return 0;
}

static unsigned
sections_of_words(struct view words)
{
    const char *at = words.data, *end = words.data + words.len;
    unsigned wanted = 0;
    bool is_empty = true;

    while (at < end) {
        const char *space = memchr(at, ' ', (size_t)(end - at));
        const char *stop = space != NULL ? space : end;
        if (stop > at) {
            wanted |= sections_of_word(view_of(at, (size_t)(stop - at)));
            is_empty = false;
        }
        at = stop + 1;
    }
    return is_empty ? ALL_SECTIONS : wanted;
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
