/*
 * route/ketama.c - twemproxy's continuum, to the point.
 *
 * Each live server has about 160 points on a ring of 2^32, four from the MD5
 * of each of the texts "name-0", "name-1" ...; a key belongs to the first
 * point at or above its hash, or behind the last point to the first.
 *
 *     buckets   [0]---+     [1]--+   [2]---+     one for each value of the
 *                     v          v         v     hash's top bits: the first
 *     points    1f.. 37.. 3c..  52..      8e..   point at or above it
 *
 * The bucket of a hash leads right before its point: there are at least twice
 * as many buckets as points, MD5 spreads those evenly, and so the walk from there
 * is no step or one, where a binary search would be ten and mispredicted.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "route/route_priv.h"

#define POINTS_PER_SERVER 160
#define POINTS_PER_TEXT 4 /* 16 bytes of MD5 are four points */
#define BUCKETS_A_POINT 2
#define TEXT_MAX 272      /* twemproxy cuts longer ones */

struct point {
    uint32_t value;
    uint32_t shard;
};

struct ketama {
    unsigned shift; /* a bucket is hash >> shift */
    uint32_t *buckets;
    /* Ascending.  One more stands at the end, with the highest value and the
     * shard of the first: the walk stops there and has come round. */
    struct point *points;
    size_t point_count;
};

/* A point while sorting: value above, rank of its server below, so that the
 * server that comes first by name wins where two points meet. */
struct growing {
    uint64_t *points;
    size_t count;
};

static void
grow_server(struct growing *ring, struct view name, uint32_t rank,
            unsigned texts)
{
    char text[TEXT_MAX + 1];
    uint8_t digest[MD5_SIZE];
    int name_len = (int)MIN(name.len, (size_t)TEXT_MAX);

    for (unsigned i = 0; i < texts; i++) {
        int len =
            snprintf(text, sizeof(text), "%.*s-%u", name_len, name.data, i);
        md5_digest(view_of(text, (size_t)MIN(len, TEXT_MAX)), digest);
        for (unsigned j = 0; j < POINTS_PER_TEXT; j++) {
            uint64_t value = load_le32(digest + 4 * j);
            ring->points[ring->count++] = value << 32 | rank;
        }
    }
}

/*
 * How many texts a server has.  Each step is rounded to a float, as it is in
 * twemproxy; that is why 25 equal servers have 156 points and not 160.
 */
static unsigned
server_texts(uint32_t weight, uint64_t total_weight, uint32_t live_count)
{
    float share = (float)weight / (float)total_weight;
    float texts = share * POINTS_PER_SERVER;
    texts = texts / POINTS_PER_TEXT;
    texts = texts * (float)live_count;
    texts = (float)((double)texts + 0.0000000001);
    return (unsigned)floorf(texts);
}

static uint64_t
total_weight(const struct route_spec *spec, const uint32_t *live,
             uint32_t live_count)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < live_count; i++)
        total += spec->shards[live[i]].weight;
    return total;
}

static int
compare_points(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

static struct growing
grow_ring(const struct route_spec *spec, const uint32_t *live,
          uint32_t live_count)
{
    uint64_t total = total_weight(spec, live, live_count);
    /* Weights only move points from server to server; a few may be gained by
     * rounding, never a whole text for each. */
    size_t most = ((size_t)live_count * (POINTS_PER_SERVER + POINTS_PER_TEXT));
    struct growing ring = {mem_array(most, sizeof(uint64_t)), 0};

    for (uint32_t rank = 0; rank < live_count; rank++) {
        const struct route_shard_spec *shard = &spec->shards[live[rank]];
        unsigned texts = server_texts(shard->weight, total, live_count);
        ASSERT(ring.count + (size_t)texts * POINTS_PER_TEXT <= most);
        grow_server(&ring, shard->name, rank, texts);
    }
    qsort(ring.points, ring.count, sizeof(*ring.points), compare_points);
    return ring;
}

static void
set_points(struct ketama *ketama, const struct growing *ring,
           const uint32_t *live)
{
    struct point *points = mem_array(ring->count + 1, sizeof(*points));

    for (size_t i = 0; i < ring->count; i++) {
        points[i].value = (uint32_t)(ring->points[i] >> 32);
        points[i].shard = live[(uint32_t)ring->points[i]];
    }
    points[ring->count].value = UINT32_MAX;
    points[ring->count].shard = ring->count > 0 ? points[0].shard : ROUTE_NONE;
    ketama->points = points;
    ketama->point_count = ring->count;
}

static void
set_buckets(struct ketama *ketama)
{
    unsigned bits = 1;
    uint32_t point = 0;

    while (((size_t)1 << bits) < BUCKETS_A_POINT * ketama->point_count)
        bits++;
    ketama->shift = 32 - bits;
    ketama->buckets = mem_array((size_t)1 << bits, sizeof(uint32_t));
    for (uint32_t i = 0; i < (uint32_t)1 << bits; i++) {
        while (ketama->points[point].value < i << ketama->shift)
            point++;
        ketama->buckets[i] = point;
    }
}

static void *
ketama_build(const struct route_spec *spec, struct error *error)
{
    uint32_t live_count;

    if (!md5_is_available()) {
        error_set(error, "ketama needs MD5, which the system's OpenSSL lacks");
        return NULL;
    }
    uint32_t *live = live_by_name(spec, &live_count, error);
    if (live == NULL)
        return NULL;

    struct ketama *ketama = MEM_NEW(struct ketama);
    struct growing ring = grow_ring(spec, live, live_count);
    set_points(ketama, &ring, live);
    set_buckets(ketama);
    mem_free(ring.points);
    mem_free(live);
    return ketama;
}

static void
ketama_free(void *table)
{
    struct ketama *ketama = table;

    mem_free(ketama->buckets);
    mem_free(ketama->points);
    mem_free(ketama);
}

static const struct point *
ketama_point(const struct ketama *ketama, uint32_t hash)
{
    const struct point *point =
        ketama->points + ketama->buckets[hash >> ketama->shift];

    /* Mostly the first will do or the second, and nobody can guess which. */
    point += point->value < hash;
    while (unlikely(point->value < hash))
        point++;
    return point;
}

static uint32_t
ketama_find(const struct route *route, struct view part, uint64_t *dice UNUSED)
{
    return ketama_point(route->table, route_hash(route, part))->shard;
}

static void
ketama_explain(const struct route *route, struct view part, struct buf *out)
{
    const struct ketama *ketama = route->table;
    const struct point *point = ketama_point(ketama, route_hash(route, part));

    if (ketama->point_count == 0)
        return;
    if (point == ketama->points + ketama->point_count)
        point = ketama->points;
    explain_hash(route, part, out);
    buf_printf(out, " point=%u", point->value);
}

const struct placement ketama_placement = {
    .build = ketama_build,
    .free = ketama_free,
    .find = ketama_find,
    .explain = ketama_explain,
    .uses_hash = true,
};
