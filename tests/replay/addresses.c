/*
 * tests/replay/addresses.c - names, as control would know them.
 */
#include "addresses.h"

#include <string.h>

#include "base/mem.h"

static struct address
address_of(const struct world *world, struct view host, uint16_t port)
{
    char *text = mem_view_dup(host);
    struct address address;

    if (!address_from_literal(&address, text, port))
        world_fail(world, "not an address: %s", text);
    mem_free(text);
    return address;
}

static struct address_list *
read_list(const struct world *world, struct view hosts, uint16_t port)
{
    struct address_list *list = address_list_new(ADDRESS_LIST_MAX);
    struct view host;

    list->count = 0;
    list->is_pending = view_equal(hosts, VIEW("pending"));
    if (list->is_pending || view_equal(hosts, VIEW("nowhere")))
        return list;
    while ((host = talk_word(&hosts)).len > 0)
        list->items[list->count++] = address_of(world, host, port);
    return list;
}

void
addresses_set(struct world *world, struct view server, struct view hosts)
{
    size_t number = world_get_server(world, server);
    struct snapshot *snapshot = snapshot_copy(world->edition->snapshot);

    snapshot_set_addresses(
        snapshot, 0, (uint32_t)number,
        read_list(world, hosts, world_get_port(world, server)));
    world_publish(world, snapshot);
}

void
addresses_expect_asked(const struct world *world, struct view server,
                       struct view host)
{
    uint16_t port = world_get_port(world, server);
    const struct fake_peer *peer = fake_find_asked(world->loop, port);
    struct address wanted = address_of(world, host, port);
    char text[ADDRESS_TEXT_MAX];

    if (peer == NULL)
        world_fail(world, "nobody connects to it");
    if (!address_equal(&peer->to, &wanted))
        world_fail(world, "it is %s", address_format(&peer->to, text));
}
