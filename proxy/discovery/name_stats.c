/*
 * discovery/name_stats.c - the table of the counters of names.
 */
#include "discovery/name_stats.h"

const struct stat_desc name_stat_descs[] = {
#define STAT(name, kind, unit, help) \
    {#name, STAT_##kind, unit, help, offsetof(struct name_stats, name)},
#include "discovery/name_stats.def"
#undef STAT
};

const unsigned name_stat_count = ARRAY_LEN(name_stat_descs);
