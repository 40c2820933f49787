/*
 * admin/page.c - tables of pools and servers.
 *
 * Rates are averages since the start, as nothing is sampled here; who wants
 * better ones scrapes /metrics.
 */
#include "admin/page.h"

#include <inttypes.h>

#include "admin/process.h"
#include "base/version.h"

#define US_PER_S 1e6
#define US_PER_MS 1e3
#define PER_MIB (1024 * 1024)
#define QUANTILE 0.99

static const char page_head[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\"><head><meta charset=\"utf-8\">"
    "<title>Pointsman</title>\n"
    "<style>body{font:14px sans-serif;margin:2em}"
    "table{border-collapse:collapse;margin:0 0 1.5em}"
    "th,td{padding:.2em .8em;text-align:right;border-bottom:1px solid #ccc}"
    "th:first-child,td:first-child{text-align:left}"
    "</style></head>\n<body>\n";

static const char pool_columns[] =
    "<tr><th>pool</th><th>listens</th><th>distribution</th><th>state</th>"
    "<th>clients</th><th>requests</th><th>/ s</th><th>errors</th>"
    "<th>mean ms</th><th>99 % below ms</th></tr>\n";

static const char server_columns[] =
    "<tr><th>server</th><th>address</th><th>connections</th>"
    "<th>requests</th><th>/ s</th><th>waiting</th><th>unanswered</th>"
    "<th>failures</th><th>timed out</th>"
    "<th>mean ms</th><th>99 % below ms</th></tr>\n";

static void
append_escaped(struct buf *out, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            buf_append_str(out, "&lt;");
            break;
        case '&':
            buf_append_str(out, "&amp;");
            break;
        default:
            buf_append_char(out, *text);
        }
    }
}

static void
cell_text(struct buf *out, const char *text)
{
    buf_append_str(out, "<td>");
    append_escaped(out, text);
    buf_append_str(out, "</td>");
}

static void
cell_number(struct buf *out, uint64_t value)
{
    buf_printf(out, "<td>%" PRIu64 "</td>", value);
}

static void
cell_rate(struct buf *out, const struct admin_source *source, uint64_t count)
{
    double uptime_s = (double)admin_source_uptime_us(source) / US_PER_S;

    buf_printf(out, "<td>%.1f</td>",
               uptime_s > 0 ? (double)count / uptime_s : 0);
}

/* The mean, and the bound of the bucket where the quantile lies. */
static void
cells_latency(struct buf *out, const struct histogram *latency)
{
    uint64_t count = 0, below = 0;
    unsigned i = 0;

    for (unsigned b = 0; b < HISTOGRAM_BUCKETS; b++)
        count += cell_get(&latency->bucket[b]);
    if (count == 0) {
        buf_append_str(out, "<td>-</td><td>-</td>");
        return;
    }
    buf_printf(out, "<td>%.3f</td>",
               (double)cell_get(&latency->sum_us) / (double)count / US_PER_MS);
    while ((double)(below += cell_get(&latency->bucket[i])) <
           (double)count * QUANTILE)
        i++;
    if (histogram_bound_us(i) == UINT64_MAX)
        buf_append_str(out, "<td>&infin;</td>");
    else
        buf_printf(out, "<td>%.3f</td>",
                   (double)histogram_bound_us(i) / US_PER_MS);
}

static void
row_of_pool(const struct admin_source *source, size_t pool, struct buf *out)
{
    const struct pool_settings *settings = admin_source_pool(source, pool);
    struct histogram latency = admin_sum_pool_latency(source, pool);
    uint64_t requests = POOL_SUM(source, pool, requests);

    buf_append_str(out, "<tr>");
    cell_text(out, settings->name);
    cell_text(out, source->pool_address(source->arg, pool));
    cell_text(out, distribution_name(settings->distribution));
    cell_text(out,
              source->pool_is_ready(source->arg, pool) ? "ready" : "not ready");
    cell_number(out, POOL_SUM(source, pool, client_connections));
    cell_number(out, requests);
    cell_rate(out, source, requests);
    cell_number(out, POOL_SUM(source, pool, forward_error));
    cells_latency(out, &latency);
    buf_append_str(out, "</tr>\n");
}

static void
row_of_server(const struct admin_source *source, size_t pool, size_t server,
              struct buf *out)
{
    const struct roster_entry *entry =
        &admin_source_roster(source, pool)->entries[server];
    struct histogram latency = admin_sum_server_latency(source, pool, server);
    uint64_t requests = SERVER_SUM(source, pool, server, requests);

    buf_append_str(out, "<tr>");
    cell_text(out, entry->name);
    cell_text(out, entry->address.text == NULL ? "not known"
                                               : entry->address.text);
    cell_number(out, SERVER_SUM(source, pool, server, server_connections));
    cell_number(out, requests);
    cell_rate(out, source, requests);
    cell_number(out, SERVER_SUM(source, pool, server, in_queue));
    cell_number(out, SERVER_SUM(source, pool, server, out_queue));
    cell_number(out, SERVER_SUM(source, pool, server, server_err));
    cell_number(out, SERVER_SUM(source, pool, server, server_timedout));
    cells_latency(out, &latency);
    buf_append_str(out, "</tr>\n");
}

static void
table_of_pools(const struct admin_source *source, struct buf *out)
{
    buf_append_str(out, "<h2>Pools</h2>\n<table>\n");
    buf_append_str(out, pool_columns);
    for (size_t p = 0; p < admin_source_pool_count(source); p++)
        row_of_pool(source, p, out);
    buf_append_str(out, "</table>\n");
}

static void
table_of_servers(const struct admin_source *source, size_t pool,
                 struct buf *out)
{
    buf_append_str(out, "<h2>Servers of ");
    append_escaped(out, admin_source_pool(source, pool)->name);
    buf_append_str(out, "</h2>\n<table>\n");
    buf_append_str(out, server_columns);
    for (size_t s = 0; s < admin_source_roster(source, pool)->count; s++)
        row_of_server(source, pool, s, out);
    buf_append_str(out, "</table>\n");
}

static void
summary(const struct admin_source *source, struct buf *out)
{
    struct process_facts facts = process_facts_read();
    char host[PROCESS_HOST_MAX];
    uint64_t clients = 0;

    for (size_t p = 0; p < admin_source_pool_count(source); p++)
        clients += POOL_SUM(source, p, client_connections);
    buf_append_str(out, "<h1>Pointsman " POINTSMAN_VERSION " on ");
    append_escaped(out, process_host(host));
    buf_printf(out,
               "</h1>\n<p>%s; up %.0f s; %u workers; %" PRIu64 " of %" PRIu64
               " clients; %.1f MiB of memory; %.1f s of processor time.\n"
               "Rates are averages since the start.</p>\n",
               source->is_ready(source->arg) ? "Ready" : "Not ready",
               (double)admin_source_uptime_us(source) / US_PER_S,
               source->workers, clients, source->snapshot->settings->maxclients,
               (double)facts.resident_bytes / PER_MIB,
               facts.cpu_user_s + facts.cpu_system_s);
}

void
page_render(const struct admin_source *source, struct buf *out)
{
    buf_append_str(out, page_head);
    summary(source, out);
    table_of_pools(source, out);
    for (size_t p = 0; p < admin_source_pool_count(source); p++)
        table_of_servers(source, p, out);
    buf_append_str(out,
                   "<p><a href=\"metrics\">metrics</a> "
                   "<a href=\"stats.json\">stats.json</a> "
                   "<a href=\"readyz\">readyz</a></p>\n</body></html>\n");
}
