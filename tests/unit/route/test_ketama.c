/*
 * The ring against golden points of twemproxy, and against a ring that is
 * built and searched in the plainest way.
 */
#include <stdio.h>

#include "base/mem.h"
#include "route_test.h"

#define SERVERS_MAX 128

/* Names stay valid as long as the struct. */
struct pool {
    char names[SERVERS_MAX][32];
    struct route_shard_spec shards[SERVERS_MAX];
    struct route_spec spec;
};

/* server1, server2 ... with equal weights. */
static void
pool_init(struct pool *pool, size_t count)
{
    ck_assert_uint_le(count, SERVERS_MAX);
    for (size_t i = 0; i < count; i++) {
        snprintf(pool->names[i], sizeof(pool->names[i]), "server%zu", i + 1);
        pool->shards[i] = shard(pool->names[i], 1);
    }
    pool->spec = (struct route_spec){.distribution = DISTRIBUTION_KETAMA,
                                     .hash = HASH_FNV1A_64,
                                     .shards = pool->shards,
                                     .shard_count = count};
}

struct plain_point {
    uint32_t value, shard;
};

struct plain_ring {
    struct plain_point points[SERVERS_MAX * 400];
    size_t count;
};

static void
plain_add(struct plain_ring *ring, struct view name, uint32_t owner,
          unsigned texts)
{
    for (unsigned i = 0; i < texts; i++) {
        char text[64];
        uint8_t digest[MD5_SIZE];
        int len = snprintf(text, sizeof(text), "%.*s-%u", (int)name.len,
                           name.data, i);
        md5_digest(view_of(text, (size_t)len), digest);
        for (int j = 0; j < 4; j++)
            ring->points[ring->count++] =
                (struct plain_point){load_le32(digest + 4 * j), owner};
    }
}

/* The lowest point at or above the hash, else the lowest of all. */
static uint32_t
plain_find(const struct plain_ring *ring, uint32_t hash)
{
    const struct plain_point *best = NULL, *lowest = &ring->points[0];

    for (size_t i = 0; i < ring->count; i++) {
        const struct plain_point *point = &ring->points[i];
        if (point->value < lowest->value)
            lowest = point;
        if (point->value >= hash && (!best || point->value < best->value))
            best = point;
    }
    return best != NULL ? best->shard : lowest->shard;
}

/* The route is that ring: it answers alike at and behind (some) points. */
static void
expect_ring(struct route *route, const struct plain_ring *ring)
{
    size_t step = ring->count / 400 + 1;

    for (size_t i = 0; i < ring->count; i += step) {
        uint32_t value = ring->points[i].value;
        ck_assert_uint_eq(find_hash(route, value), ring->points[i].shard);
        ck_assert_uint_eq(find_hash(route, value + 1),
                          plain_find(ring, value + 1));
        ck_assert_uint_eq(find_hash(route, value - 1),
                          plain_find(ring, value - 1));
    }
}

static void
expect_texts(const struct pool *pool, const unsigned *texts)
{
    struct plain_ring *ring = MEM_NEW(struct plain_ring);
    struct route *route = make_route(&pool->spec);

    for (uint32_t i = 0; i < pool->spec.shard_count; i++)
        plain_add(ring, pool->shards[i].name, i, texts[i]);
    expect_ring(route, ring);
    route_free(&route);
    mem_free(ring);
}

START_TEST(points_are_those_of_twemproxy)
{
    static const struct {
        const char *text;
        uint32_t points[4];
    } golden[] = {
        {"server1-0", {2394223911, 776252252, 2876546053, 251165102}},
        {"server1-8", {3853726576, 1491449930, 639619849, 2667054752}},
        {"127.0.0.1:6379-0", {2344048390, 135292586, 1821951742, 687840887}},
        {"127.0.0.1:6379-39", {649196830, 1801453492, 419543839, 1521519665}},
        {"127.0.0.1-0", {3187647615, 2893990766, 813702075, 4292932786}},
    };

    for (size_t i = 0; i < ARRAY_LEN(golden); i++) {
        uint8_t digest[MD5_SIZE];
        md5_digest(view_str(golden[i].text), digest);
        for (int j = 0; j < 4; j++)
            ck_assert_uint_eq(load_le32(digest + 4 * j), golden[i].points[j]);
    }
}
END_TEST

START_TEST(key_belongs_to_the_first_point_at_or_above_its_hash)
{
    struct pool pool;
    pool_init(&pool, 3);
    struct route *route = make_route(&pool.spec);

    ck_assert_uint_eq(find_hash(route, 0), 2);
    ck_assert_uint_eq(find_hash(route, 9796559), 2);
    ck_assert_uint_eq(find_hash(route, 9796560), 1);
    ck_assert_uint_eq(find_hash(route, 10686546), 1);
    ck_assert_uint_eq(find_hash(route, 10686547), 0);
    ck_assert_uint_eq(find_hash(route, 26495822), 0);
    ck_assert_uint_eq(find_hash(route, 4290552061), 1);
    /* Behind the last point the ring begins anew. */
    ck_assert_uint_eq(find_hash(route, 4290552062), 2);
    ck_assert_uint_eq(find_hash(route, UINT32_MAX), 2);
    route_free(&route);
}
END_TEST

START_TEST(keys_go_where_twemproxy_put_them)
{
    struct pool pool;
    pool_init(&pool, 3);
    struct route *route = make_route(&pool.spec);

    ck_assert_uint_eq(find(route, "a"), 2);
    ck_assert_uint_eq(find(route, "foo"), 0);
    ck_assert_uint_eq(find(route, "apple"), 0);
    ck_assert_uint_eq(find(route, "user:1000"), 0);
    ck_assert_uint_eq(find(route, "hello world!"), 0);
    for (char digit = '1'; digit <= '8'; digit++)
        ck_assert_uint_eq(find(route, (char[]){'k', digit, '\0'}), 2);
    route_free(&route);
}
END_TEST

START_TEST(equal_servers_have_40_texts_but_for_some_counts)
{
    static const size_t counts[] = {1, 2, 3, 10, 24, 25, 26, 47, 50, 55, 60};
    static const unsigned expected[] = {40, 40, 40, 40, 40, 39,
                                        40, 39, 39, 39, 40};
    struct pool pool;
    unsigned texts[SERVERS_MAX];

    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        pool_init(&pool, counts[i]);
        for (size_t j = 0; j < counts[i]; j++)
            texts[j] = expected[i];
        /* One server is never asked where a key goes. */
        if (counts[i] > 1)
            expect_texts(&pool, texts);
    }
}
END_TEST

START_TEST(weights_give_points_in_proportion)
{
    struct pool pool;

    pool_init(&pool, 3);
    for (uint32_t i = 0; i < 3; i++)
        pool.shards[i].weight = i + 1;
    expect_texts(&pool, (unsigned[]){20, 40, 60});

    pool.shards[0].weight = 10;
    pool.shards[1].weight = 20;
    pool.shards[2].weight = 70;
    expect_texts(&pool, (unsigned[]){12, 24, 84});
}
END_TEST

START_TEST(very_light_server_gets_no_point)
{
    struct pool pool;

    pool_init(&pool, 2);
    pool.shards[0].weight = 100000;
    expect_texts(&pool, (unsigned[]){79, 0});
}
END_TEST

START_TEST(heaviest_weights_are_no_trouble)
{
    struct pool pool;

    pool_init(&pool, 3);
    for (uint32_t i = 0; i < 3; i++)
        pool.shards[i].weight = UINT32_MAX;
    expect_texts(&pool, (unsigned[]){40, 40, 40});
}
END_TEST

START_TEST(order_of_writing_moves_no_key)
{
    struct pool pool;
    pool_init(&pool, 10);
    struct route *before = make_route(&pool.spec);
    for (size_t i = 0; i < 5; i++) {
        struct route_shard_spec swapped = pool.shards[i];
        pool.shards[i] = pool.shards[9 - i];
        pool.shards[9 - i] = swapped;
    }
    struct route *after = make_route(&pool.spec);

    for (uint32_t i = 0; i < 10000; i++) {
        uint32_t hash = i * 429497u;
        ck_assert_uint_eq(find_hash(after, hash), 9 - find_hash(before, hash));
    }
    route_free(&before);
    route_free(&after);
}
END_TEST

START_TEST(ring_moves_only_the_keys_of_an_ejected_server)
{
    struct pool pool;
    pool_init(&pool, 10);
    struct route *before = make_route(&pool.spec);
    pool.shards[4].live = false;
    struct route *after = make_route(&pool.spec);
    size_t moved = 0;

    for (uint32_t i = 0; i < 10000; i++) {
        uint32_t hash = i * 429497u;
        uint32_t was = find_hash(before, hash), is = find_hash(after, hash);
        ck_assert_uint_ne(is, 4);
        if (was == 4)
            moved++;
        else
            ck_assert_uint_eq(was, is);
    }
    ck_assert_uint_gt(moved, 500);
    ck_assert_uint_lt(moved, 2000);
    route_free(&before);
    route_free(&after);
}
END_TEST

START_TEST(ring_moves_few_keys_when_a_server_joins)
{
    struct pool pool;
    pool_init(&pool, 10);
    struct route *before = make_route(&pool.spec);
    pool_init(&pool, 11);
    struct route *after = make_route(&pool.spec);
    size_t moved = 0;

    for (uint32_t i = 0; i < 10000; i++) {
        uint32_t was = find_hash(before, i * 429497u);
        uint32_t is = find_hash(after, i * 429497u);
        ck_assert(is == was || is == 10);
        moved += is != was;
    }
    ck_assert_uint_gt(moved, 400);
    ck_assert_uint_lt(moved, 1700);
    route_free(&before);
    route_free(&after);
}
END_TEST

START_TEST(names_beyond_272_characters_are_cut)
{
    char name[302];
    memset(name, 'n', sizeof(name));
    struct route_shard_spec shards[] = {shard("", 1), shard("", 1)};
    shards[0].name = view_of(name, 301);
    shards[1].name = view_of(name, 300);
    struct route_spec spec = {.distribution = DISTRIBUTION_KETAMA,
                              .hash = HASH_MURMUR,
                              .shards = shards,
                              .shard_count = ARRAY_LEN(shards)};
    struct route *route = make_route(&spec);

    /* So both have the same points: the first in order, the shorter, wins. */
    for (uint32_t i = 0; i < 1000; i++)
        ck_assert_uint_eq(find_hash(route, i * 4294967u), 1);
    route_free(&route);
}
END_TEST

START_TEST(no_live_server_has_no_key)
{
    struct pool pool;
    pool_init(&pool, 2);
    pool.shards[0].live = pool.shards[1].live = false;
    struct route *route = make_route(&pool.spec);

    ck_assert_uint_eq(find(route, "a"), ROUTE_NONE);
    ck_assert_uint_eq(find_hash(route, 0), ROUTE_NONE);
    ck_assert_uint_eq(find_hash(route, UINT32_MAX), ROUTE_NONE);
    expect_explained(route, VIEW("aaaa"), "tag=\"aaaa\" shard=none");
    route_free(&route);
}
END_TEST

START_TEST(last_live_server_has_every_key)
{
    struct pool pool;
    pool_init(&pool, 3);
    pool.shards[0].live = pool.shards[2].live = false;
    struct route *route = make_route(&pool.spec);

    for (uint32_t i = 0; i < 1000; i++)
        ck_assert_uint_eq(find_hash(route, i * 4294967u), 1);
    route_free(&route);
}
END_TEST

START_TEST(explanation_names_hash_and_point)
{
    struct pool pool;
    pool_init(&pool, 3);
    pool.spec.has_tag = true;
    memcpy(pool.spec.tag, "{}", 2);
    struct route *route = make_route(&pool.spec);

    expect_explained(route, VIEW("x{user:1000}y"),
                     "tag=\"user:1000\" hash=2927313545 point=2930509241"
                     " shard=0 name=server1");
    /* Behind the last point stands the first. */
    route->hash = hash_is_key;
    expect_explained(route, VIEW("\xff\xff\xff\xff"),
                     "tag=\"\\xff\\xff\\xff\\xff\" hash=4294967295"
                     " point=9796559 shard=2 name=server3");
    route_free(&route);
}
END_TEST

START_TEST(two_servers_of_one_name_are_refused)
{
    struct pool pool;

    pool_init(&pool, 3);
    pool.shards[2].name = VIEW("server1");
    expect_refused(&pool.spec, "two servers", "\"server1\"");
}
END_TEST

int
main(void)
{
    const TTest *const tests[] = {
        points_are_those_of_twemproxy,
        key_belongs_to_the_first_point_at_or_above_its_hash,
        keys_go_where_twemproxy_put_them,
        equal_servers_have_40_texts_but_for_some_counts,
        weights_give_points_in_proportion,
        very_light_server_gets_no_point,
        heaviest_weights_are_no_trouble,
        order_of_writing_moves_no_key,
        ring_moves_only_the_keys_of_an_ejected_server,
        ring_moves_few_keys_when_a_server_joins,
        names_beyond_272_characters_are_cut,
        no_live_server_has_no_key,
        last_live_server_has_every_key,
        explanation_names_hash_and_point,
        two_servers_of_one_name_are_refused,
    };

    return run_tests("ketama", tests, ARRAY_LEN(tests));
}
