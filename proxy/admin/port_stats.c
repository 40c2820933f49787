/*
 * admin/port_stats.c - the table of the stats port's counters.
 */
#include "admin/port_stats.h"

const struct stat_desc port_stat_descs[] = {
#define STAT(name, kind, unit, help) \
    {#name, STAT_##kind, unit, help, offsetof(struct port_stats, name)},
#include "admin/port_stats.def"
#undef STAT
};

const unsigned port_stat_count = ARRAY_LEN(port_stat_descs);
