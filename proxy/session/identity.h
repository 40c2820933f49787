/*
 * session/identity.h - as whom a client is known to the servers.
 *
 *   AUTH alice pw --> first shard --> +OK        from now on over lanes that are
 *                                                logged in as alice
 *                                 --> -WRONGPASS the client's answer; it stays who
 *                                                it was
 *
 * Where a pool has `auth: servers` the password of AUTH, and of HELLO with AUTH, is
 * shown to a server, over a lane that carries nothing else.  What comes of it is a
 * login (upstream/login.h), whose number the session keeps; everything that it asks
 * of servers goes over lanes that have said AUTH for it, so that the servers judge
 * what it may do.  The two commands are barriers on both sides.
 */
#ifndef SESSION_IDENTITY_H
#define SESSION_IDENTITY_H

#include "session/incoming.h"

/* Ask a server about AUTH, or about HELLO whose AUTH option has these words. */
void identity_ask(const struct incoming *in, struct view user,
                  struct view password);
/* A request, maybe one that asks, has an answer that is none of a server's. */
void identity_answered(struct request *request);

/* It is somebody else's turn: whoever this is. */
void identity_set(struct session *session, uint16_t number);
/* It goes: nobody is asked about it any more. */
void identity_leave(struct session *session);

/* It has chosen a database itself, which it may or may not be allowed to. */
void identity_note_select(struct session *session);

/* By which login it is known; while a server is asked, by that of who it was. */
uint16_t identity_number(const struct session *session) MUST_CHECK;
/* The name of the user. */
struct view identity_name(const struct session *session);

#endif
