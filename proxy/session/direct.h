/*
 * session/direct.h - transactions whose commands the server judges one by one.
 *
 *   MULTI     +OK
 *   PING      +QUEUED     no key says yet where to: kept
 *   SET k v   ---> [MULTI | PING | SET k v]    a lane of the session's own
 *             <--- +QUEUED, or an error        the answer to the last of these
 *   GET k     ---> [GET k]
 *   EXEC      ---> [EXEC], with all before it answered
 *
 * With `transactions: direct`.  Nothing runs before EXEC: so when the lane is
 * lost, or the keys are elsewhere, it all begins anew over another lane, from
 * what transaction->bytes still has; of more than retry_buffer that is nothing,
 * and then the command in hand is refused.  The first of those that have lost the
 * lane begins; the others go behind it, and until it has a lane they wait.  EXEC
 * itself is sent in one piece with what is in front of it if the lane is gone by
 * then, as all transactions are.
 *
 * DISCARD is answered here; the lane is given back when the server has answered a
 * DISCARD as well.  One that may still be in the middle of a transaction is closed.
 *
 * Where keys are watched theirs is the lane, and nothing begins anew: EXEC
 * answers null.  Owner: the session.
 */
#ifndef SESSION_DIRECT_H
#define SESSION_DIRECT_H

#include "session/incoming.h"
#include "session/session.h"

struct direct;

/* Has the server of the transaction been told MULTI, over a lane that is there? */
bool direct_is_open(const struct session *session) MUST_CHECK;

/* A command of a transaction that is bound; its bytes stand in the transaction
 * from there on, if they are kept. */
void direct_queue(const struct incoming *in, size_t from);
/* EXEC of one that is open; that ends the transaction. */
void direct_exec(const struct incoming *in);
/* The transaction will not be executed: give its lane back. */
void direct_leave(struct session *session);
/* Its place has been looked up again. */
void direct_settle(struct session *session);
/* Close the lane and forget all. */
void direct_free(struct session *session);

/* Is it a command that is only to be queued?  (Without MULTI it has run.) */
static inline bool
direct_is_queueing(const struct request *request)
{
    return unlikely(request->own_lane == OWN_LANE_DIRECT) &&
        request->command->id != COMMAND_ID_EXEC && !request->multi_failed;
}

/* A request with OWN_LANE_DIRECT goes over the lane. */
void direct_submit(struct request *request);
/* One is held: the lane is of no use any more. */
void direct_suspend(struct session *session);
/* One is done, however that came. */
void direct_on_done(struct request *request);
/* Is what is in front of it still known? */
bool direct_may_go_again(const struct request *request) MUST_CHECK;

/* It was answered with an error, or a command in front of it.  True: then it has
 * been answered.  EXEC may have become another request. */
bool direct_take_error(struct request *request,
                       const struct reply_piece *piece) MUST_CHECK;
/* No master may be given it for now.  True: it has been answered. */
bool direct_take_held(struct request *request) MUST_CHECK;
/* Its lane was lost.  True: it has been answered, or is held.  What was only to be
 * queued has not run, `*sent` or not. */
bool direct_take_loss(struct request *request, enum close_reason why,
                      bool *sent) MUST_CHECK;

#endif
