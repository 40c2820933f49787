/*
 * config/process.c - workers, stats, logs.
 */
#include "config/process.h"

#include <sched.h>

#include "base/mem.h"
#include "config/address.h"
#include "config/resolver.h"
#include "config/section.h"
#include "config/units.h"

#define WORKERS_MAX 64
/* twemproxy's port. */
#define STATS_DEFAULT VIEW("127.0.0.1:22222")

/* Those that this process may run on. */
static unsigned
count_processors(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof(set), &set) < 0)
        return 1;
    return (unsigned)MIN(MAX(CPU_COUNT(&set), 1), WORKERS_MAX);
}

static void
read_workers(struct report *report, const struct node *node, void *target)
{
    struct settings *settings = target;
    uint64_t workers;

    if (view_equal(node_text(node), VIEW("auto")))
        settings->workers = count_processors();
    else if (!view_to_u64(node_text(node), &workers) || workers < 1 ||
             workers > WORKERS_MAX)
        report_found(report, node, "workers", "auto or a number from 1 to %d",
                     WORKERS_MAX);
    else
        settings->workers = (unsigned)workers;
}

static void
read_stats(struct report *report, const struct node *node, void *target)
{
    struct settings *settings = target;
    struct address_text address;

    if (view_equal(node_text(node), VIEW("off"))) {
        settings->has_stats = false;
        return;
    }
    const char *allowed =
        address_text_parse(node_text(node), ADDRESS_STATS, &address);
    if (allowed != NULL) {
        report_found(report, node, "stats", "%s", allowed);
        return;
    }
    address_text_fini(&settings->stats);
    settings->stats = address;
}

static void
read_log_level(struct report *report, const struct node *node, void *target)
{
    struct settings *settings = target;
    int level = node->kind == NODE_TEXT ? log_level_parse(node->text) : -1;

    if (level < 0)
        report_found(report, node, "log_level", "error, warn, info or debug");
    else
        settings->log_level = (enum log_level)level;
}

static const struct word process_words[] = {
#define PROCESS_WORD(key, read) {#key, read},
#include "config/words.def"
};

static const struct value_row process_rows[] = {
#define PROCESS(key, TYPE, def, min, max, help) \
    SECTION_ROW_##TYPE(struct settings, key, min, max)
#include "config/settings.def"
};

static const struct section process_section = {
    .words = process_words,
    .word_count = ARRAY_LEN(process_words),
    .rows = process_rows,
    .row_count = ARRAY_LEN(process_rows),
};

void
process_settings_init(struct settings *settings)
{
#define PROCESS(key, TYPE, def, min, max, help) \
    SECTION_DEFAULT_##TYPE(settings, key, def)
#include "config/settings.def"
    settings->workers = count_processors();
    settings->log_level = LOG_LEVEL_INFO;
    settings->has_stats = true;
    const char *allowed =
        address_text_parse(STATS_DEFAULT, ADDRESS_STATS, &settings->stats);
    ASSERT(allowed == NULL);
}

static void
check_ttl(struct report *report, const struct node *map,
          const struct settings *settings)
{
    bool has_min = node_find(map, VIEW("resolve_ttl_min")) != NULL;
    struct view key =
        has_min ? VIEW("resolve_ttl_min") : VIEW("resolve_ttl_max");
    char min[UNITS_TEXT_SIZE], max[UNITS_TEXT_SIZE];

    if (settings->resolve_ttl_min_ms > settings->resolve_ttl_max_ms)
        report_error(report, node_key_mark(map, key), "resolve_ttl_min",
                     "found %s, allowed up to resolve_ttl_max (%s)",
                     units_print_msec(min, settings->resolve_ttl_min_ms),
                     units_print_msec(max, settings->resolve_ttl_max_ms));
}

void
process_settings_read(struct report *report, const struct node *map,
             struct settings *settings)
{
    report->section = PROCESS_SECTION;
    if (map->kind == NODE_MAP) {
        section_read(report, map, &process_section, settings);
        check_ttl(report, map, settings);
    } else {
        report_error(report, map->at, NULL, "found no keys, allowed a map of "
                     "them such as workers: auto");
    }
    report->section = NULL;
}

void
process_settings_fini(struct settings *settings)
{
#define PROCESS(key, TYPE, def, min, max, help) \
    SECTION_FREE_##TYPE(settings, key)
#include "config/settings.def"
    address_text_fini(&settings->stats);
    mem_free(settings->resolver);
}
