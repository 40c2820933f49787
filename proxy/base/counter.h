/*
 * base/counter.h - cells with one writer that any thread may read.
 *
 * A worker adds to its own cells; admin sums the cells of all workers.  Both
 * sides use relaxed atomics: on the machines we know that is a plain load and
 * store.  Gauges use the same cells and also go down.
 *
 * A room declares its cells in a `*_stats.def` file, one row each:
 *
 *   STAT(name, kind, unit, "help text")      kind: COUNTER or GAUGE
 *
 * and builds a struct of cells and a table of descriptions from it.
 */
#ifndef BASE_COUNTER_H
#define BASE_COUNTER_H

#include "base/base.h"

struct cell {
    uint64_t value;
};

enum stat_kind { STAT_COUNTER, STAT_GAUGE };

/* One described cell of a struct of cells. */
struct stat_desc {
    const char *name;
    enum stat_kind kind;
    const char *unit; /* "" or a Prometheus base unit: bytes, seconds */
    const char *help;
    size_t offset; /* of the cell in its struct */
};

static inline uint64_t
cell_get(const struct cell *cell)
{
    return __atomic_load_n(&cell->value, __ATOMIC_RELAXED);
}

static inline void
cell_set(struct cell *cell, uint64_t value)
{
    __atomic_store_n(&cell->value, value, __ATOMIC_RELAXED);
}

static inline void
cell_add(struct cell *cell, uint64_t amount)
{
    cell_set(cell, cell->value + amount);
}

static inline void
cell_sub(struct cell *cell, uint64_t amount)
{
    cell_set(cell, cell->value - amount);
}

#define cell_inc(cell) cell_add((cell), 1)
#define cell_dec(cell) cell_sub((cell), 1)

#endif
