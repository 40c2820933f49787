/*
 * upstream/server_stats.c - the table of a server's counters.
 */
#include "upstream/server_stats.h"

const struct stat_desc server_stat_descs[] = {
#define STAT(name, kind, unit, help) \
    {#name, STAT_##kind, unit, help, offsetof(struct server_stats, name)},
#include "upstream/server_stats.def"
#undef STAT
};

const unsigned server_stat_count = ARRAY_LEN(server_stat_descs);
