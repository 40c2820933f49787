/*
 * discovery/sentinel_peer.h - one Sentinel: asking it, and listening to it.
 *
 * Each asking takes up to SLICE masters in one go, over a connection of its own;
 * then the next ones follow.  What it has said of a master last is its vote,
 * until it is asked again or fails.  A host that is a name is looked up by
 * discovery/names; of several addresses one is kept to until it fails.
 *
 *   configured ("seed")  counts always
 *   learnt               counts while a majority of the seeds that have ever
 *                        answered list it; otherwise one liar could outvote, or
 *                        outnumber, them all
 *
 * Owner: struct sentinels.  One thread.
 */
#ifndef DISCOVERY_SENTINEL_PEER_H
#define DISCOVERY_SENTINEL_PEER_H

#include "discovery/ask.h"
#include "discovery/epoch.h"
#include "discovery/sentinel_read.h"
#include "discovery/sentinel_replicas.h"
#include "discovery/subscription.h"

struct sentinel_peer;
struct sentinels;

/* What a Sentinel has said of one master. */
struct kept_vote {
    enum vote_kind kind;
    char *host;
    uint16_t port;
    uint64_t epoch;
    bool is_failing_over;
    struct sentinel_replicas *replicas; /* NULL: it was not asked */
};

struct sentinel_peer {
    struct sentinels *owner;
    char *host;
    uint16_t port;
    struct address address; /* where it was last looked for */
    bool is_literal;        /* ... and is for ever, as its host is no name */
    bool is_seed;
    unsigned number;        /* of a seed: its bit in listed_by */
    char run_id[SENTINEL_RUN_ID_MAX + 1]; /* "": not known */
    uint64_t listed_by;     /* seeds that list it; by bit */
    uint64_t listing;       /* of a learnt one: those seen in this asking */
    uint64_t heard_us;      /* when it was last listed or reached */
    uint64_t tilt_until_us; /* its answers are doubtful until then */
    bool has_answered;      /* ever */
    bool is_reached;        /* when last asked */
    bool is_pending;        /* it could not be: its name is being looked up */
    unsigned failures;      /* in a row */
    unsigned turn;          /* which of its name's addresses is tried */
    uint64_t round;         /* for which it is, or was last, asked */
    uint32_t first;         /* master of the slice that is being asked about */
    struct ask ask;
    struct subscription events;
    struct kept_vote *votes; /* one a master */
    uint32_t vote_count;
};

struct sentinel_peer *sentinel_peer_new(struct sentinels *owner,
                                        const char *host, uint16_t port);
void sentinel_peer_free(struct sentinel_peer **peerp);

/* Ask it about all masters; it is not being asked yet. */
void sentinel_peer_ask(struct sentinel_peer *peer, uint64_t round);
/* Begin to listen, if it is not done yet, or where its name leads by now. */
void sentinel_peer_listen(struct sentinel_peer *peer);
/* The masters are others now: what it said does not count. */
void sentinel_peer_forget_votes(struct sentinel_peer *peer);

/* Its vote on a master; views are borrowed. */
struct vote sentinel_peer_vote(const struct sentinel_peer *peer,
                               uint32_t master);

#endif
