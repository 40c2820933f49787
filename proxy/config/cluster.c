/*
 * config/cluster.c - seeds, who is read from, what clients are told.
 */
#include "config/cluster.h"

#include "base/mem.h"
#include "config/address.h"

static const char *const read_from_names[] = {
    [READ_FROM_PRIMARY] = "primary",
    [READ_FROM_REPLICA] = "replica",
    [READ_FROM_PREFER_REPLICA] = "prefer_replica",
    [READ_FROM_NEAREST] = "nearest",
    [READ_FROM_ZONE] = "zone",
};

static void
read_seed(struct report *report, const struct node *node,
          struct address_text *seed)
{
    const char *allowed = "host:port or [v6]:port";

    if (node->kind == NODE_TEXT && node->text_len > 0 && node->text[0] != '/')
        allowed = address_text_parse(node_text(node), ADDRESS_SERVER, seed);
    if (allowed != NULL)
        report_found(report, node, "cluster", "%s", allowed);
}

void
cluster_read_seeds(struct report *report, const struct node *node,
                   void *target)
{
    struct pool_settings *pool = target;

    if (node->kind != NODE_LIST || node->count == 0 ||
        node->count > CLUSTER_SEEDS_MAX) {
        report_found(report, node, "cluster",
                     "a list of 1 to %d addresses host:port",
                     CLUSTER_SEEDS_MAX);
        return;
    }
    pool->seeds = mem_array(node->count, sizeof(*pool->seeds));
    pool->seed_count = node->count;
    struct address_text *seed = pool->seeds;
    for (const struct node *item = node->first; item; item = item->next)
        read_seed(report, item, seed++);
}

void
cluster_read_from(struct report *report, const struct node *node,
                  void *target)
{
    struct pool_settings *pool = target;

    for (size_t i = 0; i < ARRAY_LEN(read_from_names); i++) {
        if (view_equal(node_text(node), view_str(read_from_names[i]))) {
            pool->read_from = (enum read_from)i;
            return;
        }
    }
    report_found(report, node, "read_from",
                 "primary, replica, prefer_replica, nearest or zone");
}

void
cluster_read_announce(struct report *report, const struct node *node,
                      void *target)
{
    struct pool_settings *pool = target;
    bool is_path = node->text_len > 0 && node->text[0] == '/';

    if (node->kind != NODE_TEXT || is_path ||
        address_text_parse(node_text(node), ADDRESS_SERVER,
                           &pool->announce) != NULL)
        report_found(report, node, "announce", "host:port or [v6]:port");
}

static void
check_alone(struct report *report, const struct node *map,
            const struct pool_settings *pool)
{
    if (node_find(map, VIEW("servers")) != NULL)
        report_error(report, node_key_mark(map, VIEW("servers")), "servers",
                     "found together with cluster, allowed one of the two");
    if (pool->distribution != DISTRIBUTION_SLOTS)
        report_error(report, node_key_mark(map, VIEW("cluster")), "cluster",
                     "found with distribution %s, allowed with slots",
                     distribution_name(pool->distribution));
}

/* Keys that only such pools look at. */
static const char *const cluster_keys[] = {
    "cluster_refresh_interval",
    "cluster_refresh_min",
};
static const char *const replica_keys[] = {
    "read_from", "zone", "zones", "replica_max_lag", "replica_check_interval",
};

static void
check_without(struct report *report, const struct node *map,
              const char *const *keys, size_t count, const char *missing)
{
    for (size_t i = 0; i < count; i++) {
        struct view key = view_str(keys[i]);
        if (node_find(map, key) != NULL)
            report_error(report, node_key_mark(map, key), keys[i],
                         "found without %s", missing);
    }
}

void
cluster_check(struct report *report, const struct node *map,
              const struct pool_settings *pool)
{
    bool is_cluster = node_find(map, VIEW("cluster")) != NULL;
    bool has_replicas =
        is_cluster || node_find(map, VIEW("sentinels")) != NULL;

    if (is_cluster)
        check_alone(report, map, pool);
    else
        check_without(report, map, cluster_keys, ARRAY_LEN(cluster_keys),
                      "cluster, allowed only together with it");
    if (!has_replicas)
        check_without(report, map, replica_keys, ARRAY_LEN(replica_keys),
                      "cluster or sentinels, allowed only together with one "
                      "of them");
    if (pool->read_from == READ_FROM_ZONE && pool->zone == NULL)
        report_error(report, node_key_mark(map, VIEW("read_from")),
                     "read_from", "found zone without the key zone, allowed "
                     "only together with it");
    if (node_find(map, VIEW("announce")) != NULL && !pool->cluster_emulation)
        report_error(report, node_key_mark(map, VIEW("announce")), "announce",
                     "found without cluster_emulation, allowed only together "
                     "with it");
}

void
cluster_fini(struct pool_settings *pool)
{
    for (size_t i = 0; i < pool->seed_count; i++)
        address_text_fini(&pool->seeds[i]);
    mem_free(pool->seeds);
    address_text_fini(&pool->announce);
}
