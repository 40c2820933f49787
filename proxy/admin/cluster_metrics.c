/*
 * admin/cluster_metrics.c - maps of clusters in numbers.
 */
#include "admin/cluster_metrics.h"

#define US_PER_S 1000000

/* The next pool from `pool` on that is a cluster. */
static bool
find_cluster(const struct admin_source *source, size_t *pool,
             struct cluster_facts *facts)
{
    for (; *pool < admin_source_pool_count(source); (*pool)++) {
        if (source->pool_cluster(source->arg, *pool, facts))
            return true;
    }
    return false;
}

static void
render_stat(const struct admin_source *source, struct exposition *x,
            const struct stat_desc *desc)
{
    struct cluster_facts facts;

    exposition_stat_family(x, "cluster", desc);
    for (size_t p = 0; find_cluster(source, &p, &facts); p++) {
        const struct label labels[] = {{"pool", admin_source_pool(source, p)->name},
                                       {NULL, NULL}};
        exposition_number(x, labels, admin_cell(facts.stats, desc->offset));
    }
}

static void
render_refreshes(const struct admin_source *source, struct exposition *x)
{
    struct cluster_facts facts;

    exposition_family(x, FAMILY_COUNTER, "pointsman_cluster_refreshes", "",
                      "times that the map was asked for, by cause");
    for (size_t p = 0; find_cluster(source, &p, &facts); p++) {
        for (int cause = 0; cause < MAP_CAUSE_COUNT; cause++) {
            const struct label labels[] = {
                {"pool", admin_source_pool(source, p)->name},
                {"cause", map_cause_name((enum map_cause)cause)},
                {NULL, NULL}};
            exposition_number(x, labels,
                              cell_get(&facts.stats->refreshes[cause]));
        }
    }
}

static void
render_age(const struct admin_source *source, struct exposition *x)
{
    struct cluster_facts facts;

    exposition_family(x, FAMILY_GAUGE, "pointsman_cluster_map_age", "seconds",
                      "time since a node has last confirmed the map");
    for (size_t p = 0; find_cluster(source, &p, &facts); p++) {
        const struct label labels[] = {{"pool", admin_source_pool(source, p)->name},
                                       {NULL, NULL}};
        if (facts.confirmed_us > 0)
            exposition_real(x, labels,
                            (double)(facts.now_us - facts.confirmed_us) /
                                US_PER_S);
    }
}

static void
render_slots(const struct admin_source *source, struct exposition *x)
{
    struct cluster_facts facts;

    exposition_family(x, FAMILY_GAUGE, "pointsman_server_slots", "",
                      "slots that the server has; a replica has none");
    for (size_t p = 0; find_cluster(source, &p, &facts); p++) {
        const struct roster *roster = admin_source_roster(source, p);
        for (uint32_t s = 0; s < roster->count; s++) {
            const struct label labels[] = {{"pool", admin_source_pool(source, p)->name},
                                           {"server",
                                            roster->entries[s].name},
                                           {NULL, NULL}};
            exposition_number(x, labels, roster->entries[s].slot_count);
        }
    }
}

void
cluster_metrics_render(const struct admin_source *source,
                       struct exposition *x)
{
    struct cluster_facts facts;
    size_t first = 0;

    if (!find_cluster(source, &first, &facts))
        return;
    for (unsigned i = 0; i < cluster_stat_count; i++)
        render_stat(source, x, &cluster_stat_descs[i]);
    render_refreshes(source, x);
    render_age(source, x);
    render_slots(source, x);
}
