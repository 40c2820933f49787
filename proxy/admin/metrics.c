/*
 * admin/metrics.c - which metrics there are.
 *
 * Samples of one family must stand together, so each family walks over all
 * pools (and servers) in turn.
 */
#include "admin/metrics.h"

#include "admin/cluster_metrics.h"
#include "admin/command_totals.h"
#include "admin/sentinel_metrics.h"
#include "admin/exposition.h"
#include "admin/name_metrics.h"
#include "admin/process.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/version.h"

#define US_PER_S 1e6

/* What is being written, from where. */
struct metrics {
    const struct admin_source *source;
    struct exposition x;
};

static const struct pool_settings *
pool_at(const struct metrics *m, size_t pool)
{
    return admin_source_pool(m->source, pool);
}

static size_t
pool_count(const struct metrics *m)
{
    return admin_source_pool_count(m->source);
}

/* --- pools --------------------------------------------------------------- */

static void
render_pool_stat(struct metrics *m, const struct stat_desc *desc)
{
    exposition_stat_family(&m->x, "pool", desc);
    for (size_t p = 0; p < pool_count(m); p++) {
        const struct label labels[] = {{"pool", pool_at(m, p)->name},
                                       {NULL, NULL}};
        exposition_number(&m->x, labels,
                          admin_sum_pool(m->source, p, desc->offset));
    }
}

static void
render_pool_ready(struct metrics *m)
{
    const struct admin_source *source = m->source;

    exposition_family(&m->x, FAMILY_GAUGE, "pointsman_pool_ready", "",
                      "1 when the pool serves clients");
    for (size_t p = 0; p < pool_count(m); p++) {
        const struct label labels[] = {{"pool", pool_at(m, p)->name},
                                       {NULL, NULL}};
        exposition_number(&m->x, labels, source->pool_is_ready(source->arg, p));
    }
}

static void
render_pool_latency(struct metrics *m)
{
    exposition_family(&m->x, FAMILY_HISTOGRAM, "pointsman_pool_latency",
                      "seconds", "time from request to reply");
    for (size_t p = 0; p < pool_count(m); p++) {
        const struct label labels[] = {{"pool", pool_at(m, p)->name},
                                       {NULL, NULL}};
        struct histogram latency = admin_sum_pool_latency(m->source, p);
        exposition_histogram(&m->x, labels, &latency);
    }
}

/* Many reasons and commands are known and few of them occur: only those that
 * did are worth a line. */
static void
render_pool_closed(struct metrics *m)
{
    exposition_family(
        &m->x, FAMILY_COUNTER, "pointsman_pool_closed", "",
        "client connections that ended or were refused, by reason");
    for (size_t p = 0; p < pool_count(m); p++) {
        for (unsigned r = 0; r < CLOSE_REASON_COUNT; r++) {
            uint64_t count = POOL_SUM(m->source, p, closed[r]);
            const struct label labels[] = {{"pool", pool_at(m, p)->name},
                                           {"reason", close_reason_name(r)},
                                           {NULL, NULL}};
            if (count > 0)
                exposition_number(&m->x, labels, count);
        }
    }
}

static const char *
command_label(unsigned id)
{
    return id == COMMAND_ID_LEARNT ? "other" : command_by_id(id)->name;
}

static void
render_pool_commands(struct metrics *m)
{
    exposition_family(&m->x, FAMILY_COUNTER, "pointsman_pool_commands", "",
                      "requests received, by command");
    for (size_t p = 0; p < pool_count(m); p++) {
        for (unsigned c = 0; c < COMMAND_ID_ALL; c++) {
            uint64_t count = POOL_SUM(m->source, p, commands[c]);
            const struct label labels[] = {{"pool", pool_at(m, p)->name},
                                           {"command", command_label(c)},
                                           {NULL, NULL}};
            if (count > 0)
                exposition_number(&m->x, labels, count);
        }
    }
}

/* One number of each command that has been called. */
typedef void (*command_number_fn)(struct metrics *m, const struct label *labels,
                                  const struct command_stats *stats);

static void
write_calls(struct metrics *m, const struct label *labels,
            const struct command_stats *stats)
{
    exposition_number(&m->x, labels, command_stats_calls(stats));
}

static void
write_seconds(struct metrics *m, const struct label *labels,
              const struct command_stats *stats)
{
    exposition_real(&m->x, labels,
                    (double)cell_get(&stats->latency.sum_us) / US_PER_S);
}

static void
write_failed(struct metrics *m, const struct label *labels,
             const struct command_stats *stats)
{
    exposition_number(&m->x, labels, cell_get(&stats->failed));
}

static void
write_rejected(struct metrics *m, const struct label *labels,
               const struct command_stats *stats)
{
    exposition_number(&m->x, labels, cell_get(&stats->rejected));
}

static const struct command_family {
    const char *name, *unit, *help;
    command_number_fn write;
} command_families[] = {
    {"pointsman_pool_command_calls", "", "requests answered, by command",
     write_calls},
    {"pointsman_pool_command", "seconds",
     "time from request to reply of all calls, by command", write_seconds},
    {"pointsman_pool_command_failed", "",
     "calls answered with an error, by command", write_failed},
    {"pointsman_pool_command_rejected", "",
     "requests that the proxy did not take, by command", write_rejected},
};

static void
render_command_family(struct metrics *m, const struct command_family *family,
                      const struct command_totals *pools)
{
    exposition_family(&m->x, FAMILY_COUNTER, family->name, family->unit,
                      family->help);
    for (size_t p = 0; p < pool_count(m); p++) {
        for (size_t i = 0; i < pools[p].count; i++) {
            const struct command_total *total = &pools[p].all[i];
            const struct label labels[] = {{"pool", pool_at(m, p)->name},
                                           {"command", total->name},
                                           {NULL, NULL}};
            family->write(m, labels, &total->stats);
        }
    }
}

static void
render_pool_calls(struct metrics *m)
{
    size_t count = pool_count(m);
    struct command_totals *pools = mem_array(count, sizeof(*pools));

    for (size_t p = 0; p < count; p++)
        pools[p] = command_totals_read(m->source, p, SINCE_START);
    for (size_t i = 0; i < ARRAY_LEN(command_families); i++)
        render_command_family(m, &command_families[i], pools);
    for (size_t p = 0; p < count; p++)
        command_totals_fini(&pools[p]);
    mem_free(pools);
}

static void
render_pool_errors(struct metrics *m)
{
    exposition_family(&m->x, FAMILY_COUNTER, "pointsman_pool_error_replies", "",
                      "errors given to clients, by code");
    for (size_t p = 0; p < pool_count(m); p++) {
        struct error_totals totals =
            error_totals_read(m->source, p, SINCE_START);
        for (size_t i = 0; i < totals.count; i++) {
            const struct label labels[] = {{"pool", pool_at(m, p)->name},
                                           {"code", totals.all[i].code},
                                           {NULL, NULL}};
            exposition_number(&m->x, labels, totals.all[i].count);
        }
        error_totals_fini(&totals);
    }
}

static void
render_pools(struct metrics *m)
{
    render_pool_ready(m);
    for (unsigned i = 0; i < session_stat_count; i++)
        render_pool_stat(m, &session_stat_descs[i]);
    render_pool_latency(m);
    render_pool_closed(m);
    render_pool_commands(m);
    render_pool_calls(m);
    render_pool_errors(m);
}

/* --- servers ------------------------------------------------------------- */

static void
render_server_stat(struct metrics *m, const struct stat_desc *desc)
{
    exposition_stat_family(&m->x, "server", desc);
    for (size_t p = 0; p < pool_count(m); p++) {
        const struct roster *roster = admin_source_roster(m->source, p);
        for (size_t s = 0; s < roster->count; s++) {
            const struct label labels[] = {{"pool", pool_at(m, p)->name},
                                           {"server", roster->entries[s].name},
                                           {NULL, NULL}};
            exposition_number(&m->x, labels,
                              admin_sum_server(m->source, p, s, desc->offset));
        }
    }
}

static void
render_server_latency(struct metrics *m)
{
    exposition_family(&m->x, FAMILY_HISTOGRAM, "pointsman_server_latency",
                      "seconds",
                      "time from a client's request to the server's reply");
    for (size_t p = 0; p < pool_count(m); p++) {
        const struct roster *roster = admin_source_roster(m->source, p);
        for (size_t s = 0; s < roster->count; s++) {
            const struct label labels[] = {{"pool", pool_at(m, p)->name},
                                           {"server", roster->entries[s].name},
                                           {NULL, NULL}};
            struct histogram latency =
                admin_sum_server_latency(m->source, p, s);
            exposition_histogram(&m->x, labels, &latency);
        }
    }
}

static void
render_server_closed_of(struct metrics *m, size_t p, size_t s)
{
    const struct roster *roster = admin_source_roster(m->source, p);

    for (unsigned r = 0; r < CLOSE_REASON_COUNT; r++) {
        uint64_t count = SERVER_SUM(m->source, p, s, closed[r]);
        const struct label labels[] = {{"pool", pool_at(m, p)->name},
                                       {"server", roster->entries[s].name},
                                       {"reason", close_reason_name(r)},
                                       {NULL, NULL}};
        if (count > 0)
            exposition_number(&m->x, labels, count);
    }
}

static void
render_server_closed(struct metrics *m)
{
    exposition_family(&m->x, FAMILY_COUNTER, "pointsman_server_closed", "",
                      "connections to the server that ended, by reason");
    for (size_t p = 0; p < pool_count(m); p++) {
        for (size_t s = 0; s < admin_source_roster(m->source, p)->count; s++)
            render_server_closed_of(m, p, s);
    }
}

static void
render_servers(struct metrics *m)
{
    for (unsigned i = 0; i < server_stat_count; i++)
        render_server_stat(m, &server_stat_descs[i]);
    render_server_latency(m);
    render_server_closed(m);
}

/* --- workers, control, the stats port ------------------------------------ */

static void
render_worker_stat(struct metrics *m, const struct stat_desc *desc)
{
    exposition_stat_family(&m->x, "worker", desc);
    for (unsigned w = 0; w < m->source->workers; w++) {
        char number[16];
        const struct label labels[] = {{"worker", number}, {NULL, NULL}};
        snprintf(number, sizeof(number), "%u", w);
        exposition_number(&m->x, labels,
                          admin_cell(m->source->worker_stats[w], desc->offset));
    }
}

static void
render_workers(struct metrics *m)
{
    exposition_family(&m->x, FAMILY_GAUGE, "pointsman_workers", "",
                      "threads that serve clients");
    exposition_number(&m->x, NO_LABELS, m->source->workers);
    for (unsigned i = 0; i < worker_stat_count; i++)
        render_worker_stat(m, &worker_stat_descs[i]);
}

static void
render_control(struct metrics *m)
{
    for (unsigned i = 0; i < control_stat_count; i++) {
        const struct stat_desc *desc = &control_stat_descs[i];
        exposition_stat_family(&m->x, "control", desc);
        exposition_number(&m->x, NO_LABELS,
                          admin_cell(&m->source->control_stats, desc->offset));
    }
}

static void
render_port(struct metrics *m, const struct port_stats *port)
{
    for (unsigned i = 0; i < port_stat_count; i++) {
        exposition_stat_family(&m->x, "stats", &port_stat_descs[i]);
        exposition_number(&m->x, NO_LABELS,
                          admin_cell(port, port_stat_descs[i].offset));
    }
}

/* --- the process --------------------------------------------------------- */

static void
gauge(struct metrics *m, const char *name, const char *unit, const char *help,
      uint64_t value)
{
    exposition_family(&m->x, FAMILY_GAUGE, name, unit, help);
    exposition_number(&m->x, NO_LABELS, value);
}

static void
render_build(struct metrics *m)
{
    const struct label labels[] = {{"version", POINTSMAN_VERSION},
                                   {NULL, NULL}};

    exposition_family(&m->x, FAMILY_INFO, "pointsman_build", "",
                      "the program's version");
    exposition_number(&m->x, labels, 1);
}

static void
render_state(struct metrics *m)
{
    const struct admin_source *source = m->source;

    gauge(m, "pointsman_ready", "",
          "1 while the process serves clients and is not shutting down",
          source->is_ready(source->arg));
    gauge(m, "pointsman_maxclients", "",
          "client connections that the process accepts",
          source->snapshot->settings->maxclients);
    exposition_family(&m->x, FAMILY_GAUGE, "pointsman_uptime", "seconds",
                      "time since the process started");
    exposition_real(&m->x, NO_LABELS,
                    (double)admin_source_uptime_us(source) / US_PER_S);
}

static void
render_log(struct metrics *m)
{
    exposition_family(&m->x, FAMILY_COUNTER, "pointsman_log_lines_lost", "",
                      "log lines that could not be written");
    exposition_number(&m->x, NO_LABELS, log_lost());
}

static void
render_memory(struct metrics *m, const struct process_facts *facts)
{
    gauge(m, "process_resident_memory", "bytes", "memory in RAM",
          facts->resident_bytes);
    gauge(m, "process_virtual_memory", "bytes", "size of the address space",
          facts->virtual_bytes);
    if (facts->held_bytes == 0)
        return; /* the allocator cannot tell */
    gauge(m, "pointsman_memory_allocated", "bytes",
          "memory asked for and not given back", facts->allocated_bytes);
    gauge(m, "pointsman_memory_held", "bytes",
          "memory that the allocator holds from the system", facts->held_bytes);
}

/* Under the names that every Prometheus client library gives them. */
static void
render_process(struct metrics *m)
{
    struct process_facts facts = process_facts_read();

    exposition_family(&m->x, FAMILY_COUNTER, "process_cpu", "seconds",
                      "processor time of all threads, user and system");
    exposition_real(&m->x, NO_LABELS, facts.cpu_user_s + facts.cpu_system_s);
    exposition_family(&m->x, FAMILY_GAUGE, "process_start_time", "seconds",
                      "when the process started, since the epoch");
    exposition_real(&m->x, NO_LABELS,
                    (double)m->source->started_unix_us / US_PER_S);
    render_memory(m, &facts);
    if (facts.open_fds > 0)
        gauge(m, "process_open_fds", "", "file descriptors in use",
              facts.open_fds);
    gauge(m, "process_max_fds", "", "file descriptors allowed", facts.max_fds);
}

void
metrics_render(const struct admin_source *source, const struct port_stats *port,
               bool open_metrics, struct buf *out)
{
    struct metrics m = {source, {.out = out, .open_metrics = open_metrics}};

    render_build(&m);
    render_state(&m);
    render_process(&m);
    render_log(&m);
    render_control(&m);
    render_workers(&m);
    render_pools(&m);
    render_servers(&m);
    cluster_metrics_render(source, &m.x);
    name_metrics_render(source, &m.x);
    sentinel_metrics_render(source, &m.x);
    render_port(&m, port);
    exposition_end(&m.x);
}
