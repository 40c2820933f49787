/*
 * session/trail_priv.h - what the files of trails share.
 */
#ifndef SESSION_TRAIL_PRIV_H
#define SESSION_TRAIL_PRIV_H

#include "session/listening.h"
#include "session/trail.h"

/*
 *   AWAY --leased--> ASKED --confirmed--> ON
 *    ^                 |--refused--> REFUSED
 *    +------lost-------+--------------'
 */
enum trail_state {
    TRAIL_AWAY,   /* there is no lane, for now */
    TRAIL_ASKED,  /* CLIENT TRACKING was said on it */
    TRAIL_ON,     /* ... and confirmed */
    TRAIL_REFUSED /* ... and refused: what is read over it is told as changed */
};

struct trail_lane {
    LIST_ENTRY(trail_lane) link;
    struct trail *trail;
    struct server *server;
    struct listening lane; /* private, with the commands of the client */
    struct listening ear;  /* REDIRECT: what the server tells */
    enum trail_state state;
    uint64_t number;        /* of the lane; 0: there is none */
    uint64_t ear_id;        /* by which the server knows the ear; 0: not yet */
    uint64_t detour; /* the last request when one went there another way */
    const struct lane *last; /* the lane, until it is closed */
    bool has_failed;        /* nobody waits for it any more */
    bool has_missed;        /* with BCAST: it was lost since it was ON */
    bool is_deaf;           /* its ear was lost, and it has to be given up */
};

struct trail {
    struct tracker *tracker;
    LIST_HEAD(, trail_lane) lanes;
    struct timer timer;   /* losses are still to be dealt with, or made good */
    unsigned failures;    /* in a row */
    bool is_eager;        /* lanes to all shards, at once */
    bool was_lost;
    char *refusal;        /* what a server has said instead of yes, or NULL */
};

static inline struct session *
trail_session(const struct trail *trail)
{
    return trail->tracker->subscriber->session;
}

static inline bool
trail_redirects(const struct trail *trail)
{
    return trail->tracker->options.redirect != 0;
}

/* --- trail_lane.c --------------------------------------------------------------- */

struct trail_lane *trail_lane_new(struct trail *trail,
                                    struct server *server);
void trail_lane_free(struct trail_lane *own);
/* Have a lane, or wait for one. */
void trail_connect(struct trail_lane *own);
/* Look at what was lost or refused, not from inside a lane. */
void trail_look_later(struct trail *trail, int64_t ms);
/* The lane is ours no more. */
void trail_close_lane(struct trail_lane *own);
/* The same, and there is another where they are made at once. */
void trail_renew_lane(struct trail_lane *own);
/* The server has nobody to tell any more: as good as lost.  It may end the
 * session. */
void trail_lose_lane(struct trail_lane *own);
/* The client is told that all keys were changed. */
void trail_forget_all(struct trail *trail);
/* Is it silent for too long? */
void trail_look(struct trail_lane *own, uint64_t now_us);

/* --- trail_say.c --------------------------------------------------------------- */

/* With `args` as these words have it; without, all of it. */
void trail_say_tracking(struct trail_lane *own,
                         const struct command_args *args);
void trail_say_version(struct trail_lane *own);
void trail_say_caching(struct trail_lane *own);
void trail_say_ping(struct trail_lane *own);

/* --- trail_hear.c -------------------------------------------------------------- */

void trail_on_lane_frame(struct lane_lease *lease,
                          const struct reply_piece *piece);
void trail_on_ear_frame(struct lane_lease *lease,
                         const struct reply_piece *piece);
/* The answer to CLIENT TRACKING. */
void trail_on_yes(struct trail_lane *own);
void trail_on_no(struct trail_lane *own, struct view text);

#endif
