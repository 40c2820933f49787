/*
 * command/split.c - grouping the keys of one command by shard or slot.
 *
 * One pass gives every key its part, found by a small hash table of units
 * (shards or slots); a second lays the key numbers down part by part:
 *
 *   MGET a b c d     part_of  0 1 1 0        order  0 3 | 1 2
 *
 * Both are linear in the keys, whatever the number of shards.
 */
#include "command/split.h"

#include "base/mem.h"
#include "command/keys.h"
#include "command/split_shape.h"

struct grouping {
    struct split *split;
    const struct route *route;
    uint32_t *part_of; /* of each key */
    uint32_t *table;   /* part number + 1, by unit; 0: empty */
    uint32_t mask;     /* entries of table - 1 */
    bool by_slot;
};

/* What the keys of one part have in common. */
static uint32_t
part_unit(const struct grouping *group, const struct split_part *part)
{
    return group->by_slot ? part->slot : part->shard;
}

/* The table entry for this unit; 0 in it when there is no part yet. */
static uint32_t *
table_entry(const struct grouping *group, uint32_t unit)
{
    uint32_t i = (unit * UINT32_C(2654435769)) >> 7 & group->mask;

    while (group->table[i] != 0) {
        const struct split_part *part =
            &group->split->parts[group->table[i] - 1];
        if (part_unit(group, part) == unit)
            break;
        i = (i + 1) & group->mask;
    }
    return &group->table[i];
}

/* The number of the key's part, opened if it is the first of its unit;
 * ROUTE_NONE when it has no shard. */
static uint32_t
part_for(struct grouping *group, struct view key, uint64_t *dice)
{
    const struct route *route = group->route;
    struct split_part part = {0};
    uint32_t *entry;

    if (group->by_slot) {
        part.slot = route_slot(route, key);
        entry = table_entry(group, part.slot);
    } else {
        part.shard = route_find(route, key, dice);
        entry = table_entry(group, part.shard);
    }
    if (*entry != 0)
        return *entry - 1;
    if (group->by_slot)
        part.shard = route_slot_owner(route, part.slot);
    if (part.shard == ROUTE_NONE && !group->by_slot)
        return ROUTE_NONE;
    group->split->parts[group->split->part_count] = part;
    *entry = ++group->split->part_count;
    return *entry - 1;
}

/* The argument number of a word of key i, the key itself being word 0. */
static inline uint32_t
word_of_key(const struct split *split, const struct split_shape *shape,
            uint32_t i, uint32_t word)
{
    if (shape->is_apart)
        return split->first_key + word * split->key_count + i;
    return split->first_key + i * shape->stride + word;
}

/* Give each key its part; the number of the key that has no shard, or
 * key_count when all have. */
static uint32_t
assign_parts(struct grouping *group, const struct command_args *args,
             uint64_t *dice)
{
    struct split *split = group->split;
    const struct split_shape *shape = split_shape_of(split->command);

    for (uint32_t i = 0; i < split->key_count; i++) {
        struct view key = command_arg(args, word_of_key(split, shape, i, 0));
        uint32_t part = part_for(group, key, dice);
        if (part == ROUTE_NONE)
            return i;
        group->part_of[i] = part;
        split->parts[part].count++;
    }
    return split->key_count;
}

static void
lay_out_order(struct split *split, const uint32_t *part_of)
{
    uint32_t first = 0;

    for (uint32_t p = 0; p < split->part_count; p++) {
        split->parts[p].first = first;
        first += split->parts[p].count;
        split->parts[p].count = 0;
    }
    for (uint32_t i = 0; i < split->key_count; i++) {
        struct split_part *part = &split->parts[part_of[i]];
        split->order[part->first + part->count++] = i;
    }
}

/* A power of two with at least half of its entries free. */
static uint32_t
table_size(uint32_t units)
{
    uint32_t size = 16;

    while (size < 2 * units)
        size *= 2;
    return size;
}

/* One block for what stays, parts in front; another for what does not. */
static void
split_alloc(struct split *split, struct grouping *group)
{
    uint32_t keys = split->key_count;
    uint32_t entries =
        table_size(group->by_slot ? MIN(keys, ROUTE_SLOTS) : keys);

    bool has_names = split->command->split == SPLIT_STREAMS;
    size_t numbers = has_names ? 2 : 1;

    split->parts = mem_alloc(
        keys * (sizeof(*split->parts) + numbers * sizeof(*split->order)));
    split->order = (uint32_t *)(void *)(split->parts + keys);
    split->name_ends = has_names ? split->order + keys : NULL;
    group->table = mem_array((size_t)entries + keys, sizeof(*group->table));
    group->part_of = group->table + entries;
    group->mask = entries - 1;
}

/* Where STREAMS stands, or argc. */
static uint32_t
find_streams(const struct command_args *args)
{
    uint32_t i = 1;

    while (i < args->argc &&
           !view_equal_nocase(command_arg(args, i), VIEW("STREAMS")))
        i++;
    return i;
}

uint32_t
split_first_key(const struct command *command, const struct command_args *args)
{
    if (command->split != SPLIT_STREAMS)
        return 1;
    return find_streams(args) + 1;
}

uint32_t
split_count_keys(const struct command *command, const struct command_args *args)
{
    const struct split_shape *shape = split_shape_of(command);
    uint32_t in_front = split_first_key(command, args) + shape->tail;

    if (args->argc <= in_front || (args->argc - in_front) % shape->stride)
        return 0;
    return (args->argc - in_front) / shape->stride;
}

/* Where the name of a key ends in split->names; it begins where that of the one
 * before does. */
static void
keep_names(struct split *split, const struct command_args *args)
{
    const struct split_shape *shape = split_shape_of(split->command);

    for (uint32_t i = 0; i < split->key_count; i++) {
        buf_append_view(&split->names,
                        command_arg(args, word_of_key(split, shape, i, 0)));
        split->name_ends[i] = (uint32_t)split->names.len;
    }
}

enum split_result
split_make(struct split *split, const struct command *command,
           const struct command_args *args, const struct route *route,
           bool by_slot, uint64_t *dice, uint32_t *bad_key)
{
    *split = (struct split){.command = command,
                            .first_key = split_first_key(command, args),
                            .key_count = split_count_keys(command, args)};
    if (split->key_count == 0)
        return SPLIT_BAD_ARGS;
    if (command->split == SPLIT_STREAMS)
        split->cut_at = command_find_block(args, 1);
    if (split->cut_at >= split->first_key)
        split->cut_at = 0; /* a key that is named so */

    struct grouping group = {.split = split,
                             .route = route,
                             .by_slot = by_slot};
    split_alloc(split, &group);
    uint32_t bad = assign_parts(&group, args, dice);
    if (bad == split->key_count)
        lay_out_order(split, group.part_of);
    mem_free(group.table);
    if (bad < split->key_count) {
        *bad_key = word_of_key(split, split_shape_of(command), bad, 0);
        split_fini(split);
        return SPLIT_NO_SHARD;
    }
    if (command->split == SPLIT_STREAMS)
        keep_names(split, args);
    return SPLIT_OK;
}

void
split_fini(struct split *split)
{
    mem_free(split->parts);
    buf_fini(&split->names);
    *split = (struct split){.command = split->command};
}

static inline size_t
digits_of(uint64_t value)
{
    size_t digits = 1;

    while (value >= 10) {
        value /= 10;
        digits++;
    }
    return digits;
}

static inline size_t
word_size(const struct command_args *args, uint32_t i)
{
    size_t len = args->args[i].len;

    return 1 + digits_of(len) + 2 + len + 2;
}

static inline char *
put_header(char *to, char sign, uint64_t value)
{
    char *end = to + 1 + digits_of(value);

    *to = sign;
    for (char *p = end; p > to + 1; value /= 10)
        *--p = (char)('0' + value % 10);
    memcpy(end, "\r\n", 2);
    return end + 2;
}

static inline char *
put_word(char *to, const struct command_args *args, uint32_t i)
{
    struct view word = command_arg(args, i);

    to = put_header(to, '$', word.len);
    memcpy(to, word.data, word.len);
    memcpy(to + word.len, "\r\n", 2);
    return to + word.len + 2;
}

/* Words of one part's request. */
static uint32_t
part_argc(const struct split *split, uint32_t part)
{
    const struct split_shape *shape = split_shape_of(split->command);
    uint32_t cut = split->cut_at > 0 ? 2 : 0;

    return split->first_key - cut +
        split->parts[part].count * shape->stride + shape->tail;
}

/* The next argument of those in front of the keys. */
static uint32_t
next_in_front(const struct split *split, uint32_t i)
{
    return split->cut_at > 0 && i + 1 == split->cut_at ? i + 3 : i + 1;
}

/* Of key i with what belongs to it. */
static inline size_t
key_size(const struct split *split, const struct split_shape *shape,
         const struct command_args *args, uint32_t i)
{
    size_t size = 0;

    for (uint32_t word = 0; word < shape->stride; word++)
        size += word_size(args, word_of_key(split, shape, i, word));
    return size;
}

size_t
split_encoded_size(const struct split *split, const struct command_args *args,
                   uint32_t part)
{
    const struct split_shape *shape = split_shape_of(split->command);
    const struct split_part *p = &split->parts[part];
    size_t size = 1 + digits_of(part_argc(split, part)) + 2;

    for (uint32_t i = 0; i < split->first_key; i = next_in_front(split, i))
        size += word_size(args, i);
    for (uint32_t i = 0; i < p->count; i++)
        size += key_size(split, shape, args, split->order[p->first + i]);
    if (shape->tail > 0)
        size += word_size(args, args->argc - 1);
    return size;
}

/* Each key with what belongs to it; or all keys, then all that. */
static char *
put_keys(const struct split *split, const struct command_args *args,
         const struct split_part *part, char *to)
{
    const struct split_shape *shape = split_shape_of(split->command);
    const uint32_t *keys = &split->order[part->first];
    uint32_t passes = shape->is_apart ? shape->stride : 1;
    uint32_t words = shape->is_apart ? 1 : shape->stride;

    for (uint32_t pass = 0; pass < passes; pass++)
        for (uint32_t i = 0; i < part->count; i++)
            for (uint32_t word = 0; word < words; word++)
                to = put_word(
                    to, args,
                    word_of_key(split, shape, keys[i], pass + word));
    return to;
}

void
split_encode(const struct split *split, const struct command_args *args,
             uint32_t part, size_t size, struct buf *out)
{
    char *start = buf_reserve(out, size);
    char *to = put_header(start, '*', part_argc(split, part));

    for (uint32_t i = 0; i < split->first_key; i = next_in_front(split, i))
        to = put_word(to, args, i);
    to = put_keys(split, args, &split->parts[part], to);
    if (split_shape_of(split->command)->tail > 0)
        to = put_word(to, args, args->argc - 1);
    ASSERT(to == start + size);
    out->len += size;
}
