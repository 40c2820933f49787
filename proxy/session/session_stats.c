/*
 * session/session_stats.c - the table of a pool's counters.
 */
#include "session/session_stats.h"

const struct stat_desc session_stat_descs[] = {
#define STAT(name, kind, unit, help) \
    {#name, STAT_##kind, unit, help, offsetof(struct session_stats, name)},
#include "session/session_stats.def"
#undef STAT
};

const unsigned session_stat_count = ARRAY_LEN(session_stat_descs);
