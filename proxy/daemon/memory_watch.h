/*
 * daemon/memory_watch.h - how much memory the process uses, and whether that is
 * too much.
 *
 *   used = the workers' chunks, counted by them at every turn
 *        + all else, asked of the allocator now and then
 *
 * At max_memory the budget (base/budget.h) says that memory is short, until an
 * eighth of it is free again.  Owner: control.
 */
#ifndef DAEMON_MEMORY_WATCH_H
#define DAEMON_MEMORY_WATCH_H

#include "admin/source.h"
#include "base/budget.h"
#include "net/loop.h"

struct memory_watch {
    struct budget budget;
    struct timer timer;
    struct admin_source *source; /* the workers' cells; ours to write to */
    uint64_t limit;
    uint64_t other;   /* what is not in chunks, when last asked */
    unsigned ticks;   /* until that is asked again */
};

/* Measures from now on, if the loop runs; nothing is short before the limit is
 * set. */
void memory_watch_start(struct memory_watch *watch, struct loop *loop,
                        struct admin_source *source);
void memory_watch_stop(struct memory_watch *watch);

/* max_memory; 0: three quarters of what the system lets the process have. */
void memory_watch_limit(struct memory_watch *watch, uint64_t max_memory);

#endif
