/*
 * route/slots.c - the 16384 slots of Redis Cluster.
 *
 * The slot of a key is its CRC-16 modulo 16384, the tag is always "{}"; a
 * table says whose each slot is.  A dead server keeps its slots.
 */
#include <math.h>

#include "base/mem.h"
#include "route/route_priv.h"

#define NOBODY ROUTE_NO_OWNER

struct slot_table {
    uint16_t owners[ROUTE_SLOTS];
};

static int
give_slot(struct slot_table *table, uint32_t slot, uint32_t shard,
          const struct route_spec *spec, struct error *error)
{
    uint16_t owner = table->owners[slot];

    if (owner != NOBODY)
        return error_set(error,
                         "slot %u is given to " NAME_FMT " and to " NAME_FMT,
                         slot, NAME_ARG(spec->shards[owner].name),
                         NAME_ARG(spec->shards[shard].name));
    table->owners[slot] = (uint16_t)shard;
    return 0;
}

static int
give_span(struct slot_table *table, struct slot_span span, uint32_t shard,
          const struct route_spec *spec, struct error *error)
{
    if (span.first > span.last || span.last >= ROUTE_SLOTS)
        return error_set(error,
                         "slots %u-%u of " NAME_FMT " are no span within 0-%d",
                         span.first, span.last,
                         NAME_ARG(spec->shards[shard].name), ROUTE_SLOTS - 1);
    for (uint32_t slot = span.first; slot <= span.last; slot++) {
        if (give_slot(table, slot, shard, spec, error) < 0)
            return -1;
    }
    return 0;
}

static int
give_written(struct slot_table *table, const struct route_spec *spec,
             struct error *error)
{
    for (uint32_t i = 0; i < spec->shard_count; i++) {
        const struct route_shard_spec *shard = &spec->shards[i];
        for (size_t j = 0; j < shard->slot_count; j++) {
            if (give_span(table, shard->slots[j], i, spec, error) < 0)
                return -1;
        }
    }
    return 0;
}

/* Slots that nobody was given go to the default, or are an error. */
static int
give_rest(struct slot_table *table, const struct route_spec *spec,
          struct error *error)
{
    uint32_t owner;
    uint32_t first = 0;

    if (find_default(spec, &owner, error) < 0)
        return -1;
    while (first < ROUTE_SLOTS && table->owners[first] != NOBODY)
        first++;
    if (first == ROUTE_SLOTS)
        return 0;
    if (owner == ROUTE_NONE) {
        uint32_t last = first;
        while (last + 1 < ROUTE_SLOTS && table->owners[last + 1] == NOBODY)
            last++;
        return error_set(error, "slots %u-%u belong to no server", first, last);
    }
    for (; first < ROUTE_SLOTS; first++) {
        if (table->owners[first] == NOBODY)
            table->owners[first] = (uint16_t)owner;
    }
    return 0;
}

/*
 * As `redis-cli --cluster create` does it, its floats and its rounding
 * included, so that a cluster made by it and a table split here agree.
 */
static int
split_evenly(struct slot_table *table, const struct route_spec *spec,
             struct error *error)
{
    if (spec->shard_count > ROUTE_SLOTS)
        return error_set(error, "%zu servers share %d slots", spec->shard_count,
                         ROUTE_SLOTS);

    float share = (float)ROUTE_SLOTS / (float)spec->shard_count;
    float cursor = 0;
    long first = 0;
    for (uint32_t i = 0; i < spec->shard_count; i++) {
        long last = lroundf(cursor + share - 1);
        if (i == spec->shard_count - 1)
            last = ROUTE_SLOTS - 1;
        for (; first <= last; first++)
            table->owners[first] = (uint16_t)i;
        cursor += share;
    }
    return 0;
}

/* What a cluster says, which may leave slots out. */
static int
copy_owners(struct slot_table *table, const struct route_spec *spec,
            struct error *error)
{
    for (uint32_t slot = 0; slot < ROUTE_SLOTS; slot++) {
        uint16_t owner = spec->slot_owners[slot];
        if (owner != NOBODY && owner >= spec->shard_count)
            return error_set(error, "slot %u has no such owner", slot);
        table->owners[slot] = owner;
    }
    return 0;
}

static bool
has_written_slots(const struct route_spec *spec)
{
    for (size_t i = 0; i < spec->shard_count; i++) {
        if (spec->shards[i].slot_count > 0)
            return true;
    }
    return false;
}

static int
slots_fill(struct slot_table *table, const struct route_spec *spec,
           struct error *error)
{
    if (spec->shard_count >= NOBODY)
        return error_set(error, "%zu servers are more than slots can tell",
                         spec->shard_count);
    if (spec->slot_owners != NULL)
        return copy_owners(table, spec, error);
    for (uint32_t slot = 0; slot < ROUTE_SLOTS; slot++)
        table->owners[slot] = NOBODY;
    if (!has_written_slots(spec))
        return split_evenly(table, spec, error);
    if (give_written(table, spec, error) < 0)
        return -1;
    return give_rest(table, spec, error);
}

static void *
slots_build(const struct route_spec *spec, struct error *error)
{
    struct slot_table *table = MEM_NEW(struct slot_table);

    if (slots_fill(table, spec, error) < 0) {
        mem_free(table);
        return NULL;
    }
    return table;
}

uint32_t
slot_of(struct view part)
{
    if (part.len == 0)
        return 0;
    return hash_crc16_redis(part, false) % ROUTE_SLOTS;
}

uint32_t
route_cluster_slot(struct view key)
{
    return slot_of(tag_part("{}", key));
}

static uint32_t
slots_find(const struct route *route, struct view part, uint64_t *dice UNUSED)
{
    const struct slot_table *table = route->table;

    uint16_t owner = table->owners[slot_of(part)];

    return likely(owner != NOBODY) ? owner : ROUTE_NONE;
}

uint32_t
route_slot_owner(const struct route *route, uint32_t slot)
{
    const struct slot_table *table = route->table;

    ASSERT(route_is_slots(route) && slot < ROUTE_SLOTS);
    return table->owners[slot] != NOBODY ? table->owners[slot] : ROUTE_NONE;
}

static void
slots_explain(const struct route *route UNUSED, struct view part,
              struct buf *out)
{
    buf_printf(out, " slot=%u", slot_of(part));
}

const struct placement slots_placement = {
    .build = slots_build,
    .free = mem_free,
    .find = slots_find,
    .explain = slots_explain,
};
