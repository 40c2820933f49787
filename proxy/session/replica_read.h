/*
 * session/replica_read.h - which command goes to a replica, and what then.
 *
 *   GET k --read_from--> replica --answer--------------------> client
 *                           |
 *                           +--MOVED, LOADING, lost ...--> primary
 *
 * Only in the pool of a cluster, or of masters that Sentinels name, that does not
 * read from primaries.  A command that only reads is sent to whom
 * upstream/readers.h chooses, over a lane that has said READONLY, or that has heard
 * that it leads to a replica.  What a replica refuses is held (session/holding.h) and
 * goes out again at once, to the primary.
 */
#ifndef SESSION_REPLICA_READ_H
#define SESSION_REPLICA_READ_H

#include "session/attempt.h"
#include "session/request.h"
#include "session/retry.h"
#include "session/session.h"

/* May a replica answer this command?  Only what surely has no effect, and
 * whose effect on the server's own bookkeeping nobody asks for. */
bool replica_read_is_for(const struct command *command);

/* The slow part of attempt_place(). */
uint32_t replica_read_choose(const struct session *session,
                             struct attempt *attempt, uint32_t owner);

/* The server that an attempt goes to now: the owner of its slot, or who is read
 * from instead. */
static inline uint32_t
attempt_place(const struct session *session, struct attempt *attempt,
              uint32_t owner)
{
    attempt->at_replica = false;
    if (likely(session->generation->readers == NULL) || !attempt->is_read)
        return owner;
    return replica_read_choose(session, attempt, owner);
}

/* The lane that it goes over. */
static inline struct lane_key
attempt_lane_key(const struct session *session, const struct attempt *attempt)
{
    return (struct lane_key){.db = session->db,
                             .user = session->user,
                             .resp = session->resp,
                             .is_readonly = attempt->at_replica,
                             .is_scripting = session->is_scripting};
}

/* A replica has answered with this error: shall the primary answer instead? */
bool replica_read_take_error(struct request *request, struct attempt *attempt,
                             uint32_t asked, enum outcome outcome) MUST_CHECK;
/* A replica has not answered, and the command may run again. */
void replica_read_take_loss(struct request *request, struct attempt *attempt,
                            uint32_t asked);

#endif
