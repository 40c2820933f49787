/*
 * config/servers.c - servers as lines of twemproxy or as maps.
 */
#include "config/servers.h"

#include <stdio.h>

#include "base/mem.h"
#include "config/address.h"
#include "config/section.h"
#include "config/sentinel.h"
#include "config/server_line.h"
#include "config/spans.h"

static void
read_address(struct report *report, const struct node *node, void *target)
{
    struct server_settings *server = target;
    const char *allowed =
        address_text_parse(node_text(node), ADDRESS_SERVER, &server->address);

    if (allowed != NULL)
        report_found(report, node, "address", "%s", allowed);
}

static void
read_weight(struct report *report, const struct node *node, void *target)
{
    struct server_settings *server = target;
    uint64_t weight;

    if (!view_to_u64(node_text(node), &weight) || weight < 1 ||
        weight > SERVER_WEIGHT_MAX)
        report_found(report, node, "weight", "a number from 1 to %d",
                     SERVER_WEIGHT_MAX);
    else
        server->weight = (uint32_t)weight;
}

static void
read_default(struct report *report, const struct node *node, void *target)
{
    struct server_settings *server = target;

    value_read_bool(report, node, "default", &server->is_default);
}

static void
read_slots(struct report *report, const struct node *node, void *target)
{
    spans_read_slots(report, node, target);
}

static const struct word server_words[] = {
#define SERVER_WORD(key, read) {#key, read},
#include "config/words.def"
};

static const struct section server_section = {
    .words = server_words,
    .word_count = ARRAY_LEN(server_words),
};

/* Left out, it is what twemproxy would call the server. */
static void
read_name(struct report *report, const struct node *map,
          struct server_settings *server)
{
    const struct node *node = node_find(map, VIEW("name"));
    char *name = node ? mem_view_dup(node_text(node))
        : server->master != NULL
        ? mem_strdup(server->master)
        : server_line_default_name(&server->address);

    /* A NUL would cut the copy short: look at what was written. */
    if (server_line_is_name(node ? node_text(node) : view_str(name))) {
        server->name = name;
        return;
    }
    mem_free(name);
    report_found(report, node ? node : map, "name", "a name of 1 to %d "
                 "visible characters", SERVER_NAME_MAX);
}

/* One of the two keys says where it is. */
static void
check_place(struct report *report, const struct node *map,
            const struct pool_settings *pool)
{
    const struct node *address = node_find(map, VIEW("address"));
    const struct node *master = node_find(map, VIEW("master"));

    if (pool_is_named(pool)) {
        if (address != NULL)
            report_error(report, address->key_at, "address", "found in a pool "
                         "with sentinels, allowed master");
        if (master == NULL)
            report_error(report, map->at, "master", "found nothing, allowed "
                         "the name of a master in a pool with sentinels");
        return;
    }
    if (master != NULL)
        report_error(report, master->key_at, "master", "found without "
                     "sentinels, allowed only together with it");
    if (address == NULL)
        report_error(report, map->at, "address", "found nothing, allowed "
                     "host:port, [v6]:port or /path");
}

static void
read_map(struct report *report, const struct node *map,
         const struct pool_settings *pool, struct server_settings *server)
{
    section_read(report, map, &server_section, server);
    check_place(report, map, pool);
    if (pool->distribution == DISTRIBUTION_RANGE)
        spans_read_ranges(report, map, pool->range_by, server);
    if (server->address.text != NULL || server->master != NULL)
        read_name(report, map, server);
}

static void
read_line(struct report *report, const struct node *line,
          struct server_settings *server)
{
    const char *allowed = server_line_parse(node_text(line), server);

    if (allowed != NULL)
        report_found(report, line, NULL, "%s", allowed);
}

static void
read_server(struct report *report, const struct node *item,
            const struct pool_settings *pool, struct server_settings *server)
{
    server->weight = 1;
    if (item->kind == NODE_MAP)
        read_map(report, item, pool, server);
    else if (pool_is_named(pool))
        report_found(report, item, NULL, "{name: X, master: Y, ...} in a pool "
                     "with sentinels");
    else if (item->kind == NODE_TEXT && item->text_len > 0)
        read_line(report, item, server);
    else
        report_found(report, item, NULL, "host:port:weight [name], /path:weight"
                     " [name] or {name: X, address: Y, ...}");
}

void
servers_read(struct report *report, const struct node *list,
             struct pool_settings *pool)
{
    char section[REPORT_QUOTE_SIZE + 10];
    const char *outer = report->section;

    if (list->kind != NODE_LIST || list->count == 0) {
        report_found(report, list, "servers",
                     "a list of host:port:weight [name]");
        return;
    }
    pool->servers = mem_array(list->count, sizeof(*pool->servers));
    pool->server_count = list->count;

    snprintf(section, sizeof(section), "%s.servers", outer);
    report->section = section;
    struct server_settings *server = pool->servers;
    for (const struct node *item = list->first; item; item = item->next)
        read_server(report, item, pool, server++);
    report->section = outer;
}

void
servers_fini(struct pool_settings *pool)
{
    for (size_t i = 0; i < pool->server_count; i++) {
        mem_free(pool->servers[i].name);
        mem_free(pool->servers[i].master);
        address_text_fini(&pool->servers[i].address);
        spans_fini(&pool->servers[i]);
    }
    mem_free(pool->servers);
}
