/*
 * config/resolver.c - "127.0.0.1:53", ["10.0.0.2:53", "[::1]:53"]
 */
#include "config/resolver.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/mem.h"
#include "config/address.h"

/* Who tells us addresses can have no name. */
static bool
is_literal(const char *host)
{
    struct in6_addr room;

    return inet_pton(AF_INET, host, &room) == 1 ||
        inet_pton(AF_INET6, host, &room) == 1;
}

static bool
append_server(const struct node *node, struct buf *out)
{
    struct address_text server = {0};

    if (node->kind != NODE_TEXT || node->text_len == 0 ||
        node->text[0] == '/' ||
        address_text_parse(node_text(node), ADDRESS_SERVER, &server) != NULL)
        return false;
    bool is_good = is_literal(server.host);
    buf_printf(out,
               strchr(server.host, ':') != NULL ? "%s[%s]:%u" : "%s%s:%u",
               out->len > 0 ? "," : "", server.host, server.port);
    address_text_fini(&server);
    return is_good;
}

static bool
append_servers(const struct node *node, struct buf *out)
{
    if (node->kind != NODE_LIST)
        return append_server(node, out);
    if (node->count == 0 || node->count > RESOLVERS_MAX)
        return false;
    for (const struct node *item = node->first; item; item = item->next) {
        if (!append_server(item, out))
            return false;
    }
    return true;
}

void
process_read_resolver(struct report *report, const struct node *node,
                      void *target)
{
    struct settings *settings = target;
    struct buf servers = {0};

    if (append_servers(node, &servers)) {
        mem_free(settings->resolver);
        settings->resolver = mem_view_dup(buf_view(&servers));
    } else {
        report_found(report, node, "resolver",
                     "the address and port of a name server, such as "
                     "127.0.0.1:53, or a list of up to %d of them",
                     RESOLVERS_MAX);
    }
    buf_fini(&servers);
}
