/*
 * tests/replay/masters.c - a pool of masters, and where they are believed to be.
 */
#include "masters.h"

#include <stdio.h>

#include "base/mem.h"
#include "config/address.h"

void
masters_append(struct buf *yaml, struct view *words)
{
    struct view word;

    buf_append_str(yaml, "pointsman: {state_file: /nowhere}\n"
                         "pool:\n  listen: 127.0.0.1:7000\n  redis: true\n"
                         "  distribution: range\n  range_by: bytes\n"
                         "  sentinels: [127.0.0.1:26379]\n  servers:\n");
    while ((word = talk_word(words)).len > 0 &&
           !view_equal(word, VIEW("with")))
        buf_printf(yaml,
                   "    - {name: %.*s, master: m-%.*s, from: \"%c\", "
                   "before: \"%c\"}\n",
                   (int)word.len, word.data, (int)word.len, word.data,
                   word.data[0], word.data[0] + 1);
}

static void
place(struct world *world, struct roster_entry *entry, struct view where,
      enum gate *gate)
{
    const char *colon = memchr(where.data, ':', where.len);
    size_t len = colon != NULL ? (size_t)(colon - where.data) : where.len;
    struct view what = view_of(where.data + len, where.len - len);
    char text[32];

    if (view_equal(what, VIEW(":held")))
        *gate = GATE_HELD;
    else if (view_equal(what, VIEW(":promoting")))
        *gate = GATE_PROMOTING;
    else if (view_equal(what, VIEW(":stuck")))
        *gate = GATE_STUCK;
    else if (view_equal(what, VIEW(":barred")))
        *gate = GATE_NO_QUORUM;
    else if (what.len > 0)
        world_fail(world, "no such gate");
    if (view_equal(where, VIEW("none")))
        return;
    snprintf(text, sizeof(text), "127.0.0.1:%.*s", (int)len, where.data);
    if (address_text_parse(view_str(text), ADDRESS_SERVER, &entry->address))
        world_fail(world, "no port");
}

/* Behind the masters: "a/7003 fresh", or "cut". */
static void
place_replica(struct world *world, struct roster *roster, uint32_t number,
              struct view name, struct view how)
{
    struct roster_entry *entry = &roster->entries[number];
    struct view master = view_take(&name, '/');
    uint64_t port;

    if (!view_to_u64(name, &port))
        world_fail(world, "no port");
    roster_set_replica(roster, number,
                       (uint32_t)world_get_server(world, master), "127.0.0.1",
                       (uint16_t)port);
    entry->is_usable = view_equal(how, VIEW("fresh"));
    entry->is_cut = view_equal(how, VIEW("cut"));
}

static bool
is_replica(struct view name)
{
    return memchr(name.data, '/', name.len) != NULL;
}

static uint32_t
count_replicas(struct view words)
{
    struct view word;
    uint32_t count = 0;

    while ((word = talk_word(&words)).len > 0)
        count += is_replica(word);
    return count;
}

void
masters_place(struct world *world, struct view words)
{
    struct snapshot *now = world->edition->snapshot;
    struct roster *roster = roster_with_replicas(now->pools[0].settings,
                                                 count_replicas(words));
    uint32_t next = roster->shard_count;
    enum gate *gates = mem_array(roster->shard_count, sizeof(enum gate));
    struct view name;

    while ((name = talk_word(&words)).len > 0) {
        struct view where = talk_word(&words);
        if (is_replica(name))
            place_replica(world, roster, next++, name, where);
        else
            place(world, &roster->entries[world_get_server(world, name)],
                  where, &gates[world_get_server(world, name)]);
    }
    struct snapshot *moved =
        snapshot_with_roster(now, 0, roster, loop_clock_us(world->loop));
    world_publish(world, snapshot_with_gates(moved, 0, gates));
    snapshot_unref(&moved);
    mem_free(gates);
}
