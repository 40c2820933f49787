/*
 * daemon/memory_watch.c - measuring.
 */
#include "daemon/memory_watch.h"

#include <inttypes.h>
#include <unistd.h>

#include "base/log_limit.h"
#include "base/mem.h"

#define CALM_MS 100      /* between two looks at the chunks */
#define CLOSE_MS 10      /* the same, once half of the limit is used */
#define ASK_TICKS 10     /* looks between two questions to the allocator */

/* --- what the system has ------------------------------------------------------ */

static const char *const group_files[] = {
    "/sys/fs/cgroup/memory.max",                   /* version 2 */
    "/sys/fs/cgroup/memory/memory.limit_in_bytes", /* version 1 */
};

/* The number in a file; UINT64_MAX without one ("max"). */
static uint64_t
read_number(const char *path)
{
    FILE *file = fopen(path, "re");
    uint64_t number;

    if (file == NULL)
        return UINT64_MAX;
    if (fscanf(file, "%" SCNu64, &number) != 1)
        number = UINT64_MAX;
    fclose(file);
    return number;
}

/* Of the machine, or of the control group that we see as all there is. */
static uint64_t
system_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    uint64_t bytes = pages > 0
        ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE)
        : UINT64_MAX;

    for (size_t i = 0; i < ARRAY_LEN(group_files); i++)
        bytes = MIN(bytes, read_number(group_files[i]));
    return bytes;
}

/* --- measuring ------------------------------------------------------------------ */

static uint64_t
chunk_bytes(const struct memory_watch *watch)
{
    const struct admin_source *source = watch->source;
    uint64_t sum = 0;

    for (unsigned i = 0; i < source->workers; i++)
        sum += cell_get(&source->worker_stats[i]->chunk_bytes);
    return sum;
}

static uint64_t
measure(struct memory_watch *watch)
{
    uint64_t chunks = chunk_bytes(watch);

    if (watch->ticks-- == 0) {
        uint64_t all = mem_active();
        watch->ticks = ASK_TICKS;
        watch->other = all > chunks ? all - chunks : 0;
    }
    return watch->other + chunks;
}

static void
become_short(struct memory_watch *watch, uint64_t used)
{
    budget_set_short(&watch->budget, true);
    cell_inc(&watch->source->control_stats.memory_shortages);
    log_warn_limited(NULL, NULL, "max_memory reached",
                     "used=%" PRIu64 " limit=%" PRIu64, used, watch->limit);
}

static void
become_enough(struct memory_watch *watch, uint64_t used)
{
    budget_set_short(&watch->budget, false);
    log_info_limited(NULL, NULL, "below max_memory again",
                     "used=%" PRIu64 " limit=%" PRIu64, used, watch->limit);
}

static void
judge(struct memory_watch *watch, uint64_t used)
{
    struct control_stats *stats = &watch->source->control_stats;
    bool is_short = budget_is_short(&watch->budget);

    cell_set(&stats->memory_used, used);
    if (used > cell_get(&stats->memory_peak))
        cell_set(&stats->memory_peak, used);
    if (!is_short && used >= watch->limit)
        become_short(watch, used);
    else if (is_short && used < watch->limit - watch->limit / 8)
        become_enough(watch, used);
    cell_set(&stats->memory_short, budget_is_short(&watch->budget));
}

static void
on_look(struct timer *timer, void *arg)
{
    struct memory_watch *watch = arg;
    uint64_t used = measure(watch);

    judge(watch, used);
    timer_start(timer, used < watch->limit / 2 ? CALM_MS : CLOSE_MS);
}

void
memory_watch_start(struct memory_watch *watch, struct loop *loop,
                   struct admin_source *source)
{
    watch->source = source;
    watch->limit = UINT64_MAX;
    timer_init(&watch->timer, loop, on_look, watch);
    timer_start(&watch->timer, CALM_MS);
}

void
memory_watch_stop(struct memory_watch *watch)
{
    timer_stop(&watch->timer);
}

void
memory_watch_limit(struct memory_watch *watch, uint64_t max_memory)
{
    watch->limit = max_memory > 0 ? max_memory : system_memory() / 4 * 3;
    cell_set(&watch->source->control_stats.memory_limit, watch->limit);
}
