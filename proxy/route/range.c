/*
 * route/range.c - keys by ranges that the operator wrote.
 *
 * A table of ranges, sorted and without overlaps, so that the only candidate
 * for a key is the last range that starts at or before it.  There may be gaps:
 * a key in one, or one without a number where numbers are asked for, goes to
 * the default shard or nowhere.  A dead server keeps its ranges.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "route/route_priv.h"

struct owned_range {
    struct range_spec range; /* its bytes belong to the table */
    uint32_t shard;
};

struct range_table {
    enum range_by by;
    uint32_t outside; /* the default shard, or ROUTE_NONE */
    size_t count;
    struct owned_range *ranges;
};

/* A key as ranges see it. */
struct place {
    uint64_t number;
    struct view bytes;
};

static int
compare_by_number(const void *left, const void *right)
{
    const struct owned_range *a = left, *b = right;
    uint64_t from_a = a->range.from_number, from_b = b->range.from_number;

    return from_a < from_b ? -1 : from_a > from_b;
}

static int
compare_by_bytes(const void *left, const void *right)
{
    const struct owned_range *a = left, *b = right;

    return view_compare(a->range.from_bytes, b->range.from_bytes);
}

static bool
range_starts_by(enum range_by by, const struct range_spec *range,
                struct place place)
{
    if (by == RANGE_BY_NUMBER)
        return range->from_number <= place.number;
    return view_compare(range->from_bytes, place.bytes) <= 0;
}

static bool
range_ends_behind(enum range_by by, const struct range_spec *range,
                  struct place place)
{
    if (by == RANGE_BY_NUMBER)
        return range->to_number >= place.number;
    return range->no_before ||
        view_compare(range->before_bytes, place.bytes) > 0;
}

static struct place
range_start(const struct range_spec *range)
{
    return (struct place){range->from_number, range->from_bytes};
}

/* "1-1000", or "a" to "m" with the quotes. */
static void
append_range(struct buf *out, enum range_by by, const struct range_spec *range)
{
    if (by == RANGE_BY_NUMBER) {
        buf_printf(out, "%llu-%llu", (unsigned long long)range->from_number,
                   (unsigned long long)range->to_number);
        return;
    }
    append_quoted(out, range->from_bytes);
    buf_append_str(out, "..");
    if (!range->no_before)
        append_quoted(out, range->before_bytes);
}

static void
error_overlap(const struct route_spec *spec, const struct owned_range *a,
              const struct owned_range *b, struct error *error)
{
    struct buf texts[2] = {{0}, {0}};
    struct view names[2] = {spec->shards[a->shard].name,
                            spec->shards[b->shard].name};

    append_range(&texts[0], spec->range_by, &a->range);
    append_range(&texts[1], spec->range_by, &b->range);
    error_set(error,
              "ranges overlap: %.*s of " NAME_FMT " and %.*s of " NAME_FMT,
              (int)MIN(texts[0].len, (size_t)120), texts[0].data,
              NAME_ARG(names[0]), (int)MIN(texts[1].len, (size_t)120),
              texts[1].data, NAME_ARG(names[1]));
    buf_fini(&texts[0]);
    buf_fini(&texts[1]);
}

static void
error_empty(const struct route_spec *spec, const struct owned_range *owned,
            struct error *error)
{
    struct buf text = {0};
    struct view name = spec->shards[owned->shard].name;

    append_range(&text, spec->range_by, &owned->range);
    error_set(error, "range %.*s of " NAME_FMT " has no key in it",
              (int)MIN(text.len, (size_t)250), text.data, NAME_ARG(name));
    buf_fini(&text);
}

static int
check_ranges(const struct range_table *table, const struct route_spec *spec,
             struct error *error)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct owned_range *owned = &table->ranges[i];
        struct place start = range_start(&owned->range);
        if (!range_ends_behind(table->by, &owned->range, start)) {
            error_empty(spec, owned, error);
            return -1;
        }
        if (i > 0 &&
            range_ends_behind(table->by, &table->ranges[i - 1].range, start)) {
            error_overlap(spec, &table->ranges[i - 1], owned, error);
            return -1;
        }
    }
    return 0;
}

static void
add_ranges(struct range_table *table, const struct route_spec *spec,
           uint32_t shard)
{
    const struct route_shard_spec *from = &spec->shards[shard];

    for (size_t i = 0; i < from->range_count; i++) {
        struct range_spec range = from->ranges[i];
        range.from_bytes.data = mem_view_dup(range.from_bytes);
        range.before_bytes.data = mem_view_dup(range.before_bytes);
        table->ranges[table->count++] = (struct owned_range){range, shard};
    }
}

static size_t
count_ranges(const struct route_spec *spec)
{
    size_t count = 0;

    for (size_t i = 0; i < spec->shard_count; i++)
        count += spec->shards[i].range_count;
    return count;
}

static void
range_free(void *freed)
{
    struct range_table *table = freed;

    for (size_t i = 0; i < table->count; i++) {
        /* Copies of our own, which views call const. */
        mem_free((void *)(uintptr_t)table->ranges[i].range.from_bytes.data);
        mem_free((void *)(uintptr_t)table->ranges[i].range.before_bytes.data);
    }
    mem_free(table->ranges);
    mem_free(table);
}

static void *
range_build(const struct route_spec *spec, struct error *error)
{
    struct range_table *table = MEM_NEW(struct range_table);

    table->by = spec->range_by;
    table->ranges = mem_array(count_ranges(spec), sizeof(*table->ranges));
    for (uint32_t i = 0; i < spec->shard_count; i++)
        add_ranges(table, spec, i);
    qsort(table->ranges, table->count, sizeof(*table->ranges),
          table->by == RANGE_BY_NUMBER ? compare_by_number : compare_by_bytes);

    int found = find_default(spec, &table->outside, error);
    if (found == 0)
        found = check_ranges(table, spec, error);
    if (found == 0 && table->count == 0 && table->outside == ROUTE_NONE)
        found = error_set(error, "no server has a range");
    if (found < 0) {
        range_free(table);
        return NULL;
    }
    return table;
}

/* The first run of digits; false without one, or when it passes 64 bits. */
static bool
first_number(struct view key, uint64_t *number)
{
    size_t from = 0;

    while (from < key.len && (unsigned char)(key.data[from] - '0') > 9)
        from++;
    size_t to = from;
    while (to < key.len && (unsigned char)(key.data[to] - '0') <= 9)
        to++;
    return view_to_u64(view_of(key.data + from, to - from), number);
}

/* NULL when the key is in no range. */
static const struct owned_range *
range_of(const struct range_table *table, struct place place)
{
    size_t low = 0, high = table->count;

    /* The first range that starts behind the key. */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (range_starts_by(table->by, &table->ranges[middle].range, place))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    const struct owned_range *last = &table->ranges[low - 1];
    return range_ends_behind(table->by, &last->range, place) ? last : NULL;
}

static uint32_t
range_find(const struct route *route, struct view part, uint64_t *dice UNUSED)
{
    const struct range_table *table = route->table;
    struct place place = {0, part};

    if (table->by == RANGE_BY_NUMBER && !first_number(part, &place.number))
        return table->outside;
    const struct owned_range *owned = range_of(table, place);
    return owned != NULL ? owned->shard : table->outside;
}

static void
range_explain(const struct route *route, struct view part, struct buf *out)
{
    const struct range_table *table = route->table;
    struct place place = {0, part};

    if (table->by == RANGE_BY_NUMBER) {
        if (!first_number(part, &place.number)) {
            buf_append_str(out, " number=none");
            return;
        }
        buf_printf(out, " number=%llu", (unsigned long long)place.number);
    }
    const struct owned_range *owned = range_of(table, place);
    buf_append_str(out, " range=");
    if (owned == NULL)
        buf_append_str(out, "none");
    else
        append_range(out, table->by, &owned->range);
}

/* Is there a key behind the one range and before the other? */
static bool
is_apart(enum range_by by, const struct range_spec *range,
         const struct range_spec *next)
{
    if (by == RANGE_BY_NUMBER)
        return range->to_number + 1 < next->from_number;
    return !view_equal(range->before_bytes, next->from_bytes);
}

static void
append_owned(const struct route *route, enum range_by by,
             const struct owned_range *owned, struct buf *out)
{
    append_range(out, by, &owned->range);
    buf_printf(out, " of \"%s\"", route->names[owned->shard]);
}

static bool
range_gap(const struct route *route, struct buf *out)
{
    const struct range_table *table = route->table;
    size_t i = 1;

    while (i < table->count &&
           !is_apart(table->by, &table->ranges[i - 1].range,
                     &table->ranges[i].range))
        i++;
    if (i >= table->count || table->outside != ROUTE_NONE)
        return false;
    append_owned(route, table->by, &table->ranges[i - 1], out);
    buf_append_str(out, " and ");
    append_owned(route, table->by, &table->ranges[i], out);
    return true;
}

const struct placement range_placement = {
    .build = range_build,
    .free = range_free,
    .find = range_find,
    .explain = range_explain,
    .gap = range_gap,
};
