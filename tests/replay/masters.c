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
place(struct world *world, struct roster_entry *entry, struct view where)
{
    const char *colon = memchr(where.data, ':', where.len);
    size_t len = colon != NULL ? (size_t)(colon - where.data) : where.len;
    struct view what = view_of(where.data + len, where.len - len);
    char text[32];

    entry->is_held = view_equal(what, VIEW(":held"));
    entry->rejects_writes = view_equal(what, VIEW(":barred"));
    if (what.len > 0 && !entry->is_held && !entry->rejects_writes)
        world_fail(world, "neither held nor barred");
    if (view_equal(where, VIEW("none")))
        return;
    snprintf(text, sizeof(text), "127.0.0.1:%.*s", (int)len, where.data);
    if (address_text_parse(view_str(text), ADDRESS_SERVER, &entry->address))
        world_fail(world, "no port");
}

void
masters_place(struct world *world, struct view words)
{
    struct snapshot *now = world->edition->snapshot;
    struct roster *roster = roster_of_settings(now->pools[0].settings);
    struct view name;

    while ((name = talk_word(&words)).len > 0)
        place(world, &roster->entries[world_get_server(world, name)],
              talk_word(&words));
    world_publish(world, snapshot_with_roster(now, 0, roster,
                                              loop_clock_us(world->loop)));
}
