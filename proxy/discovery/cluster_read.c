/*
 * discovery/cluster_read.c - CLUSTER SLOTS and CLUSTER NODES, all spellings.
 *
 *   *3  [start, end, primary, replica ...]      node: [host, port, id, more]
 *
 * Versions differ: 3.x has no id, 7.0 has metadata behind it, and more may
 * come.  What is not understood is skipped.
 */
#include <arpa/inet.h>
#include <string.h>

#include "base/mem.h"
#include "discovery/cluster_map_priv.h"
#include "resp/reply_read.h"

/* --- a node in CLUSTER SLOTS ---------------------------------------------------- */

struct slots_node {
    bool has_no_host; /* it does not know: where it was asked */
    struct view host; /* "?": unknown */
    uint16_t port;
    struct view id;
    struct view ip;
    struct view zone;
};

static bool
is_literal(struct view host)
{
    char text[INET6_ADDRSTRLEN];
    unsigned char address[sizeof(struct in6_addr)];

    if (host.len >= sizeof(text) || host.len == 0)
        return false;
    memcpy(text, host.data, host.len);
    text[host.len] = '\0';
    return inet_pton(AF_INET, text, address) == 1 ||
        inet_pton(AF_INET6, text, address) == 1;
}

static bool
is_aggregate(const struct reply_item *item)
{
    return item->type == RESP_ARRAY || item->type == RESP_MAP ||
        item->type == RESP_SET || item->type == RESP_PUSH;
}

static bool
skip_elements(struct view *rest, uint64_t count)
{
    while (count > 0 && reply_skip(rest))
        count--;
    return count == 0;
}

/* Names and values in turn. */
static bool
read_metadata(struct view *rest, struct slots_node *node)
{
    struct reply_item item, value;

    if (!reply_next(rest, &item))
        return false;
    if (!is_aggregate(&item))
        return true;
    for (uint64_t left = item.count; left >= 2; left -= 2) {
        struct reply_item key;
        if (!reply_next(rest, &key) || is_aggregate(&key) ||
            !reply_next(rest, &value))
            return false;
        if (is_aggregate(&value) && !skip_elements(rest, value.count))
            return false;
        if (view_equal(key.text, VIEW("ip")))
            node->ip = value.text;
        else if (view_equal(key.text, VIEW("availability-zone")))
            node->zone = value.text;
    }
    return item.count % 2 == 0;
}

static uint16_t
port_of(int64_t number)
{
    return number > 0 && number <= UINT16_MAX ? (uint16_t)number : 0;
}

static bool
read_slots_node(struct view *rest, struct slots_node *node)
{
    struct reply_item array, host, port, id;

    *node = (struct slots_node){0};
    if (!reply_next(rest, &array) || array.type != RESP_ARRAY ||
        array.count < 2)
        return false;
    if (!reply_next(rest, &host) || is_aggregate(&host) ||
        !reply_next(rest, &port) || port.type != RESP_INTEGER)
        return false;
    node->has_no_host = host.is_null || host.text.len == 0;
    node->host = host.text;
    node->port = port_of(port.number);
    if (array.count >= 3) {
        if (!reply_next(rest, &id) || is_aggregate(&id))
            return false;
        node->id = id.text;
    }
    if (array.count >= 4 && !read_metadata(rest, node))
        return false;
    return array.count <= 4 || skip_elements(rest, array.count - 4);
}

/* --- into the map ------------------------------------------------------------------ */

static void
set_text(char **place, struct view text)
{
    mem_free(*place);
    *place = text.len == 0 ? NULL : mem_view_dup(text);
}

static void
set_id(struct cluster_node *node, struct view id)
{
    size_t len = MIN(id.len, (size_t)NODE_ID_MAX);

    if (len > 0)
        memcpy(node->id, id.data, len);
    node->id[len] = '\0';
}

/* Its number, or map->count when it cannot be taken. */
static uint32_t
enter_slots_node(struct cluster_map *map, const struct slots_node *from,
                 const char *asked)
{
    struct view host = from->has_no_host ? view_str(asked) : from->host;

    /* "?" says that it has no name to go by; its address is in the metadata. */
    if (view_equal(host, VIEW("?")))
        host = from->ip;
    uint32_t number = cluster_map_find(map, from->id, host, from->port);
    if (number < map->count)
        return number;
    number = cluster_map_add(map);
    if (number == map->count)
        return number;
    struct cluster_node *node = &map->nodes[number];
    set_id(node, from->id);
    set_text(&node->host, host);
    set_text(&node->ip, is_literal(host) ? host
                 : is_literal(from->ip) ? from->ip
                                        : view_of(NULL, 0));
    set_text(&node->zone, from->zone);
    node->port = from->port;
    node->is_listed = true;
    return number;
}

static void
give_slots(struct cluster_map *map, int64_t first, int64_t last,
           uint32_t owner)
{
    for (int64_t slot = first; slot <= last; slot++)
        map->owners[slot] = (uint16_t)owner;
}

static bool
read_range(struct cluster_map *map, struct view *rest, const char *asked)
{
    struct reply_item array, first, last;
    struct slots_node from;
    uint32_t owner = 0;

    if (!reply_next(rest, &array) || array.type != RESP_ARRAY ||
        array.count < 2 || !reply_next(rest, &first) ||
        first.type != RESP_INTEGER || !reply_next(rest, &last) ||
        last.type != RESP_INTEGER)
        return false;
    if (first.number < 0 || first.number > last.number ||
        last.number >= ROUTE_SLOTS)
        return false;
    for (uint64_t i = 2; i < array.count; i++) {
        if (!read_slots_node(rest, &from))
            return false;
        uint32_t number = enter_slots_node(map, &from, asked);
        if (number == map->count)
            continue;
        if (i == 2) {
            owner = number;
            map->nodes[number].is_replica = false;
            give_slots(map, first.number, last.number, owner);
        } else if (number != owner) {
            map->nodes[number].is_replica = true;
            map->nodes[number].primary = owner;
        }
    }
    return true;
}

static int
read_slots(struct cluster_map *map, struct view slots, const char *asked,
           struct error *error)
{
    struct reply_item array;

    if (!reply_next(&slots, &array))
        return error_set(error, "the answer is no reply");
    if (array.type == RESP_ERROR || array.type == RESP_BULK_ERROR)
        return error_set(error, "CLUSTER SLOTS: %.*s",
                         (int)MIN(array.text.len, (size_t)200),
                         array.text.data);
    if (array.type != RESP_ARRAY || array.is_null)
        return error_set(error, "CLUSTER SLOTS: not a list");
    for (uint64_t i = 0; i < array.count; i++) {
        if (!read_range(map, &slots, asked))
            return error_set(error, "CLUSTER SLOTS: not understood");
    }
    return 0;
}

/* --- CLUSTER NODES ------------------------------------------------------------------ */

static bool
has_flag(struct view flags, struct view flag)
{
    while (flags.len > 0) {
        if (view_equal(view_take(&flags, ','), flag))
            return true;
    }
    return false;
}

/* "10.0.0.1:7000@17000,name": the host before the last colon before '@'. */
static void
take_host(struct view word, struct view *host, uint16_t *port)
{
    struct view address = view_take(&word, '@');
    uint64_t number;

    address = view_take(&address, ',');
    size_t colon = address.len;
    while (colon > 0 && address.data[colon - 1] != ':')
        colon--;
    *host = view_of(address.data, colon > 0 ? colon - 1 : 0);
    *port = 0;
    if (colon > 0 &&
        view_to_u64(view_of(address.data + colon, address.len - colon),
                    &number) &&
        number <= UINT16_MAX)
        *port = (uint16_t)number;
}

struct nodes_line {
    struct view id, host, flags, link;
    uint16_t port;
    uint64_t epoch;
};

static bool
read_line(struct view line, struct nodes_line *node)
{
    node->id = view_take(&line, ' ');
    take_host(view_take(&line, ' '), &node->host, &node->port);
    node->flags = view_take(&line, ' ');
    for (int i = 0; i < 3; i++)
        (void)view_take(&line, ' '); /* its primary, ping, pong */
    bool has_epoch = view_to_u64(view_take(&line, ' '), &node->epoch);
    node->link = view_take(&line, ' ');
    return has_epoch && node->id.len > 0 &&
        !has_flag(node->flags, VIEW("handshake"));
}

static void
enter_line(struct cluster_map *map, const struct nodes_line *line,
           const char *asked)
{
    bool is_myself = has_flag(line->flags, VIEW("myself"));
    struct view host =
        line->host.len == 0 && is_myself ? view_str(asked) : line->host;
    uint32_t number = cluster_map_find(map, line->id, host, line->port);

    if (number == map->count && (number = cluster_map_add(map)) == map->count)
        return;
    struct cluster_node *node = &map->nodes[number];
    if (!node->is_listed) {
        bool is_there = !has_flag(line->flags, VIEW("noaddr"));
        set_text(&node->host, is_there ? host : view_of(NULL, 0));
        node->port = is_there ? line->port : 0;
        node->is_replica = has_flag(line->flags, VIEW("slave"));
    }
    set_id(node, line->id);
    if (node->ip == NULL && is_literal(line->host))
        set_text(&node->ip, line->host);
    if (node->host == NULL && node->ip != NULL)
        set_text(&node->host, view_str(node->ip));
    node->epoch = line->epoch;
    node->is_myself = is_myself;
    node->is_failed = has_flag(line->flags, VIEW("fail")) ||
        has_flag(line->flags, VIEW("fail?")) ||
        (!is_myself && !view_equal(line->link, VIEW("connected")));
}

/* Without it there is a map, but no epochs to judge by. */
static void
read_nodes(struct cluster_map *map, struct view nodes, const char *asked)
{
    struct reply_item text;
    struct nodes_line line;

    if (!reply_next(&nodes, &text) || text.is_null ||
        (text.type != RESP_BULK && text.type != RESP_VERBATIM))
        return;
    map->has_epochs = true;
    while (text.text.len > 0) {
        struct view words = view_take(&text.text, '\n');
        if (read_line(view_take(&words, '\r'), &line))
            enter_line(map, &line, asked);
    }
}

/* Nobody can be sent to a node without an address. */
static void
drop_unusable(struct cluster_map *map)
{
    for (uint32_t i = 0; i < map->count; i++) {
        if (map->nodes[i].ip == NULL || map->nodes[i].port == 0)
            map->nodes[i].is_listed = false;
    }
    for (uint32_t slot = 0; slot < ROUTE_SLOTS; slot++) {
        uint16_t owner = map->owners[slot];
        if (owner != ROUTE_NO_OWNER && !map->nodes[owner].is_listed)
            map->owners[slot] = ROUTE_NO_OWNER;
    }
}

struct cluster_map *
cluster_map_read(struct view slots, struct view nodes, const char *host,
                 struct error *error)
{
    struct cluster_map *map = cluster_map_new();

    if (read_slots(map, slots, host, error) < 0) {
        cluster_map_free(&map);
        return NULL;
    }
    read_nodes(map, nodes, host);
    drop_unusable(map);
    return map;
}
