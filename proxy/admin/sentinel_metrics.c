/*
 * admin/sentinel_metrics.c - masters and their Sentinels in numbers.
 */
#include "admin/sentinel_metrics.h"

#define US_PER_S 1000000

/* The next pool from `pool` on that asks Sentinels, or NULL. */
static const struct sentinels *
find_sentinels(const struct admin_source *source, size_t *pool)
{
    for (; *pool < admin_source_pool_count(source); (*pool)++) {
        const struct sentinels *sentinels =
            source->pool_sentinels(source->arg, *pool);
        if (sentinels != NULL)
            return sentinels;
    }
    return NULL;
}

static void
render_stat(const struct admin_source *source, struct exposition *x,
            const struct stat_desc *desc)
{
    const struct sentinels *sentinels;

    exposition_stat_family(x, "sentinel", desc);
    for (size_t p = 0; (sentinels = find_sentinels(source, &p)) != NULL; p++) {
        const struct label labels[] = {{"pool", admin_source_pool(source, p)->name},
                                       {NULL, NULL}};
        exposition_number(
            x, labels, admin_cell(sentinels_stats(sentinels), desc->offset));
    }
}

/* What one master adds to a family. */
typedef void (*render_fn)(struct exposition *x, const struct label *labels,
                          const struct sentinel_master_facts *facts);

static void
each_master(const struct admin_source *source, struct exposition *x,
            render_fn render)
{
    const struct sentinels *sentinels;
    struct sentinel_master_facts facts;

    for (size_t p = 0; (sentinels = find_sentinels(source, &p)) != NULL; p++) {
        for (uint32_t i = 0; sentinels_master(sentinels, i, &facts); i++) {
            const struct label labels[] = {{"pool", admin_source_pool(source, p)->name},
                                           {"server", facts.name},
                                           {NULL, NULL}};
            render(x, labels, &facts);
        }
    }
}

static void
render_epoch(struct exposition *x, const struct label *labels,
             const struct sentinel_master_facts *facts)
{
    exposition_number(x, labels, facts->epoch);
}

static void
render_age(struct exposition *x, const struct label *labels,
           const struct sentinel_master_facts *facts)
{
    if (facts->is_somewhere)
        exposition_real(x, labels, (double)facts->age_us / US_PER_S);
}

static void
render_vouched(struct exposition *x, const struct label *labels,
               const struct sentinel_master_facts *facts)
{
    exposition_number(
        x, labels, facts->is_somewhere && facts->verdict == EPOCH_BELIEVED);
}

static void
render_held(struct exposition *x, const struct label *labels,
            const struct sentinel_master_facts *facts)
{
    exposition_number(x, labels, gate_holds(facts->gate));
}

void
sentinel_metrics_render(const struct admin_source *source,
                        struct exposition *x)
{
    size_t first = 0;

    if (find_sentinels(source, &first) == NULL)
        return;
    for (unsigned i = 0; i < sentinel_stat_count; i++)
        render_stat(source, x, &sentinel_stat_descs[i]);
    exposition_family(x, FAMILY_GAUGE, "pointsman_master_epoch", "",
                      "highest config epoch of the master that was believed");
    each_master(source, x, render_epoch);
    exposition_family(x, FAMILY_GAUGE, "pointsman_master_address_age",
                      "seconds", "time since the master has its address");
    each_master(source, x, render_age);
    exposition_family(x, FAMILY_GAUGE, "pointsman_master_vouched", "",
                      "1 while enough Sentinels agree where the master is");
    each_master(source, x, render_vouched);
    exposition_family(x, FAMILY_GAUGE, "pointsman_master_held", "",
                      "1 while writes to the master have to wait");
    each_master(source, x, render_held);
}
