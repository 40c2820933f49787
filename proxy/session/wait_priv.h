/*
 * session/wait_priv.h - what wait.c and wait_lane.c share.
 */
#ifndef SESSION_WAIT_PRIV_H
#define SESSION_WAIT_PRIV_H

#include "session/wait.h"
#include "session/wait_look.h"

struct wait_lane {
    LIST_ENTRY(wait_lane) link;
    struct lane_lease lease;
    struct server *server; /* whose it is or shall be; NULL: it is lost */
    uint32_t shard;        /* in the generation by which it was asked last */
    struct wait *wait;
    struct call call;      /* WAIT, on its way */
    bool is_asked;         /* its answer is still to come */
    bool is_too_long;      /* ... and is none that WAIT has */
    struct buf reply;      /* ... or is here; empty: there is none */
    struct wait_look look; /* what it says is checked, if it is on */
};

struct wait {
    struct session *session;
    LIST_HEAD(, wait_lane) lanes;
    struct request *request; /* WAIT, while it is unanswered */
    uint32_t left;           /* lanes that are asked */
    uint32_t laneless;       /* of these, that are waited for */
    bool is_zero;            /* something is lost */
    bool may_look;           /* it is a WAIT with ... */
    int64_t wanted;          /* ... this number of replicas ... */
    int64_t timeout_ms;      /* ... and this time */
};

/* --- wait.c ----------------------------------------------------------------- */

/* What was written to the servers with these marks may be lost. */
void wait_lose(struct session *session, uint64_t marks);
/* One answer more is there, or will not come. */
void wait_take_answer(struct wait_lane *own);

/* --- wait_lane.c ------------------------------------------------------------ */

/* A new one, without a lane. */
struct wait_lane *wait_lane_new(struct wait *wait, struct server *server,
                                struct lane_key key);
/* The one with a lane to the server, or NULL. */
struct wait_lane *wait_lane_find(const struct wait *wait,
                                 const struct server *server,
                                 struct lane_key key) MUST_CHECK;
/* Get it a lane, at once or later. */
void wait_lane_lease(struct wait_lane *own);
/* Ask it, when it has a lane. */
void wait_lane_ask(struct wait_lane *own);
/* Nobody waits for its answer any more. */
void wait_lane_stop(struct wait_lane *own);
void wait_lane_free(struct wait_lane *own);

#endif
