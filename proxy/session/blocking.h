/*
 * session/blocking.h - commands that wait for somebody else: BLPOP and its
 * relatives, XREAD and XREADGROUP with BLOCK.
 *
 * Each has a private lane, since all that is behind it on a connection waits
 * too.  It waits until everything before it is answered, and what follows waits
 * for its answer.  Its time is its own time-out and request_timeout, which begin
 * when it is given to the lane; a time-out of 0 never ends.
 *
 * When its client leaves, the lane is closed, so that the server gives nothing to
 * nobody, as far as that can be.  When the proxy stops it is answered with
 * UNBLOCKED.
 */
#ifndef SESSION_BLOCKING_H
#define SESSION_BLOCKING_H

#include "session/incoming.h"
#include "session/session.h"

struct blocking;
struct split;

/* The slow part of blocking_is(). */
bool blocking_has_option(const struct incoming *in);

/* Will this request wait on its connection? */
static inline bool
blocking_is(const struct incoming *in)
{
    return unlikely((in->command->flags & COMMAND_BLOCKING) != 0) &&
        in->session->transaction == NULL && blocking_has_option(in);
}

/* This request will: remember for how long. */
void blocking_prepare(struct request *request, const struct incoming *in);
/* It is about to be given to this lane, or to several (NULL): its own time runs
 * from now on. */
void blocking_begin(struct request *request, struct lane *lane);
/* It is not on it any more: nor is what went in front of it, if unsent. */
void blocking_withdraw(struct session *session);
/* The same for one with keys on several shards, which first asks whether there
 * is something. */
void blocking_prepare_race(struct request *request, const struct incoming *in,
                           struct split *split);
/* If the reply of such a one, which the caller does not charge yet, says that
 * there is nothing, it begins to wait, and the answer comes later. */
bool blocking_take_null(struct request *request) MUST_CHECK;
/* If it waits at several shards: answer it, as at its time-out or with an error. */
bool blocking_unblock(struct session *session, bool with_error) MUST_CHECK;
/* Its server was asked to end the wait, so that it can go on elsewhere. */
void blocking_set_moving(struct session *session);
bool blocking_is_moving(const struct session *session) MUST_CHECK;
/* It is so no longer, but goes on: the time of all requests runs. */
void blocking_suspend(struct request *request);
/* It is done. */
void blocking_end(struct session *session);

/* Does the client wait for such a command? */
static inline bool
blocking_is_on(const struct session *session)
{
    const struct request *head = TAILQ_FIRST(&session->queue);

    return head != NULL && head->blocks && !head->done;
}

/* Answer it, as the proxy stops. */
void blocking_stop(struct session *session);

#endif
