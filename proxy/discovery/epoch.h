/*
 * discovery/epoch.h - whom to believe, when Sentinels say where a master is.
 *
 *   one vote a Sentinel asked:  silent | no such name | address, config epoch
 *        |
 *        v   the same Sentinel counts once, under its run id
 *   groups of the same epoch and address; who has enough supporters?
 *        |
 *        v   not below the highest epoch that was ever believed
 *   the vouched address, or the reason why there is none
 *
 * Enough is a majority of all Sentinels known, or as many as the operator says;
 * and always a majority of those that answered with an address, so that two
 * groups are never believed at a time.
 *
 * Pure.
 */
#ifndef DISCOVERY_EPOCH_H
#define DISCOVERY_EPOCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "base/view.h"

/* Sentinels that are asked about one name. */
#define EPOCH_VOTES_MAX 64

enum vote_kind {
    VOTE_SILENT,  /* not reached, or it said nothing that can be used */
    VOTE_NO_NAME, /* it does not know the master */
    VOTE_ADDRESS
};

/* What one Sentinel has said of one master; views are borrowed. */
struct vote {
    enum vote_kind kind;
    uint16_t port;
    bool is_failing_over; /* it says so of the master */
    struct view voter;    /* its run id; empty: nobody else's */
    struct view host;     /* as it says: an address or a name */
    struct view ip;       /* that of a name, if it is known */
    uint64_t epoch;
};

enum epoch_verdict {
    EPOCH_BELIEVED,
    EPOCH_NOBODY_REACHED,
    EPOCH_NOBODY_KNOWS,  /* the name */
    EPOCH_TOO_FEW,       /* have said where it is */
    EPOCH_DISAGREED,
    EPOCH_OLD            /* enough agree, on an epoch below the highest seen */
};

struct epoch_rules {
    unsigned quorum;   /* supporters that are enough; 0: a majority of all */
    uint64_t floor;    /* the highest epoch that was believed */
};

struct epoch_result {
    enum epoch_verdict verdict;
    const struct vote *vouched; /* if believed: one of the votes */
    unsigned known;             /* Sentinels, each counted once */
    unsigned reached;
    unsigned knowing;           /* those that said an address */
    unsigned needed;
    unsigned supporters;        /* of the group that has the most */
    unsigned failing_over;      /* those that say so */
    uint64_t highest;           /* epoch that anybody said */
};

/* At most EPOCH_VOTES_MAX votes count. */
void epoch_decide(const struct vote *votes, size_t count,
                  const struct epoch_rules *rules,
                  struct epoch_result *result);

/* Do two votes mean the same address?  A name and an address only if it is
 * known where the name is. */
bool vote_agrees(const struct vote *a, const struct vote *b) MUST_CHECK;

/* "answers disagree", for logs. */
const char *epoch_verdict_text(enum epoch_verdict verdict);

#endif
