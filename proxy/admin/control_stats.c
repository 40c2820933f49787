/*
 * admin/control_stats.c - the table of the counters of control.
 */
#include "admin/control_stats.h"

const struct stat_desc control_stat_descs[] = {
#define STAT(name, kind, unit, help) \
    {#name, STAT_##kind, unit, help, offsetof(struct control_stats, name)},
#include "admin/control_stats.def"
#undef STAT
};

const unsigned control_stat_count = ARRAY_LEN(control_stat_descs);
