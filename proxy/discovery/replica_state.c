/*
 * discovery/replica_state.c - reading INFO, measuring, judging.
 */
#include "discovery/replica_state.h"

#include <string.h>

#include "resp/reply_read.h"

#define NEAR_US 200 /* differences below are nobody's concern */

/* --- INFO -------------------------------------------------------------------- */

struct view
info_field(struct view text, struct view name)
{
    while (text.len > 0) {
        struct view line = view_take(&text, '\n');
        while (line.len > 0 && line.data[line.len - 1] == '\r')
            line.len--;
        if (line.len > name.len && line.data[name.len] == ':' &&
            memcmp(line.data, name.data, name.len) == 0)
            return view_of(line.data + name.len + 1, line.len - name.len - 1);
    }
    return view_of(NULL, 0);
}

bool
replication_read(struct view reply, struct replication *told)
{
    struct reply_item item;

    if (!reply_next(&reply, &item) || item.is_null ||
        (item.type != RESP_BULK && item.type != RESP_VERBATIM))
        return false;
    struct view role = info_field(item.text, VIEW("role"));
    told->is_replica = view_equal(role, VIEW("slave"));
    if (!told->is_replica && !view_equal(role, VIEW("master")))
        return false;
    struct view offset =
        info_field(item.text,
                   told->is_replica ? VIEW("slave_repl_offset")
                                    : VIEW("master_repl_offset"));
    told->is_linked = told->is_replica &&
        view_equal(info_field(item.text, VIEW("master_link_status")),
                   VIEW("up")) &&
        !view_equal(info_field(item.text, VIEW("master_sync_in_progress")),
                    VIEW("1"));
    return view_to_u64(offset, &told->offset);
}

/* --- how far behind ---------------------------------------------------------- */

void
offset_history_add(struct offset_history *history, struct offset_sample sample,
                   uint64_t spacing_us)
{
    /* It has begun anew, or is another primary. */
    if (history->count > 0 && sample.offset < history->latest.offset)
        history->count = 0;
    history->latest = sample;
    if (history->count > 0 &&
        sample.at_us - history->samples[history->count - 1].at_us < spacing_us)
        return;
    if (history->count == OFFSETS_KEPT) {
        history->count--;
        memmove(history->samples, history->samples + 1,
                history->count * sizeof(struct offset_sample));
    }
    history->samples[history->count++] = sample;
}

uint64_t
offset_history_lag(const struct offset_history *history, uint64_t offset)
{
    unsigned i = 0;

    while (i < history->count && history->samples[i].offset <= offset)
        i++;
    return i == history->count
        ? 0
        : history->latest.at_us - history->samples[i].at_us;
}

/* Who was too far behind has to come half the way, so that it does not come and
 * go with each write. */
enum replica_state
replica_judge(enum replica_state before, bool is_linked, uint64_t lag_us,
              uint64_t max_us)
{
    uint64_t limit_us = before == REPLICA_BEHIND ? max_us / 2 : max_us;

    if (max_us > 0 && lag_us > limit_us)
        return REPLICA_BEHIND;
    return is_linked ? REPLICA_FRESH : REPLICA_CUT;
}

const char *
replica_state_name(enum replica_state state)
{
    static const char *const names[] = {
        [REPLICA_FRESH] = "fresh",
        [REPLICA_CUT] = "cut off from its primary",
        [REPLICA_BEHIND] = "too far behind",
    };

    return names[state];
}

/* --- how near ---------------------------------------------------------------- */

void
latency_add(struct latency *latency, uint64_t took_us)
{
    if (latency->count == LATENCIES_KEPT) {
        latency->count--;
        memmove(latency->took_us, latency->took_us + 1,
                latency->count * sizeof(latency->took_us[0]));
    }
    latency->took_us[latency->count++] =
        (uint32_t)MIN(took_us, (uint64_t)UINT32_MAX - 1);
}

uint32_t
latency_shortest(const struct latency *latency)
{
    uint32_t shortest = UINT32_MAX;

    for (unsigned i = 0; i < latency->count; i++)
        shortest = MIN(shortest, latency->took_us[i]);
    return shortest;
}

bool
latency_is_near(uint32_t took_us, uint32_t lowest_us, bool was_near)
{
    unsigned factor = was_near ? 3 : 2;

    return took_us != UINT32_MAX &&
        took_us <= ((uint64_t)lowest_us + NEAR_US) * factor - NEAR_US;
}
