/*
 * tests/replay/steps_pool.c - pools, their servers, and what is known of them.
 */
#include "steps_priv.h"

#include "addresses.h"
#include "base/mem.h"
#include "config/address.h"
#include "masters.h"

#define FIRST_PORT 7001

/* By range, server a has the keys that begin with an a, and so on. */
static void
append_server(struct buf *yaml, struct view distribution, struct view name,
              unsigned number)
{
    buf_printf(yaml, "    - {name: %.*s, address: \"127.0.0.1:%u\"",
               (int)name.len, name.data, FIRST_PORT + number);
    if (view_equal(distribution, VIEW("range")))
        buf_printf(yaml, ", from: \"%c\", before: \"%c\"", name.data[0],
                   name.data[0] + 1);
    buf_append_str(yaml, "}\n");
}

/* " key: value, key: value", each with the space before it */
static void
append_settings(struct buf *yaml, struct view text)
{
    buf_append_char(yaml, ' ');
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == ',')
            buf_append_str(yaml, "\n ");
        else
            buf_append_char(yaml, text.data[i]);
    }
    buf_append_char(yaml, '\n');
}

/* pool DISTRIBUTION servers NAME... [with KEY: VALUE, ...] */
void
step_pool(struct world *world, const struct args *args)
{
    struct view distribution = args->at[0], rest = args->at[1], word;
    struct buf yaml = {0};

    buf_printf(&yaml,
               "pool:\n  listen: 127.0.0.1:7000\n  redis: true\n"
               "  distribution: %.*s\n%s  servers:\n",
               (int)distribution.len, distribution.data,
               view_equal(distribution, VIEW("range")) ? "  range_by: bytes\n"
                                                       : "");
    for (unsigned i = 0; (word = talk_word(&rest)).len > 0; i++) {
        if (view_equal(word, VIEW("with")))
            break;
        append_server(&yaml, distribution, word, i);
    }
    if (word.len > 0)
        append_settings(&yaml, rest);
    world_configure(world, buf_view(&yaml));
    buf_fini(&yaml);
}

/* masters NAME... [with KEY: VALUE, ...] */
void
step_masters(struct world *world, const struct args *args)
{
    struct view rest = args->at[0];
    struct buf yaml = {0};

    masters_append(&yaml, &rest);
    if (rest.len > 0)
        append_settings(&yaml, rest);
    world_configure(world, buf_view(&yaml));
    buf_fini(&yaml);
}

void
step_sentinels_say(struct world *world, const struct args *args)
{
    masters_place(world, args->at[0]);
}

/* A node of a cluster listens on a port by its name: a on the first. */
static unsigned
node_port(struct view name)
{
    return FIRST_PORT + (unsigned)(name.data[0] - 'a');
}

/* cluster NAME... [with KEY: VALUE, ...] */
void
step_cluster(struct world *world, const struct args *args)
{
    struct view rest = args->at[0], word;
    struct buf yaml = {0};

    buf_append_str(&yaml, "pool:\n  listen: 127.0.0.1:7000\n  redis: true\n"
                          "  distribution: slots\n  cluster:\n");
    while ((word = talk_word(&rest)).len > 0 &&
           !view_equal(word, VIEW("with")))
        buf_printf(&yaml, "    - 127.0.0.1:%u\n", node_port(word));
    if (word.len > 0)
        append_settings(&yaml, rest);
    world_configure(world, buf_view(&yaml));
    buf_fini(&yaml);
}

/* "0-100" or "7": these slots are the node's; any other word: none is. */
static void
give_slots(struct topology *topology, uint16_t owner, struct view span)
{
    const char *dash = memchr(span.data, '-', span.len);
    size_t len = dash != NULL ? (size_t)(dash - span.data) : span.len;
    struct view end = dash != NULL ? view_of(dash + 1, span.len - len - 1)
                                   : span;
    uint64_t first, last;

    if (!view_to_u64(view_of(span.data, len), &first) ||
        !view_to_u64(end, &last))
        return;
    for (uint64_t slot = first; slot <= last && slot < ROUTE_SLOTS; slot++)
        topology->owners[slot] = owner;
}

static void
set_node(struct roster *roster, uint32_t number, struct view name)
{
    struct roster_entry *entry = &roster->entries[number];
    char text[32];

    entry->name = mem_view_dup(name);
    memcpy(entry->id, name.data, MIN(name.len, sizeof(entry->id) - 1));
    entry->primary = number;
    snprintf(text, sizeof(text), "127.0.0.1:%u", node_port(name));
    const char *problem =
        address_text_parse(view_str(text), ADDRESS_SERVER, &entry->address);
    ASSERT(problem == NULL);
}

/* "of:a" or "fail:a"; false: it is a primary. */
static bool
set_primary(struct world *world, struct roster *roster, uint32_t number,
            struct view word)
{
    struct roster_entry *entry = &roster->entries[number];
    const char *colon = memchr(word.data, ':', word.len);

    if (colon == NULL)
        return false;
    size_t len = (size_t)(colon - word.data);
    entry->primary = roster_find_id(
        roster, view_of(colon + 1, word.len - len - 1));
    if (entry->primary >= number)
        world_fail(world, "it is the replica of nobody in front");
    entry->is_usable = view_equal(view_of(word.data, len), VIEW("of"));
    return true;
}

static struct roster *
make_roster(struct view words)
{
    uint32_t count = 0, replicas = 0;

    while (talk_word(&words).len > 0) {
        struct view what = talk_word(&words);
        count++;
        replicas += memchr(what.data, ':', what.len) != NULL;
    }
    return roster_new(count, count - replicas);
}

/* map NAME SLOTS NAME SLOTS ... NAME of:NAME ...: what the nodes say. */
void
step_map(struct world *world, const struct args *args)
{
    struct topology *topology = MEM_NEW(struct topology);
    struct view rest = args->at[0], name;

    topology->asked = loop_clock_us(world->loop);
    topology->roster = make_roster(rest);
    memset(topology->owners, 0xff, sizeof(topology->owners));
    for (uint32_t i = 0; (name = talk_word(&rest)).len > 0; i++) {
        struct view what = talk_word(&rest);
        set_node(topology->roster, i, name);
        if (!set_primary(world, topology->roster, i, what))
            give_slots(topology, (uint16_t)i, what);
    }
    world_set_topology(world, topology);
    roster_unref(&topology->roster);
    mem_free(topology);
}

void
step_expect_hint(struct world *world, const struct args *args)
{
    static const char *const names[] = {
#define MAP_CAUSE(name, NAME, help) #name,
#include "upstream/map_cause.def"
#undef MAP_CAUSE
    };

    if (!world->has_hint)
        world_fail(world, "control was told nothing");
    if (!view_equal(view_str(names[world->hint]), args->at[0]))
        world_fail(world, "the cause is %s", names[world->hint]);
    world->has_hint = false;
}

void
step_expect_hints(struct world *world, const struct args *args)
{
    char count[20];

    snprintf(count, sizeof(count), "%u", world->hint_count);
    if (!view_equal(view_str(count), args->at[0]))
        world_fail(world, "control was told %s times", count);
}

void
step_take_hints(struct world *world, const struct args *args UNUSED)
{
    world->takes_hints = true;
}

void
step_yaml(struct world *world, const struct args *args)
{
    const struct talk *talk = world->talk;
    struct buf yaml = {0};

    (void)args;
    while (world->line < talk->count &&
           strcmp(talk->lines[world->line], "END") != 0)
        buf_printf(&yaml, "%s\n", talk->lines[world->line++]);
    if (world->line == talk->count)
        world_fail(world, "no END");
    world->line++;
    world_configure(world, buf_view(&yaml));
    buf_fini(&yaml);
}

void
step_addresses(struct world *world, const struct args *args)
{
    addresses_set(world, args->at[0], args->at[1]);
}

void
step_expect_asked(struct world *world, const struct args *args)
{
    addresses_expect_asked(world, args->at[0], args->at[1]);
}
