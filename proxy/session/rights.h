/*
 * session/rights.h - what the proxy does by itself, for users of the servers.
 *
 *   CLIENT LIST --> ACL DRYRUN alice CLIENT LIST --> +OK      answered by the proxy
 *                                                --> a text   -NOPERM
 *
 * Where a pool has `auth: servers` its servers judge what a client may do, since all
 * that it asks of them goes over connections of its user.  What the proxy answers
 * alone tells nothing of others (PING, TIME, INFO ...) or is none of the servers'
 * business, but for some commands that look at other clients or change what they get:
 * before one of those the proxy asks a server, over a connection of its own, whether
 * the user may.  Meanwhile the command stays in the input of its session, which is
 * offered it again when the answer is there.
 *
 * It asks about MULTI and SELECT as well, which servers hear of later only; where
 * nobody can be asked these are taken, and refused with the first command that needs
 * them.
 *
 * What would go on when the servers have taken the right away is refused to all who
 * have logged in: MONITOR, and CLIENT TRACKING.
 */
#ifndef SESSION_RIGHTS_H
#define SESSION_RIGHTS_H

#include "session/incoming.h"

struct rights;

/* Is anything asked for this client? */
static inline bool
rights_count(const struct session *session)
{
    return unlikely(session->user != LOGIN_POOL ||
                    session->pool->settings->auth_by_servers);
}

/* Has a server still to be asked?  Nothing is in front of the command then, or it
 * has to be offered again. */
bool rights_must_wait(const struct incoming *in) MUST_CHECK;
/* It may not.  True after having answered. */
bool rights_refuse(const struct incoming *in) MUST_CHECK;

/* It is somebody else. */
void rights_forget(struct session *session);
/* The session goes. */
void rights_free(struct session *session);

#endif
