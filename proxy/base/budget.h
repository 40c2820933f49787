/*
 * base/budget.h - is there memory left for what is large?
 *
 * One for the process: control measures and writes it, every thread may read
 * it, which costs a load of a word that seldom changes.  Small work goes on
 * whatever it says.
 */
#ifndef BASE_BUDGET_H
#define BASE_BUDGET_H

#include <stdbool.h>

#include "base/base.h"

struct budget {
    uint32_t is_short; /* the process has reached its max_memory */
};

/* NULL: nobody measures. */
static inline bool
budget_is_short(const struct budget *budget)
{
    return budget != NULL &&
        __atomic_load_n(&budget->is_short, __ATOMIC_RELAXED) != 0;
}

static inline void
budget_set_short(struct budget *budget, bool is_short)
{
    __atomic_store_n(&budget->is_short, is_short, __ATOMIC_RELAXED);
}

#endif
