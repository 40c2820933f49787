/*
 * session/wait.h - WAIT and WAITAOF: how many replicas have what was written?
 *
 *   SET a, SET b ---> shared lanes       a server counts by connection, so it
 *   WAIT         ---> they become        has to be asked over the one that wrote
 *                     the session's own  [PING | WAIT], each; the least counts
 *                                        (with CLIENT ID once, for UNBLOCK)
 *   SET a, SET b ---> its own lanes      from now on, as it will WAIT again
 *
 * The servers asked are those that the session has written to since it last
 * waited, or all.  Others leave a lane before it becomes the session's
 * (upstream/server.h); where there is none, or no room, another is leased.  What
 * was written over yet another lane (a large request, another database, WATCH, a
 * blocking command) counts as well: PING makes most servers count from what they
 * have by then, and for the others it is checked (session/wait_look.h).
 *
 * When a connection was lost since something was written over it, nobody knows
 * what became of that: the count is 0.
 *
 * WAIT is a blocking command (session/blocking.h): nothing is before it, nothing
 * behind it.  Owner: the session.
 */
#ifndef SESSION_WAIT_H
#define SESSION_WAIT_H

#include "session/incoming.h"
#include "session/session.h"

struct wait;

/* Outside of MULTI: is it one of these? */
static inline bool
wait_is(const struct incoming *in)
{
    return unlikely(in->command->class == CLASS_PIN) &&
        (in->command->id == COMMAND_ID_WAIT ||
         in->command->id == COMMAND_ID_WAITAOF) &&
        in->session->transaction == NULL;
}

void wait_begin(const struct incoming *in);
/* It is answered, or given up. */
void wait_end(struct session *session);

/* Something was written to the servers with these marks over lanes that WAIT would
 * not go over. */
void wait_note_elsewhere(struct session *session, uint64_t marks);

/* Its lanes are others from now on: its database or RESP version is. */
static inline void
wait_note_move(struct session *session)
{
    if (session->written != 0 || session->in_flight > 0)
        wait_note_elsewhere(session, UINT64_MAX);
}

/* A server has answered a command of the session that may have written. */
static inline void
wait_note_write(struct session *session, const struct command *command,
                const struct server *server)
{
    if ((command->flags & COMMAND_READONLY) == 0)
        session->written |= server->mark;
}

/* The servers where WAIT is still to be answered, with the number that they have
 * for the connection; none while one of these numbers is not known. */
typedef void (*wait_place_fn)(void *arg, struct server *server,
                              uint64_t client_id);
void wait_each_place(struct session *session, wait_place_fn visit, void *arg);

/* The slow part of wait_submit(). */
bool wait_submit_slow(struct request *request, struct server *server,
                      struct lane_key key, struct call *call) MUST_CHECK;

/* As server_submit(), over the session's own lane if it has one there, whether
 * from here or as it tracks by itself (session/trail.h). */
static inline bool
wait_submit(struct request *request, struct server *server,
            struct lane_key key, struct call *call)
{
    const struct session *session = request->session;

    if (unlikely(session->wait != NULL))
        return wait_submit_slow(request, server, key, call);
    return server_submit(server, key, session->lane_number, call);
}

/* For one request alone: the session's own lane, or NULL; and give it back. */
struct lane *wait_lane(const struct session *session,
                       const struct server *server,
                       struct lane_key key) MUST_CHECK;
void wait_release_lane(const struct session *session,
                       const struct server *server, struct lane_key key);

/* The session has own lanes: wait_submit() takes the slow way. */
void wait_note_own(struct session *session);
/* It has lost its lane to this server. */
void wait_note_loss(struct session *session, const struct server *server);

/* Servers have lost shared lanes: tell who has written over them. */
void wait_note_losses(struct session_pool *pool);

/* Its lanes are those of another user: give them back. */
void wait_leave_lanes(struct session *session);
/* Give all up; the session ends. */
void wait_free(struct session *session);

#endif
