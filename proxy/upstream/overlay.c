/*
 * upstream/overlay.c - corrected and hot slots.
 */
#include "upstream/overlay.h"

#include "base/mem.h"
#include "route/route.h"
#include "upstream/roster.h"

void
overlay_fini(struct overlay *overlay)
{
    mem_free(overlay->slots);
    *overlay = (struct overlay){0};
}

static struct overlay_slot *
overlay_slot(struct overlay *overlay, uint32_t slot)
{
    ASSERT(slot < ROUTE_SLOTS);
    if (overlay->slots == NULL)
        overlay->slots = mem_array(ROUTE_SLOTS, sizeof(*overlay->slots));
    return &overlay->slots[slot];
}

uint32_t
overlay_find(const struct overlay *overlay, uint32_t slot)
{
    if (likely(overlay->slots == NULL) ||
        overlay->slots[slot].since_us == 0)
        return ROUTE_NONE;
    return overlay->slots[slot].server;
}

void
overlay_correct(struct overlay *overlay, uint32_t slot, uint32_t server,
                uint64_t now_us)
{
    struct overlay_slot *entry = overlay_slot(overlay, slot);

    entry->since_us = now_us;
    entry->server = server;
}

void
overlay_heat(struct overlay *overlay, uint32_t slot, uint64_t now_us)
{
    struct overlay_slot *entry = overlay_slot(overlay, slot);

    entry->hot_until_us = now_us + OVERLAY_HOT_US;
    overlay->hot_until_us = entry->hot_until_us;
}

bool
overlay_is_hot(const struct overlay *overlay, uint32_t slot, uint64_t now_us)
{
    return overlay->slots != NULL &&
        overlay->slots[slot].hot_until_us > now_us;
}

/* The number that the same node has in another roster, or count. */
static uint32_t
renumber(uint32_t server, const struct roster *before,
         const struct roster *after)
{
    return roster_find_id(after, view_str(before->entries[server].id));
}

/* True when there is something left to know about the slot. */
static bool
slot_take_map(struct overlay_slot *entry, const struct roster *before,
              const struct roster *after, uint64_t asked_us)
{
    if (entry->since_us > 0) {
        uint32_t server = renumber(entry->server, before, after);
        if (entry->since_us <= asked_us || server == after->count)
            entry->since_us = 0;
        entry->server = server;
    }
    return entry->since_us > 0 || entry->hot_until_us > asked_us;
}

void
overlay_take_map(struct overlay *overlay, const struct roster *before,
                 const struct roster *after, uint64_t asked_us)
{
    bool is_used = false;

    if (overlay->slots == NULL)
        return;
    for (uint32_t slot = 0; slot < ROUTE_SLOTS; slot++)
        is_used |= slot_take_map(&overlay->slots[slot], before, after,
                                 asked_us);
    if (!is_used)
        overlay_fini(overlay);
}
