/*
 * admin/memory.c - MEMORY STATS, DOCTOR and MALLOC-STATS of the proxy itself.
 *
 * Under the names of servers where the proxy has the same; it keeps no keys, so
 * that whatever is about these is left out.
 */
#include "admin/admin.h"

#include <inttypes.h>

#include "admin/process.h"
#include "base/mem.h"

/* Less than this apart is not worth a word. */
#define SLACK_BYTES (16u << 20)
#define SLACK_RATIO 1.5

struct memory {
    const struct admin_source *source;
    struct process_facts facts;
    uint64_t active_bytes; /* pages in use */
    uint64_t peak_bytes;
    uint64_t chunk_bytes; /* what stands in buffers for clients */
    struct buf *out;
};

static struct memory
memory_read(const struct admin_source *source, struct buf *out)
{
    struct memory memory = {
        .source = source,
        .facts = process_facts_read(),
        .active_bytes = mem_active(),
        .out = out,
    };

    memory.peak_bytes = MAX(cell_get(&source->control_stats.memory_peak),
                            memory.facts.allocated_bytes);
    for (unsigned w = 0; w < source->workers; w++)
        memory.chunk_bytes += cell_get(&source->worker_stats[w]->chunk_bytes);
    return memory;
}

/* --- STATS --------------------------------------------------------------- */

static void
put(struct memory *memory, const char *name, uint64_t value)
{
    buf_printf(memory->out, "%s %" PRIu64 "\n", name, value);
}

static double
ratio(uint64_t value, uint64_t base)
{
    return base == 0 ? 1 : (double)value / (double)base;
}

static void
put_real(struct memory *memory, const char *name, double value)
{
    buf_printf(memory->out, "%s %.17f\n", name, value);
}

/* How much of `value` is over `base`, as a ratio and in bytes. */
static void
put_excess(struct memory *memory, const char *name, uint64_t value,
           uint64_t base)
{
    bool is_overall = view_equal(view_str(name), VIEW("fragmentation"));

    buf_printf(memory->out, "%s%s %.17f\n", name, is_overall ? "" : ".ratio",
               ratio(value, base));
    buf_printf(memory->out, "%s.bytes %" PRId64 "\n", name,
               (int64_t)(value - base));
}

static void
put_stats(struct memory *memory)
{
    const struct process_facts *facts = &memory->facts;

    put(memory, "peak.allocated", memory->peak_bytes);
    put(memory, "total.allocated", facts->allocated_bytes);
    put(memory, "startup.allocated", memory->source->started_allocated_bytes);
    put(memory, "clients.normal", memory->chunk_bytes);
    put(memory, "overhead.total", facts->allocated_bytes);
    put_real(memory, "peak.percentage",
             100 * ratio(facts->allocated_bytes, memory->peak_bytes));
    put(memory, "allocator.allocated", facts->allocated_bytes);
    put(memory, "allocator.active", memory->active_bytes);
    put(memory, "allocator.resident", facts->held_bytes);
    put_excess(memory, "allocator-fragmentation", memory->active_bytes,
               facts->allocated_bytes);
    put_excess(memory, "allocator-rss", facts->held_bytes,
               memory->active_bytes);
    put_excess(memory, "rss-overhead", facts->resident_bytes,
               facts->held_bytes);
    put_excess(memory, "fragmentation", facts->resident_bytes,
               facts->allocated_bytes);
}

/* --- DOCTOR -------------------------------------------------------------- */

static bool
is_much_over(uint64_t value, uint64_t base)
{
    return value > base && value - base > SLACK_BYTES &&
        ratio(value, base) > SLACK_RATIO;
}

static void
advise(struct memory *memory)
{
    const struct control_stats *stats = &memory->source->control_stats;
    const struct process_facts *facts = &memory->facts;
    struct buf *out = memory->out;
    size_t start = out->len;
    uint64_t used = cell_get(&stats->memory_used);
    uint64_t limit = cell_get(&stats->memory_limit);

    if (cell_get(&stats->memory_short) != 0)
        buf_append_str(out,
                       " * max_memory is reached: new clients and large "
                       "requests are refused.\n");
    else if (used > limit / 4 * 3)
        buf_append_str(out,
                       " * More than three quarters of max_memory are used.\n");
    if (used > 0 && memory->peak_bytes > used &&
        is_much_over(memory->peak_bytes, used))
        buf_append_str(out,
                       " * It has been much more: a burst of large requests or "
                       "answers, or of clients that did not read.\n");
    if (is_much_over(memory->active_bytes, facts->allocated_bytes))
        buf_append_str(out,
                       " * Pages are used in part only (fragmentation); this "
                       "grows less when clients leave.\n");
    if (is_much_over(facts->held_bytes, memory->active_bytes))
        buf_append_str(out,
                       " * Unused pages have not been given back yet: MEMORY "
                       "PURGE does that.\n");
    if (out->len == start)
        buf_append_str(out, " * There is no problem.\n");
}

static void
put_report(struct memory *memory)
{
    const struct control_stats *stats = &memory->source->control_stats;
    uint64_t used = MAX(cell_get(&stats->memory_used), memory->active_bytes);

    buf_printf(memory->out,
               "The proxy uses %" PRIu64 " bytes of the %" PRIu64
               " that max_memory allows; %" PRIu64
               " of them are buffers for clients and servers.  The most so far "
               "were %" PRIu64 ".\n\n",
               used, cell_get(&stats->memory_limit), memory->chunk_bytes,
               MAX(memory->peak_bytes, used));
    advise(memory);
}

/* --- MALLOC-STATS -------------------------------------------------------- */

static void
append_text(void *arg, const char *text)
{
    buf_append_str(arg, text);
}

void
admin_render_memory(const struct admin_source *source, struct view what,
                    struct buf *out)
{
    struct memory memory = memory_read(source, out);

    if (view_equal(what, VIEW("stats")))
        put_stats(&memory);
    else if (view_equal(what, VIEW("doctor")))
        put_report(&memory);
    else
        mem_report(append_text, out);
}
