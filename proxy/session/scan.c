/*
 * session/scan.c - to which shard a SCAN goes, and with which cursor.
 */
#include "session/scan.h"

#include <stdio.h>

#include "base/mem.h"

#define IDENTITY_MAX 1280 /* a host name or a path, and a port */

/* --- who is who --------------------------------------------------------------- */

/* The node behind a shard: in a cluster its id, else its address as written. */
static uint32_t
node_of(const struct generation *generation, uint32_t shard)
{
    const struct roster_entry *entry = &generation->roster->entries[shard];
    const struct address_text *at = generation_server(generation, shard)->at;
    char text[IDENTITY_MAX];

    if (entry->id[0] != '\0')
        return scan_node(view_str(entry->id));
    const char *where = at->path != NULL ? at->path : at->host;
    int len = snprintf(text, sizeof(text), "%s:%u", where != NULL ? where : "",
                       at->port);
    return scan_node(view_of(text, MIN((size_t)len, sizeof(text) - 1)));
}

/* Of the shards that are live; or of all, when none is. */
static void
place_by_name(const struct generation *generation, uint32_t *places)
{
    const bool *live = generation->map->live;
    uint32_t count = generation->shard_count;
    struct view *names = mem_array(count, sizeof(*names));
    uint32_t live_count = 0;

    for (uint32_t i = 0; i < count; i++)
        names[i] = view_str(generation_server(generation, i)->name);
    scan_places_by_name(names, count, places);
    for (uint32_t i = 0; live != NULL && i < count; i++)
        live_count += live[i];
    for (uint32_t i = 0; live_count > 0 && i < count; i++)
        places[i] = live[i] ? places[i] : 0;
    mem_free(names);
}

uint32_t *
scan_places(const struct generation *generation)
{
    uint32_t *places =
        mem_array(MAX(generation->shard_count, 1u), sizeof(*places));

    if (pool_is_cluster(generation->settings))
        scan_places_by_slot(generation->route, generation->shard_count, places);
    else
        place_by_name(generation, places);
    return places;
}

/* --- where it goes on --------------------------------------------------------- */

/* The slot stands for no shard any more.  Who has it now may have been scanned
 * before it came there; then it is scanned once more. */
static void
follow_slot(const struct generation *generation, const uint32_t *places,
            struct scan_cursor *cursor)
{
    uint32_t slot = cursor->place - 1;
    uint32_t owner = slot < ROUTE_SLOTS
        ? route_slot_owner(generation->route, slot)
        : ROUTE_NONE;

    if (owner < generation->shard_count && places[owner] < cursor->place)
        *cursor = (struct scan_cursor){.place = places[owner]};
}

struct scan_target
scan_find(const struct session *session, struct scan_cursor cursor)
{
    const struct generation *generation = session->generation;
    uint32_t count = generation->shard_count;
    uint32_t *places = scan_places(generation);
    struct scan_target target = {0};

    if (cursor.place != 0 && pool_is_cluster(generation->settings))
        follow_slot(generation, places, &cursor);
    target.shard = scan_find_place(places, count, cursor.place);
    if (target.shard != ROUTE_NONE) {
        target.step.place = places[target.shard];
        target.step.node = node_of(generation, target.shard);
        target.step.next = scan_next_place(places, count, target.step.place);
        if (target.step.place == cursor.place &&
            target.step.node == cursor.node)
            target.backend = cursor.backend;
    }
    mem_free(places);
    return target;
}
