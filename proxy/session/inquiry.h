/*
 * session/inquiry.h - a question of the proxy's own, before it goes on with a client.
 *
 *   begin --> the first server of the pool that takes it --> an answer --> end
 *     |                     ^                                 |  |
 *     | nobody does         +------ asked as somebody else ---+  +--> no answer
 *     v
 *   false
 *
 * What its next command is, or whether that is for this client, only servers know
 * (learning.h, rights.h); any of them will do.  Nothing of the session is in flight
 * then but the question, which counts as that, so that nothing more is taken: a
 * session has one at a time, client_info->inquiry.  When it ends the session is
 * looked at again.
 *
 * It may take request_timeout, however often it is asked.  Who has waited so long, or
 * has gone, leaves a question behind that is without a session: if it was not sent it
 * ends, else its answer is told all the same when it comes.
 *
 * Owner: itself, from its beginning on; its maker embeds it.  One thread.
 */
#ifndef SESSION_INQUIRY_H
#define SESSION_INQUIRY_H

#include "session/session.h"

struct inquiry;

struct inquiry_ops {
    /* An answer; one of more than LANE_GATHER bytes is empty.  True: it is asked
     * anew (inquiry_ask()), and may be over already. */
    bool (*on_answer)(struct inquiry *inquiry, struct view reply);
    /* There is none, or none in time; its session waits.  `refusal`: what the server
     * has said of its user, if it does not take that; else NULL. */
    void (*on_failure)(struct inquiry *inquiry, const char *refusal);
    /* It has ended. */
    void (*free)(struct inquiry *inquiry);
};

struct inquiry {
    struct call call;
    const struct inquiry_ops *ops;
    struct session *session; /* NULL: it has gone, or waits no longer */
    struct session_pool *pool;
    struct generation *generation; /* a ref */
    struct server *server;         /* who is asked */
    struct timer timer;
    bool is_long; /* pieces of its answer have been dropped */
};

/* Ask for this session, as its user or as LOGIN_POOL; `body` is taken over.  False:
 * nobody can be asked, and it has ended without a word; the session does not wait. */
bool inquiry_begin(struct inquiry *inquiry, const struct inquiry_ops *ops,
                   struct session *session, uint16_t user,
                   struct extent body) MUST_CHECK;
/* In on_answer, while its session waits: ask as this user.  False: nobody can be. */
bool inquiry_ask(struct inquiry *inquiry, uint16_t user) MUST_CHECK;

/* The session goes. */
void inquiry_abandon(struct session *session);

#endif
