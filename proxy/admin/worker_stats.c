/*
 * admin/worker_stats.c - the table of a worker's counters.
 */
#include "admin/worker_stats.h"

const struct stat_desc worker_stat_descs[] = {
#define STAT(name, kind, unit, help) \
    {#name, STAT_##kind, unit, help, offsetof(struct worker_stats, name)},
#include "admin/worker_stats.def"
#undef STAT
};

const unsigned worker_stat_count = ARRAY_LEN(worker_stat_descs);
