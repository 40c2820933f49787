/*
 * upstream/map_cause.h - why the map of a cluster is asked for anew.
 */
#ifndef UPSTREAM_MAP_CAUSE_H
#define UPSTREAM_MAP_CAUSE_H

enum map_cause {
#define MAP_CAUSE(name, NAME, help) MAP_CAUSE_##NAME,
#include "upstream/map_cause.def"
#undef MAP_CAUSE
    MAP_CAUSE_COUNT
};

#endif
