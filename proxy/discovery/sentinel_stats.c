/*
 * discovery/sentinel_stats.c - the table of the counters of Sentinels.
 */
#include "discovery/sentinel_stats.h"

const struct stat_desc sentinel_stat_descs[] = {
#define STAT(name, kind, unit, help) \
    {#name, STAT_##kind, unit, help, offsetof(struct sentinel_stats, name)},
#include "discovery/sentinel_stats.def"
#undef STAT
};

const unsigned sentinel_stat_count = ARRAY_LEN(sentinel_stat_descs);
