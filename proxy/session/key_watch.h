/*
 * session/key_watch.h - WATCH, on a connection of its own.
 *
 *   WATCH k ---> lane of its own: the server notes k for this connection
 *   GET k   ---> a shared lane, once WATCH is answered
 *   EXEC    ---> the lane of its own, once all is answered: [MULTI ... EXEC]
 *
 * From WATCH to EXEC, DISCARD, UNWATCH or RESET a session has a lane for that
 * alone.  Each of these waits for what is in front of it, and what follows
 * waits for its answer; so what is read between comes behind WATCH and before
 * EXEC.  It is read from primaries.
 *
 * When that lane is lost, or the keys belong elsewhere meanwhile, nobody can say
 * whether they have changed: EXEC answers null, as if they had.
 *
 * The keys bind a transaction to their shard, in a cluster to their slot.  A
 * lane is given back when it has surely nothing watched, else it is closed.
 * Owner: the session.
 */
#ifndef SESSION_KEY_WATCH_H
#define SESSION_KEY_WATCH_H

#include "session/incoming.h"
#include "session/session.h"

struct key_watch;

/* WATCH outside of MULTI. */
void key_watch_begin(const struct incoming *in);
/* UNWATCH outside of MULTI, or DISCARD: forget the keys.  `in_multi`: the server
 * is in the middle of the transaction. */
void key_watch_end(const struct incoming *in, bool in_multi);
/* EXEC, with what is to be written for it, a ref, the number of replies in front
 * of its own (none: the server has been told the rest), and the scripts that it
 * names, which are taken over. */
void key_watch_exec(const struct incoming *in, struct extent body,
                    uint32_t leading, struct script_wants *wants);
/* What was watched may have changed, so that EXEC must say so. */
bool key_watch_is_broken(const struct session *session) MUST_CHECK;
/* Nothing that depends on the keys may be executed any more. */
void key_watch_break(struct session *session);
/* The lane and its server, by the session's generation, unless it is broken: of
 * a transaction that is direct. */
struct lane *key_watch_lane(const struct session *session) MUST_CHECK;
uint32_t key_watch_shard(const struct session *session) MUST_CHECK;
/* Are the keys there behind ASKING only? */
bool key_watch_is_asked(const struct session *session) MUST_CHECK;
/* Where the keys are; false: none is watched. */
bool key_watch_place(const struct session *session,
                 struct place *place) MUST_CHECK;

/* Must this command wait until all before it is answered? */
bool key_watch_is_barrier(const struct session *session,
                      const struct command *command) MUST_CHECK;

/* A request with OWN_LANE_WATCH goes over the lane. */
void key_watch_submit(struct request *request);
/* It is done, however that came. */
void key_watch_on_done(struct request *request);
/* EXEC has been refused with this error: it is answered with null, if the error
 * says that the keys are not there any more. */
bool key_watch_take_refusal(struct request *request,
                        const struct reply_piece *piece) MUST_CHECK;
/* A request that ends the watch lost its lane: answer it. */
void key_watch_take_loss(struct request *request, bool sent);
/* One that no master may be given for now: answer it as if the lane were lost. */
void key_watch_take_held(struct request *request);

/* The session goes by another generation. */
void key_watch_note_generation(struct session *session);
/* Close the lane and forget all. */
void key_watch_free(struct session *session);

#endif
