/*
 * discovery/sentinels_priv.h - what sentinels.c, sentinel_master.c,
 * sentinel_peer.c and sentinel_roster.c share.
 */
#ifndef DISCOVERY_SENTINELS_PRIV_H
#define DISCOVERY_SENTINELS_PRIV_H

#include "config/settings.h"
#include "discovery/checkups.h"
#include "discovery/names.h"
#include "discovery/sentinel_peer.h"
#include "discovery/sentinels.h"

/* Why no writes are sent to it. */
enum master_hold {
    MASTER_FOLLOWED,     /* they are */
    MASTER_FAILING_OVER, /* a Sentinel has begun a failover */
    MASTER_OUTDATED      /* a Sentinel tells of a higher epoch */
};

/* One master, and what is believed of it. */
struct sentinel_master {
    struct sentinels *owner;
    const struct server_settings *server;
    char *name;          /* of the master */
    char *host;          /* NULL: nothing has been believed yet */
    uint16_t port;
    uint64_t epoch;      /* that is believed, and a floor before any is */
    uint64_t since_us;   /* when it was first believed to be there */
    uint64_t moved_us;   /* ... having been somewhere else; 0: never */
    enum epoch_verdict verdict; /* of whole rounds, when it has lasted */
    unsigned doubts;     /* whole rounds in a row without a majority ... */
    uint64_t doubted_us; /* ... since then */
    enum master_hold hold;
    uint64_t held_epoch; /* that was told of */
    uint64_t held_us;    /* since then ... */
    char held_by[SENTINEL_RUN_ID_MAX + 1]; /* ... by the word of this one */
    bool is_aborted;     /* the failover has come to nothing */
    bool is_announced;   /* an event of it came before anything else */
    bool is_promoting;   /* it is too late to let go of it */
    bool is_stuck;       /* neither end of it has come */
    char muted[SENTINEL_RUN_ID_MAX + 1];   /* it held a master for nothing ... */
    uint64_t muted_until_us;               /* ... and is not heard until then */
    bool lacks_quorum;   /* and writes are to be rejected meanwhile */
    struct subscription hello;
    struct sentinel_replicas *replicas; /* NULL: none are known */
};

struct sentinels {
    struct loop *loop;
    struct names *names;
    const struct pool_settings *settings;
    const struct sentinels_ops *ops;
    void *arg;
    struct sentinel_peer *peers[EPOCH_VOTES_MAX];
    unsigned peer_count;
    struct sentinel_master **masters; /* as the settings number them */
    uint32_t master_count;
    struct timer next;      /* the round that is due */
    uint64_t round;
    uint64_t asked_us;      /* when the last round began */
    uint64_t known_us;      /* when that which brought the last news did */
    uint64_t dice;
    unsigned fruitless;     /* rounds in a row that brought nothing new */
    bool is_wanted;         /* somebody waits for news */
    bool is_hinted;         /* the last round was begun for a hint */
    bool is_whole;          /* ... and has been looked at as a whole */
    bool is_asking;         /* it is being begun: nobody judges by it yet */
    bool has_changed;       /* since it was last told of */
    struct checkups *checkups; /* of masters and replicas */
    struct sentinel_stats stats;
};

/* --- sentinels.c ------------------------------------------------------------- */

/* Somebody may know something new: ask soon. */
void sentinels_want(struct sentinels *sentinels);
/* The same, and it is not put off as nothing new came before. */
void sentinels_hurry(struct sentinels *sentinels);
/* Answers of a peer are here, or it has failed. */
void sentinels_on_votes(struct sentinels *sentinels);
/* A seed lists another Sentinel. */
void sentinels_learn(struct sentinels *sentinels,
                     const struct sentinel_peer *seed,
                     const struct sentinel_instance *found);
/* A seed has listed all that it knows. */
void sentinels_end_listing(struct sentinels *sentinels,
                           const struct sentinel_peer *seed);
/* A seed has told its run id: it may have been learnt by an address before. */
void sentinels_drop_twin(struct sentinels *sentinels,
                         const struct sentinel_peer *seed);
/* The index of a master, or master_count. */
uint32_t sentinels_find(const struct sentinels *sentinels, struct view name);
/* Is it one whose word counts? */
bool sentinels_counts(const struct sentinels *sentinels,
                      const struct sentinel_peer *peer);
/* Is this the run id of somebody who counts? */
bool sentinels_knows(const struct sentinels *sentinels, struct view run_id);
/* AUTH for the Sentinels; how many answers it has. */
unsigned sentinels_encode_auth(const struct pool_settings *settings,
                               struct buf *out);

/* --- sentinel_roster.c ------------------------------------------------------- */

/* The replicas of a master are what most Sentinels say now. */
void sentinels_take_replicas(struct sentinels *sentinels, uint32_t number);
/* Ask those that are in the roster now how they are. */
void sentinels_check_up(struct sentinels *sentinels);

/* --- sentinel_master.c ------------------------------------------------------- */

struct sentinel_master *
sentinel_master_new(struct sentinels *owner,
                    const struct server_settings *server);
void sentinel_master_free(struct sentinel_master **masterp);

/* Judge it by the votes; `whole`: all have answered or failed.  True when all are
 * here and enough stand by what is believed. */
bool sentinel_master_review(struct sentinel_master *master,
                            const struct vote *votes, size_t count,
                            bool whole);
/* A Sentinel fails it over, as this event of its says. */
void sentinel_master_on_failover(struct sentinel_master *master,
                                 struct view run_id,
                                 enum sentinel_event_kind event);
enum gate sentinel_master_gate(const struct sentinel_master *master);

#endif
