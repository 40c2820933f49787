/*
 * base/graph.h - samples drawn with letters, as LATENCY GRAPH does.
 *
 *   #          the longest is four rows high, the shortest one; below it, from
 *   |  _       top to bottom, how long ago that was
 *   | o|
 *   |_||
 *
 *   2111
 *   msss
 *
 * Pure.
 */
#ifndef BASE_GRAPH_H
#define BASE_GRAPH_H

#include "base/buf.h"

struct graph_point {
    uint64_t ms;
    uint64_t age_s;
};

/* Append the drawing of these points, the oldest first; as many beside each
 * other as a terminal has room for. */
void graph_draw(const struct graph_point *points, size_t count,
                struct buf *out);

#endif
