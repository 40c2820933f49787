/*
 * admin/name_metrics.c - addresses and names in numbers.
 */
#include "admin/name_metrics.h"

#define US_PER_S 1000000

static const struct label no_labels[] = {{NULL, NULL}};

/* --- addresses -------------------------------------------------------------- */

static void
render_server(const struct admin_source *source, struct exposition *x,
              size_t pool, uint32_t server)
{
    const struct pool_map *map = &source->snapshot->pools[pool];
    const struct address_list *list = map->addresses[server];
    char text[ADDRESS_TEXT_MAX];

    for (uint32_t i = 0; i < list->count; i++) {
        const struct label labels[] = {
            {"pool", map->settings->name},
            {"server", map->roster->entries[server].name},
            {"address", address_format(&list->items[i], text)},
            {NULL, NULL}};
        exposition_number(x, labels, 1);
    }
}

static void
render_addresses(const struct admin_source *source, struct exposition *x)
{
    exposition_family(x, FAMILY_GAUGE, "pointsman_server_address", "",
                      "1 for each address that the server has");
    for (size_t p = 0; p < admin_source_pool_count(source); p++) {
        const struct roster *roster = admin_source_roster(source, p);
        for (uint32_t s = 0; s < roster->count; s++)
            render_server(source, x, p, s);
    }
}

/* --- names ------------------------------------------------------------------ */

static void
render_stats(const struct name_stats *stats, struct exposition *x)
{
    for (unsigned i = 0; i < name_stat_count; i++) {
        const struct stat_desc *desc = &name_stat_descs[i];
        exposition_stat_family(x, "names", desc);
        exposition_number(x, no_labels, admin_cell(stats, desc->offset));
    }
}

static void
render_answers(const struct name_stats *stats, struct exposition *x)
{
    exposition_family(x, FAMILY_COUNTER, "pointsman_names_answers", "",
                      "questions about names, by what came of them");
    for (int result = 0; result < RESOLVE_RESULT_COUNT; result++) {
        const struct label labels[] = {
            {"result", resolve_result_name((enum resolve_result)result)},
            {NULL, NULL}};
        exposition_number(x, labels, cell_get(&stats->answers[result]));
    }
}

static void
render_ages(const struct admin_source *source, struct exposition *x)
{
    struct name_facts facts;

    exposition_family(x, FAMILY_GAUGE, "pointsman_name_age", "seconds",
                      "time since the name was last found to have an address");
    for (size_t i = 0; source->name_facts(source->arg, i, &facts); i++) {
        const struct label labels[] = {{"name", facts.host}, {NULL, NULL}};
        if (facts.answered_us > 0)
            exposition_real(x, labels, (double)facts.age_us / US_PER_S);
    }
}

void
name_metrics_render(const struct admin_source *source, struct exposition *x)
{
    const struct name_stats *stats = source->name_stats;

    render_addresses(source, x);
    render_stats(stats, x);
    render_answers(stats, x);
    render_ages(source, x);
}
