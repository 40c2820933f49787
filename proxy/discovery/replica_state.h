/*
 * discovery/replica_state.h - may this replica be read from?
 *
 *   INFO replication of a primary   its offset, now and then -+
 *   INFO replication of a replica   its link, its offset     -+--> fresh, cut
 *                                                                  or behind
 *
 * How far a replica is behind is measured in time: for at least as long as its
 * primary has been beyond the offset that the replica has reached.
 *
 * Pure: time is an argument.
 */
#ifndef DISCOVERY_REPLICA_STATE_H
#define DISCOVERY_REPLICA_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "base/view.h"

#define OFFSETS_KEPT 32
#define LATENCIES_KEPT 8

/* What a node says of itself. */
struct replication {
    bool is_replica;
    bool is_linked; /* a replica: to its primary, and it is not being filled */
    uint64_t offset;
};

/* False: the reply is none to INFO replication. */
bool replication_read(struct view reply, struct replication *told) MUST_CHECK;
/* The value of a field of INFO, empty when there is none. */
struct view info_field(struct view text, struct view name);

struct offset_sample {
    uint64_t at_us;
    uint64_t offset;
};

/* Where a primary stood, and when; the oldest first. */
struct offset_history {
    struct offset_sample samples[OFFSETS_KEPT];
    unsigned count;
    struct offset_sample latest;
};

/* Samples nearer to each other than this are not told apart. */
void offset_history_add(struct offset_history *history,
                        struct offset_sample sample, uint64_t spacing_us);
/* For how long the primary had been beyond this offset when it was last asked:
 * at least so long. */
uint64_t offset_history_lag(const struct offset_history *history,
                            uint64_t offset) MUST_CHECK;

enum replica_state {
    REPLICA_FRESH,
    REPLICA_CUT,   /* as good as it was when it lost its link */
    REPLICA_BEHIND /* too far */
};

/* `max_us`: 0 for as far as may be. */
enum replica_state replica_judge(enum replica_state before, bool is_linked,
                                 uint64_t lag_us, uint64_t max_us) MUST_CHECK;
const char *replica_state_name(enum replica_state state);

/* The last round trips to a node; the shortest counts, since a pause of ours
 * only makes them longer. */
struct latency {
    uint32_t took_us[LATENCIES_KEPT];
    unsigned count;
};

void latency_add(struct latency *latency, uint64_t took_us);
/* UINT32_MAX: not known. */
uint32_t latency_shortest(const struct latency *latency) MUST_CHECK;
/* Is it among the nearest, one of which takes `lowest_us`?  Who was stays so
 * for a little more. */
bool latency_is_near(uint32_t took_us, uint32_t lowest_us,
                     bool was_near) MUST_CHECK;

#endif
