/*
 * tests/replay/expect.c - comparing, and telling the difference.
 */
#include "expect.h"

#include <inttypes.h>

#define BEFORE_SHOWN 40 /* bytes shown in front of a difference */

static const char *
quote(struct view bytes)
{
    struct buf out = {0};

    talk_quote(&out, bytes);
    buf_append_char(&out, '\0');
    return out.data; /* the process ends in a moment */
}

static struct view
view_from(struct view bytes, size_t from)
{
    return view_of(bytes.data + from, bytes.len - from);
}

static void
fail_bytes(struct world *world, const struct world_peer *peer,
           struct view wanted, struct view came)
{
    size_t same = 0, shown;

    while (same < wanted.len && same < came.len &&
           wanted.data[same] == came.data[same])
        same++;
    shown = same > BEFORE_SHOWN ? same - BEFORE_SHOWN : 0;
    world_fail(world,
               "%s: different from byte %zu on; from byte %zu\n"
               "  expected %s\n  but came %s%s",
               peer->name, same, shown, quote(view_from(wanted, shown)),
               quote(view_from(came, shown)),
               peer->peer->closed ? "  (and was closed)" : "");
}

void
expect_bytes(struct world *world, const struct world_peer *peer,
             struct view bytes)
{
    struct view came = fake_received(peer->peer);

    if (came.len < bytes.len ||
        !view_equal(view_of(came.data, bytes.len), bytes))
        fail_bytes(world, peer, bytes, came);
    fake_take(peer->peer, bytes.len);
}

void
expect_nothing(const struct world *world, const struct world_peer *peer)
{
    struct view came = fake_received(peer->peer);

    if (came.len > 0)
        world_fail(world, "%s: expected nothing, but came %s", peer->name,
                   quote(came));
}

void
expect_closed(const struct world *world, const struct world_peer *peer,
              bool closed)
{
    if (peer->peer->closed != closed)
        world_fail(world, "%s is %s", peer->name,
                   closed ? "not closed" : "closed");
}

static void
expect_stat(const struct world *world, struct view name, const void *block,
            const struct stat_desc *descs, unsigned count, uint64_t value)
{
    for (unsigned i = 0; i < count; i++) {
        if (!view_equal(view_str(descs[i].name), name))
            continue;
        const struct cell *cell =
            (const void *)((const char *)block + descs[i].offset);
        if (cell_get(cell) != value)
            world_fail(world, "%s is %" PRIu64, descs[i].name, cell_get(cell));
        return;
    }
    world_fail(world, "no counter is called %.*s", (int)name.len, name.data);
}

void
expect_pool_stat(const struct world *world, struct view name, uint64_t value)
{
    expect_stat(world, name, world->edition->pools[0].stats, session_stat_descs,
                session_stat_count, value);
}

void
expect_server_stat(const struct world *world, struct view server,
                   struct view name, uint64_t value)
{
    size_t number = world_get_server(world, server);

    expect_stat(world, name, world->edition->pools[0].servers[number], server_stat_descs,
                server_stat_count, value);
}

static void
expect_reason(const struct world *world, const struct cell *cells,
              struct view reason, uint64_t value)
{
    for (int i = 0; i < CLOSE_REASON_COUNT; i++) {
        const char *name = close_reason_name((enum close_reason)i);
        if (!view_equal(view_str(name), reason))
            continue;
        if (cell_get(&cells[i]) != value)
            world_fail(world, "%s is %" PRIu64, name, cell_get(&cells[i]));
        return;
    }
    world_fail(world, "no reason is called %.*s", (int)reason.len, reason.data);
}

void
expect_ended(const struct world *world, struct view reason, uint64_t value)
{
    expect_reason(world, world->edition->pools[0].stats->closed, reason, value);
}

void
expect_closed_for(const struct world *world, struct view server,
                  struct view reason, uint64_t value)
{
    size_t number = world_get_server(world, server);

    expect_reason(world, world->edition->pools[0].servers[number]->closed,
                  reason, value);
}
