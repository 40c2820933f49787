/*
 * route/random.c - any live server, drawn anew for every key.
 *
 * Weights mean nothing, as in twemproxy.  The dice belong to the caller, so
 * that the table stays immutable.
 */
#include "base/dice.h"
#include "base/mem.h"
#include "route/route_priv.h"

struct lottery {
    uint32_t count;
    uint32_t *shards;
};

static void *
random_build(const struct route_spec *spec, struct error *error)
{
    struct lottery *lottery = MEM_NEW(struct lottery);

    lottery->shards = live_by_name(spec, &lottery->count, error);
    if (lottery->shards == NULL) {
        mem_free(lottery);
        return NULL;
    }
    return lottery;
}

static void
random_free(void *table)
{
    struct lottery *lottery = table;

    mem_free(lottery->shards);
    mem_free(lottery);
}

static uint32_t
random_find(const struct route *route, struct view part UNUSED, uint64_t *dice)
{
    const struct lottery *lottery = route->table;

    if (lottery->count == 0)
        return ROUTE_NONE;
    /* The upper half of the product spreads evenly without a division. */
    uint64_t scaled = (dice_roll(dice) >> 32) * lottery->count;
    return lottery->shards[scaled >> 32];
}

static void
random_explain(const struct route *route, struct view part UNUSED,
               struct buf *out)
{
    const struct lottery *lottery = route->table;

    buf_printf(out, " live=%u", lottery->count);
}

const struct placement random_placement = {
    .build = random_build,
    .free = random_free,
    .find = random_find,
    .explain = random_explain,
    .is_drawn = true,
};
