/*
 * route/modulo.c - hash modulo the number of servers, in the order written.
 *
 * For data that is partitioned once and for all: the list and its order stay,
 * only addresses change.  So a dead server keeps its keys, and weights mean
 * nothing.
 */
#include "base/mem.h"
#include "route/route_priv.h"

struct modulo {
    uint32_t count;
};

static void *
modulo_build(const struct route_spec *spec, struct error *error UNUSED)
{
    struct modulo *modulo = MEM_NEW(struct modulo);

    modulo->count = (uint32_t)spec->shard_count;
    return modulo;
}

static uint32_t
modulo_find(const struct route *route, struct view part, uint64_t *dice UNUSED)
{
    const struct modulo *modulo = route->table;

    return route_hash(route, part) % modulo->count;
}

static void
modulo_explain(const struct route *route, struct view part, struct buf *out)
{
    const struct modulo *modulo = route->table;

    explain_hash(route, part, out);
    buf_printf(out, " modulo=%u", modulo->count);
}

const struct placement modulo_placement = {
    .build = modulo_build,
    .free = mem_free,
    .find = modulo_find,
    .explain = modulo_explain,
    .uses_hash = true,
};
