/*
 * session/trail.h - a client that tracks over connections of its own.
 *
 *   its commands  ====lane====> server a   CLIENT TRACKING ON NOLOOP stands in front
 *                 <---news----
 *
 *   with REDIRECT:
 *   its commands  ====lane====> server a   CLIENT TRACKING ON NOLOOP REDIRECT n
 *                 <----ear-----            the connection with that number
 *
 * With NOLOOP, and in a pool with `tracking: direct`, the servers themselves
 * remember what a client has read, and know what it has changed itself.  Whatever
 * it says goes over a private lane of its own to each server, where its words of
 * CLIENT TRACKING were said first: all of them are its trail.  A lane follows
 * HELLO, and CLIENT CACHING is said on it in front of what it is about.
 *
 * News comes between the answers, where the server has put it: behind those that
 * are here already, before the others.  If an answer that is here waits for its
 * turn, it comes behind all that are under way (tracker_tell()), as does news from
 * an ear.
 *
 * Lanes are made when the first command goes over them; with BCAST and REDIRECT at
 * once, to all shards, and again when they are lost.  A lane that is lost, a new
 * generation and another database tell the client that all keys were changed.
 * While it can have no lane its commands take a detour over the shared ones, and
 * it is told behind each that all keys were changed; what follows waits until that
 * is answered.
 *
 * Owner: struct tracker, until tracking ends.  One thread.
 */
#ifndef SESSION_TRAIL_H
#define SESSION_TRAIL_H

#include "session/request.h"
#include "session/session.h"
#include "session/tracker.h"

/* Its options are others than before; `args` are the words that say so. */
void trail_begin(struct tracker *tracker, const struct command_args *args);
void trail_free(struct tracker *tracker);
/* Has each server said yes, as far as it has to be asked? */
bool trail_is_settled(const struct tracker *tracker) MUST_CHECK;
/* Is there no server to be asked? */
bool trail_has_no_map(const struct tracker *tracker) MUST_CHECK;

/* Has this client one? */
static inline bool
trail_is_on(const struct session *session)
{
    const struct tracker *tracker = tracker_of(session);

    return tracker != NULL && tracker->trail != NULL;
}

/* --- its commands ------------------------------------------------------------- */

/* The lane for this call of a request, with all said on it that has to stand in
 * front; NULL: it has none there. */
struct lane *trail_lane(struct request *request, struct server *server,
                         struct lane_key key,
                         const struct call *call) MUST_CHECK;
/* Queue the call on that lane.  False: it has none there. */
bool trail_takes(struct request *request, struct server *server,
                  struct lane_key key, struct call *call) MUST_CHECK;
/* One of its commands has gone to this server another way; NULL: to several. */
void trail_note_detour(struct session *session, const struct server *server);
/* The request that had the lane for itself is done, maybe without an answer. */
void trail_release(struct session *session, const struct server *server);

/* The number of the lane to this server, which no other connection ever has; 0:
 * there is none. */
uint64_t trail_number(const struct session *session,
                       const struct server *server) MUST_CHECK;
/* Close the lane with this number. */
void trail_drop(struct session *session, uint64_t number);
/* Is it there, and in the database of the session? */
bool trail_is_there(const struct session *session,
                     uint64_t number) MUST_CHECK;

/* --- what changes -------------------------------------------------------------- */

/* HELLO, or CLIENT CACHING in front of what has just been acted upon. */
void trail_note_version(struct session *session);
/* It goes to servers as another user. */
void trail_note_user(struct session *session);
void trail_note_caching(struct session *session);
/* The pool has another generation, or the session has taken it up. */
void trail_follow(struct tracker *tracker);
void trail_note_generation(struct session *session);
/* Once a second. */
void trail_tick(struct tracker *tracker, uint64_t now_us);

#endif
