/*
 * route/modula.c - twemproxy's modula: hash modulo the sum of weights.
 *
 * As if each live server, in the order of names, stood as often as it weighs
 * in a long row, and the hash pointed into it.  The row is kept as the places
 * where each server's stretch ends, so that a heavy weight costs nothing.
 */
#include "base/mem.h"
#include "route/route_priv.h"

struct stretch {
    uint64_t end; /* exclusive */
    uint32_t shard;
};

struct modula {
    uint64_t length; /* of the row; 0: no live server */
    uint32_t count;
    struct stretch *stretches;
};

static void *
modula_build(const struct route_spec *spec, struct error *error)
{
    uint32_t count;
    uint32_t *live = live_by_name(spec, &count, error);

    if (live == NULL)
        return NULL;
    struct modula *modula = MEM_NEW(struct modula);
    modula->count = count;
    modula->stretches = mem_array(count, sizeof(*modula->stretches));
    for (uint32_t i = 0; i < count; i++) {
        modula->length += spec->shards[live[i]].weight;
        modula->stretches[i] = (struct stretch){modula->length, live[i]};
    }
    mem_free(live);
    return modula;
}

static void
modula_free(void *table)
{
    struct modula *modula = table;

    mem_free(modula->stretches);
    mem_free(modula);
}

/* The shard of the first stretch that ends behind `place`. */
static uint32_t
modula_at(const struct modula *modula, uint64_t place)
{
    uint32_t low = 0, high = modula->count - 1;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (modula->stretches[middle].end <= place)
            low = middle + 1;
        else
            high = middle;
    }
    return modula->stretches[low].shard;
}

static uint32_t
modula_find(const struct route *route, struct view part, uint64_t *dice UNUSED)
{
    const struct modula *modula = route->table;

    if (modula->length == 0)
        return ROUTE_NONE;
    uint64_t place = route_hash(route, part) % modula->length;
    /* Every server weighs 1, the usual case: the place is the server. */
    if (modula->length == modula->count)
        return modula->stretches[place].shard;
    return modula_at(modula, place);
}

static void
modula_explain(const struct route *route, struct view part, struct buf *out)
{
    const struct modula *modula = route->table;

    if (modula->length == 0)
        return;
    explain_hash(route, part, out);
    buf_printf(out, " modulo=%llu", (unsigned long long)modula->length);
}

const struct placement modula_placement = {
    .build = modula_build,
    .free = modula_free,
    .find = modula_find,
    .explain = modula_explain,
    .uses_hash = true,
};
