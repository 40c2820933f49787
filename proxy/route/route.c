/*
 * route/route.c - the door of the room: from a spec to a route, from a key to
 * a shard, and the same in words.
 */
#include "route/route.h"

#include "base/mem.h"
#include "route/route_priv.h"

static const struct {
    const char *name;
    const struct placement *placement;
} distributions[DISTRIBUTION_COUNT] = {
#define DISTRIBUTION(name, NAME, help) {#name, &name##_placement},
#define HASH(name, NAME, fn, help)
#include "route/algorithms.def"
#undef DISTRIBUTION
#undef HASH
};

int
distribution_parse(struct view name)
{
    for (int i = 0; i < DISTRIBUTION_COUNT; i++) {
        if (view_equal(name, view_str(distributions[i].name)))
            return i;
    }
    return -1;
}

const char *
distribution_name(enum distribution distribution)
{
    ASSERT(distribution < DISTRIBUTION_COUNT);
    return distributions[distribution].name;
}

int
find_default(const struct route_spec *spec, uint32_t *shard,
             struct error *error)
{
    *shard = ROUTE_NONE;
    for (uint32_t i = 0; i < spec->shard_count; i++) {
        if (!spec->shards[i].is_default)
            continue;
        if (*shard != ROUTE_NONE)
            return error_set(error,
                             NAME_FMT " and " NAME_FMT " are both the default",
                             NAME_ARG(spec->shards[*shard].name),
                             NAME_ARG(spec->shards[i].name));
        *shard = i;
    }
    return 0;
}

static int
check_spec(const struct route_spec *spec, const struct placement *placement,
           struct error *error)
{
    if (spec->shard_count == 0 && spec->slot_owners == NULL)
        return error_set(error, "there is no server");
    if (spec->shard_count >= ROUTE_NONE)
        return error_set(error, "there are too many servers");
    for (size_t i = 0; i < spec->shard_count; i++) {
        if (spec->shards[i].weight == 0)
            return error_set(error, "the weight of " NAME_FMT " is 0",
                             NAME_ARG(spec->shards[i].name));
    }
    if (placement->uses_hash && spec->hash == HASH_MD5 && !md5_is_available())
        return error_set(error, "the system's OpenSSL lacks MD5");
    return 0;
}

static void
set_tag(struct route *route, const struct route_spec *spec)
{
    /* Clients of a cluster count on this one, whatever the pool says. */
    bool is_slots = route->placement == &slots_placement;

    route->has_tag = spec->has_tag || is_slots;
    route->tag[0] = is_slots ? '{' : spec->tag[0];
    route->tag[1] = is_slots ? '}' : spec->tag[1];
}

static void
copy_names(struct route *route, const struct route_spec *spec)
{
    route->names = mem_array(spec->shard_count, sizeof(*route->names));
    for (size_t i = 0; i < spec->shard_count; i++)
        route->names[i] = mem_view_dup(spec->shards[i].name);
}

struct route *
route_new(const struct route_spec *spec, struct error *error)
{
    ASSERT(spec->distribution < DISTRIBUTION_COUNT);
    const struct placement *placement =
        distributions[spec->distribution].placement;

    if (check_spec(spec, placement, error) < 0)
        return NULL;
    void *table = placement->build(spec, error);
    if (table == NULL)
        return NULL;

    struct route *route = MEM_NEW(struct route);
    route->placement = placement;
    route->table = table;
    route->hash = hash_function(spec->hash);
    route->unsigned_chars = spec->unsigned_chars;
    route->shard_count = (uint32_t)spec->shard_count;
    set_tag(route, spec);
    copy_names(route, spec);
    return route;
}

void
route_free(struct route **routep)
{
    struct route *route = *routep;

    if (route == NULL)
        return;
    *routep = NULL;
    route->placement->free(route->table);
    for (uint32_t i = 0; i < route->shard_count; i++)
        mem_free(route->names[i]);
    mem_free(route->names);
    mem_free(route);
}

struct view
route_tagged(const struct route *route, struct view key)
{
    return route->has_tag ? tag_part(route->tag, key) : key;
}

uint32_t
route_find(const struct route *route, struct view key, uint64_t *dice)
{
    return route->placement->find(route, route_tagged(route, key), dice);
}

bool
route_is_slots(const struct route *route)
{
    return route->placement == &slots_placement;
}

uint32_t
route_slot(const struct route *route, struct view key)
{
    uint64_t dice = 0;

    if (route_is_slots(route))
        return slot_of(route_tagged(route, key));
    return route_find(route, key, &dice);
}

/* Plain text but for what would blur where a quoted or bare word ends. */
static void
append_escaped(struct buf *out, struct view bytes, const char *special)
{
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned char c = (unsigned char)bytes.data[i];
        if (c < ' ' || c > '~' || strchr(special, c) != NULL)
            buf_printf(out, "\\x%02x", c);
        else
            buf_append_char(out, (char)c);
    }
}

void
append_quoted(struct buf *out, struct view bytes)
{
    buf_append_char(out, '"');
    append_escaped(out, bytes, "\"\\");
    buf_append_char(out, '"');
}

void
explain_hash(const struct route *route, struct view part, struct buf *out)
{
    if (route->shard_count > 1)
        buf_printf(out, " hash=%u", route_hash(route, part));
}

static void
explain_shard(const struct route *route, struct view part, struct buf *out)
{
    uint64_t dice = 0;
    uint32_t shard = route->placement->find(route, part, &dice);

    if (shard == ROUTE_NONE) {
        buf_append_str(out, " shard=none");
    } else if (route->placement->is_drawn) {
        buf_append_str(out, " shard=any");
    } else {
        buf_printf(out, " shard=%u name=", shard);
        append_escaped(out, view_str(route->names[shard]), " \\");
    }
}

void
route_explain(const struct route *route, struct view key, struct buf *out)
{
    struct view part = route_tagged(route, key);

    buf_append_str(out, "tag=");
    append_quoted(out, part);
    route->placement->explain(route, part, out);
    explain_shard(route, part, out);
}

bool
route_gap(const struct route *route, struct buf *out)
{
    return route->placement->gap != NULL && route->placement->gap(route, out);
}
