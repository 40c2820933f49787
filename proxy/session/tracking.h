/*
 * session/tracking.h - CLIENT TRACKING: what the clients of one worker keep in
 * caches of their own, in one pool.
 *
 *   client A --GET k-----> marks "k" -> A        server a ==ear==> k was changed
 *   client B --BCAST us:-> prefixes "us:" -> B   server b ==ear==>     |
 *                                                                      v
 *                                      A is told of k, B if k begins with us:
 *
 * The promise is that no client is left believing in a value that was changed.
 * It may be told more often than it need be, never less.  Each server tells one
 * connection of the worker, its ear, of every key that is changed there; which
 * clients that concerns is decided here.
 *
 * A value comes over one connection and the news of its change over another, so
 * either may be here first.  Let a server execute the read r of a key k before
 * the write w of it.  Then the news of w is told behind the answer to r:
 *
 *   1. k is marked when r is taken in, before it is sent, and the ear of its
 *      server is ON then; if not, "k was changed" is told behind the answer to r
 *      itself, as if w had come already (tracker_note()).
 *   2. News that finds a client with requests under way is told behind the
 *      answers to all of them, one of which may be r (tracker_tell()).  The mark
 *      is gone then; what is read later makes another.
 *   3. When an ear is lost, which may have known of w, everybody is told that all
 *      keys were changed, as by rule 2; and rule 1 is for what is read from
 *      then on.
 *   4. A read that is sent to another server than at first, since a slot has
 *      moved or a primary was replaced, is looked at like a new one
 *      (tracker_note_server()).
 *   5. When the pool has other servers, or keys go elsewhere, all are told as
 *      by rule 3: w may have come to a server before it was listened to.
 *   6. Replicas are not read from for a client that tracks: they may answer
 *      with the value from before w when the news of w is long forgotten.
 *
 * What is told behind answers is told at once as well when these take longer
 * than a moment, so that a client which waits in BLPOP hears of other keys.
 *
 * All that is for clients who share connections; a client with connections of its own
 * (session/trail.h) stands in the list of trackers, without marks.
 *
 * A table that is full forgets the oldest key, of which its clients are told
 * that it was changed (tracking_table_max_keys).
 *
 * Owner: struct session_pool, made with its first client that tracks.  One
 * thread.
 */
#ifndef SESSION_TRACKING_H
#define SESSION_TRACKING_H

#include "base/chain.h"
#include "session/ear.h"
#include "session/env.h"
#include "session/marks.h"
#include "session/prefixes.h"

struct tracker;

TAILQ_HEAD(tracker_list, tracker);

struct tracking {
    struct session_pool *pool;
    LIST_HEAD(, ear) ears;        /* one for each shard */
    unsigned deaf;                /* of these, not ON */
    struct tracker_list trackers; /* those that are on, and who wait to be */
    unsigned clients;             /* of these, that are on */
    unsigned idle_ticks;          /* in a row without any */
    struct marks marks;
    struct dict prefixes;
    struct dict targets;   /* clients that are told what others have read */
    struct timer cleaning; /* marks that were left */
    struct timer timer;    /* what is told behind answers takes long */
};

struct tracking *tracking_get(struct session_pool *pool);
void tracking_free(struct session_pool *pool);

/* Somebody tracks, so that all servers have to be listened to. */
void tracking_listen(struct tracking *tracking);
/* Has each ear been asked, with success or without? */
bool tracking_is_settled(const struct tracking *tracking) MUST_CHECK;
/* Does this server tell us what is changed? */
bool tracking_hears(const struct tracking *tracking,
                    const struct server *server) MUST_CHECK;

/* A client has read this key: it is marked. */
void tracking_mark(struct tracking *tracking, struct tracker *tracker,
                   struct view key);

/* It leaves its marks. */
void tracking_leave_marks(struct tracking *tracking, struct marker **markerp);
/* Marks or prefixes are others than before. */
void tracking_count(const struct tracking *tracking);

/* All keys were changed, for all that is known; of those who go by the ears. */
void tracking_tell_all(struct tracking *tracking);
/* This server says so. */
void tracking_tell_flush(struct tracking *tracking,
                         const struct server *server);
/* These were: a list of them, as it stands in a reply. */
void tracking_tell_keys(struct tracking *tracking, struct extent keys);

/* Whoever has too much is closed when all have been told. */
void tracking_close_those_over(struct tracking *tracking);

/* An ear has another state. */
void tracking_on_ear(struct tracking *tracking);
/* Those who wait may have waited long enough ... */
void tracking_settle(struct tracking *tracking);
/* ... or a server does not let them. */
void tracking_refuse(struct tracking *tracking, struct view text);

/* Look again, in a moment, at what is told behind answers. */
void tracking_start_timer(struct tracking *tracking);

/* The pool goes by another generation. */
void tracking_follow(struct session_pool *pool);
/* Once a second. */
void tracking_tick(struct session_pool *pool, uint64_t now_us);

/* Bytes in memory that stays; the ref is the caller's. */
struct extent tracking_copy(const struct tracking *tracking, struct view bytes);

#endif
