/*
 * discovery/cluster_stats.c - the table of the counters of a cluster's map.
 */
#include "discovery/cluster_stats.h"

const struct stat_desc cluster_stat_descs[] = {
#define STAT(name, kind, unit, help) \
    {#name, STAT_##kind, unit, help, offsetof(struct cluster_stats, name)},
#include "discovery/cluster_stats.def"
#undef STAT
};

const unsigned cluster_stat_count = ARRAY_LEN(cluster_stat_descs);

const char *
map_cause_name(enum map_cause cause)
{
    static const char *const names[] = {
#define MAP_CAUSE(name, NAME, help) #name,
#include "upstream/map_cause.def"
#undef MAP_CAUSE
    };

    return names[cause];
}
