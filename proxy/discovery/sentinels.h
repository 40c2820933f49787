/*
 * discovery/sentinels.h - following the masters of one pool.
 *
 *   an interval, hints, events --> all Sentinels are asked --> votes
 *        votes of each master --> discovery/epoch --> on_change, or on_same
 *   hello on a master: a higher epoch --> the master is held --> asked again
 *
 * All Sentinels are asked at a time and each answer is looked at when it comes,
 * so that a switch is taken as soon as enough of them tell of it.  That too few
 * do is only found when all have answered or failed.  Between two rounds there is
 * a pause, longer while they bring nothing new.
 *
 * A master is held while a failover is under way, or somebody has told of a higher
 * epoch than that which is believed: no writes are sent to it.  It is let go when
 * the higher one is believed, or when all who could be asked a while later still
 * stand by the lower one.  When neither comes for too long, writes are refused.
 *
 * Owner and thread: control.
 */
#ifndef DISCOVERY_SENTINELS_H
#define DISCOVERY_SENTINELS_H

#include <stdbool.h>

#include "discovery/epoch.h"
#include "discovery/sentinel_stats.h"
#include "upstream/map_cause.h"
#include "upstream/roster.h"

struct loop;
struct names;
struct sentinels;

struct sentinels_ops {
    /* The highest epoch that was ever believed of a master; 0: none. */
    uint64_t (*find_epoch)(struct sentinels *sentinels, const char *master);
    /* It is this one now; it will be believed when this returns. */
    void (*on_epoch)(struct sentinels *sentinels, const char *master,
                     uint64_t epoch);
    /* Something of what sentinels_roster() says has changed, by answers to
     * questions that were asked at this time. */
    void (*on_change)(struct sentinels *sentinels, uint64_t asked_us);
    /* Writes to masters are held, let go or refused: one gate for each, as the
     * settings number them.  Called when they may have changed. */
    void (*on_gates)(struct sentinels *sentinels, const enum gate *gates);
    /* A question asked at this time, after a hint, has brought nothing new. */
    void (*on_same)(struct sentinels *sentinels, uint64_t asked_us);
};

/* Asks at once, which is heard of from the loop; the settings are borrowed until
 * sentinels_configure() brings others.  `names` tells where Sentinels are whose
 * hosts are names. */
struct sentinels *sentinels_new(struct loop *loop, struct names *names,
                                const struct pool_settings *settings,
                                const struct sentinels_ops *ops, void *arg);
void sentinels_free(struct sentinels **sentinelsp);
void *sentinels_arg(const struct sentinels *sentinels);

/* Other settings; masters whose names stay keep their addresses. */
void sentinels_configure(struct sentinels *sentinels,
                         const struct pool_settings *settings);

/* What was asked for at `seen_us` (0: nothing was) does not do. */
void sentinels_hint(struct sentinels *sentinels, enum map_cause cause,
                    uint64_t seen_us);

/* Where the servers of these settings are, as far as is known; their gates are
 * told apart. */
struct roster *sentinels_roster(const struct sentinels *sentinels,
                                const struct pool_settings *settings);

/* --- for statistics ---------------------------------------------------------- */

struct sentinel_master_facts {
    const char *name; /* of the server */
    uint64_t epoch;
    bool is_somewhere; /* an address was ever believed ... */
    uint64_t age_us;   /* ... so long ago the present one */
    enum epoch_verdict verdict; /* of the last time that all were asked */
    enum gate gate;
};

/* Is every master somewhere, and held by nothing? */
bool sentinels_are_ready(const struct sentinels *sentinels);
/* False: there is no such number. */
bool sentinels_master(const struct sentinels *sentinels, uint32_t number,
                      struct sentinel_master_facts *facts);
const struct sentinel_stats *sentinels_stats(const struct sentinels *sentinels);

#endif
