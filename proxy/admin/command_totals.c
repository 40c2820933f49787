/*
 * admin/command_totals.c - adding accounts up.
 */
#include "admin/command_totals.h"

#include <string.h>

#include "base/mem.h"

static const struct session_stats *
block_of(const struct admin_source *source, unsigned worker, size_t pool)
{
    return source->editions[worker]->pools[pool].stats;
}

/* --- commands ------------------------------------------------------------ */

struct collecting {
    struct command_totals totals;
    size_t room;
    enum command_period period;
};

static bool
is_empty(const struct command_stats *stats)
{
    return command_stats_calls(stats) == 0 && cell_get(&stats->failed) == 0 &&
        cell_get(&stats->rejected) == 0;
}

static void
collect(void *arg, const char *name, const struct command_account *account)
{
    struct collecting *collecting = arg;
    struct command_totals *totals = &collecting->totals;
    struct command_total total = {.name = name};

    if (collecting->period == SINCE_START)
        command_stats_add(&total.stats, &account->all);
    else
        command_stats_add_recent(&total.stats, account);
    if (is_empty(&total.stats))
        return;
    if (totals->count == collecting->room) {
        collecting->room = MAX(2 * collecting->room, (size_t)64);
        totals->all =
            mem_realloc(totals->all, collecting->room * sizeof(*totals->all));
    }
    totals->all[totals->count++] = total;
}

static int
by_name(const void *a, const void *b)
{
    const struct command_total *x = a, *y = b;

    return strcmp(x->name, y->name);
}

/* What several workers have counted for one command becomes one. */
static void
merge(struct command_totals *totals)
{
    size_t kept = 0;

    for (size_t i = 0; i < totals->count; i++) {
        struct command_total *last = kept == 0 ? NULL : &totals->all[kept - 1];
        if (last == NULL || strcmp(last->name, totals->all[i].name) != 0)
            totals->all[kept++] = totals->all[i];
        else
            command_stats_add(&last->stats, &totals->all[i].stats);
    }
    totals->count = kept;
}

struct command_totals
command_totals_read(const struct admin_source *source, size_t pool,
                    enum command_period period)
{
    struct collecting collecting = {.period = period};
    struct command_totals *totals = &collecting.totals;

    for (unsigned w = 0; w < source->workers; w++)
        session_stats_each(block_of(source, w, pool), collect, &collecting);
    if (totals->count > 1)
        qsort(totals->all, totals->count, sizeof(*totals->all), by_name);
    merge(totals);
    return *totals;
}

void
command_totals_fini(struct command_totals *totals)
{
    mem_free(totals->all);
    *totals = (struct command_totals){0};
}

/* --- errors -------------------------------------------------------------- */

static void
add_error(struct error_totals *totals, const char *code, uint64_t count)
{
    size_t i = 0;

    while (i < totals->count && strcmp(totals->all[i].code, code) != 0)
        i++;
    if (i == totals->count) {
        totals->all = mem_realloc(totals->all, (i + 1) * sizeof(*totals->all));
        totals->count++;
        totals->all[i].count = 0;
        memcpy(totals->all[i].code, code, ERROR_CODE_MAX);
    }
    totals->all[i].count += count;
}

static void
add_row(struct error_totals *totals, const struct error_row *row,
        enum command_period period)
{
    uint64_t count =
        period == SINCE_START ? cell_get(&row->all) : error_row_recent(row);

    if (count > 0)
        add_error(totals, row->code, count);
}

struct error_totals
error_totals_read(const struct admin_source *source, size_t pool,
                  enum command_period period)
{
    struct error_totals totals = {0};

    for (unsigned w = 0; w < source->workers; w++) {
        const struct error_stats *stats = &block_of(source, w, pool)->errors;
        unsigned used = error_stats_used(stats);
        for (unsigned i = 0; i < used; i++)
            add_row(&totals, &stats->rows[i], period);
        add_row(&totals, &stats->rows[ERROR_CODES - 1], period);
    }
    return totals;
}

void
error_totals_fini(struct error_totals *totals)
{
    mem_free(totals->all);
    *totals = (struct error_totals){0};
}
