/*
 * admin/json.c - twemproxy's field names and nesting, by jansson.
 *
 * Exporters walk over whatever numbers they find, so nothing is added to
 * twemproxy's own fields: those stand first in the tables.
 */
#include "admin/json.h"

#include <jansson.h>
#include <time.h>

#include "admin/process.h"
#include "base/version.h"

#define POOL_FIELDS 6    /* rows of session_stats.def that twemproxy has */
#define SERVER_FIELDS 12 /* rows of server_stats.def that twemproxy has */
#define US_PER_S 1000000

static void
set_number(json_t *object, const char *name, uint64_t value)
{
    json_object_set_new(object, name, json_integer((json_int_t)value));
}

static json_t *
make_server(const struct admin_source *source, size_t pool, size_t server)
{
    json_t *object = json_object();

    for (unsigned i = 0; i < SERVER_FIELDS; i++) {
        const struct stat_desc *desc = &server_stat_descs[i];
        set_number(object, desc->name,
                   admin_sum_server(source, pool, server, desc->offset));
    }
    /* The time of the last ejection, 0 for never. */
    set_number(object, "server_ejected_at",
               SERVER_SUM(source, pool, server, ejected_at));
    return object;
}

static json_t *
make_pool(const struct admin_source *source, size_t pool)
{
    const struct roster *roster = admin_source_roster(source, pool);
    json_t *object = json_object();

    for (unsigned i = 0; i < POOL_FIELDS; i++) {
        const struct stat_desc *desc = &session_stat_descs[i];
        set_number(object, desc->name,
                   admin_sum_pool(source, pool, desc->offset));
    }
    for (size_t s = 0; s < roster->count; s++)
        json_object_set_new(object, roster->entries[s].name,
                            make_server(source, pool, s));
    return object;
}

/* As in twemproxy, these count clients and servers together. */
static void
set_connections(json_t *top, const struct admin_source *source)
{
    uint64_t total = 0, current = 0;

    for (size_t p = 0; p < admin_source_pool_count(source); p++) {
        total += POOL_SUM(source, p, clients_accepted);
        current += POOL_SUM(source, p, client_connections);
        for (size_t s = 0; s < admin_source_roster(source, p)->count; s++) {
            total += SERVER_SUM(source, p, s, connects);
            current += SERVER_SUM(source, p, s, server_connections);
        }
    }
    set_number(top, "total_connections", total);
    set_number(top, "curr_connections", current);
}

static json_t *
make_top(const struct admin_source *source)
{
    json_t *top = json_object();
    char host[PROCESS_HOST_MAX];

    json_object_set_new(top, "service", json_string("pointsman"));
    json_object_set_new(top, "source", json_string(process_host(host)));
    json_object_set_new(top, "version", json_string(POINTSMAN_VERSION));
    set_number(top, "uptime", admin_source_uptime_us(source) / US_PER_S);
    set_number(top, "timestamp", (uint64_t)time(NULL));
    set_connections(top, source);
    for (size_t p = 0; p < admin_source_pool_count(source); p++)
        json_object_set_new(top, admin_source_pool(source, p)->name,
                            make_pool(source, p));
    return top;
}

static int
append(const char *bytes, size_t len, void *arg)
{
    buf_append(arg, bytes, len);
    return 0;
}

void
json_render(const struct admin_source *source, struct buf *out)
{
    json_t *top = make_top(source);

    json_dump_callback(top, append, out, JSON_COMPACT);
    buf_append_char(out, '\n');
    json_decref(top);
}
