/*
 * session/ear.h - the connection over which one server tells a worker of each
 * key that is changed.
 *
 *   DEAF --connected--> ASKED --confirmed--> ON
 *    ^                    |                   |
 *    +------refused-------+-------lost--------+
 *
 * A listening lane (upstream/lane.h) that speaks RESP3 and has said CLIENT
 * TRACKING ON BCAST.  Only what is read at a server whose ear is ON may stay in
 * a cache (session/tracking.h).
 *
 * Owner: struct tracking.  One thread.
 */
#ifndef SESSION_EAR_H
#define SESSION_EAR_H

#include "session/listening.h"

struct tracking;

enum ear_state {
    EAR_DEAF,  /* it is not connected */
    EAR_ASKED, /* the server has not said yes yet */
    EAR_ON     /* whatever changes there is heard of */
};

struct ear {
    LIST_ENTRY(ear) link; /* of the tracking's */
    struct tracking *tracking;
    struct listening listening; /* to a shard of the pool's current generation */
    struct timer timer; /* the next attempt to connect */
    enum ear_state state;
    unsigned failures; /* in a row */
    bool has_failed;   /* nobody waits for it any more */
    bool was_lost;     /* while it was ON; still to be dealt with */
    bool was_refused;  /* ... or before */
    char *refusal;    /* what the server has said instead of yes, or NULL */
};

struct ear *ear_new(struct tracking *tracking, struct server *server);
void ear_free(struct ear **earp, enum close_reason why);

/* What has come over its lane. */
void ear_on_frame(struct lane_lease *lease, const struct reply_piece *piece);

#endif
