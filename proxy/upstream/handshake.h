/*
 * upstream/handshake.h - what a new lane says before any call.
 *
 *   as the pool:    AUTH HELLO SELECT READONLY ROLE PING
 *   for a login:    AUTH READONLY ROLE SELECT, as the pool; AUTH HELLO SELECT, PING
 *   to ask AUTH:    PING
 *
 * As many replies as requests, each of which must not be an error.  What is not
 * needed is left out: AUTH without a password, HELLO in RESP2, SELECT of database 0,
 * READONLY but to a replica in a cluster, ROLE where nobody has to say that it is a
 * primary, or the replica that is to be read from; PING where the server has to prove
 * that it answers, which is judged by health_judge_ping().
 *
 * The first SELECT for a login is that of a database which the client had before; if
 * that works, the user's own is not needed, and of both one has to.
 *
 * What a client has chosen (its user, its database) may be refused by a server that
 * is well; what the proxy needs of the server is asked as the pool, so that it takes
 * no right of the user.
 */
#ifndef UPSTREAM_HANDSHAKE_H
#define UPSTREAM_HANDSHAKE_H

#include "base/buf.h"
#include "config/settings.h"
#include "upstream/lane.h"

enum handshake_step {
    HANDSHAKE_AUTH,     /* as the pool */
    HANDSHAKE_KEEP,     /* SELECT, as the pool */
    HANDSHAKE_LOGIN,    /* AUTH as the client has said it */
    HANDSHAKE_HELLO,
    HANDSHAKE_SELECT,
    HANDSHAKE_READONLY,
    HANDSHAKE_ROLE,
    HANDSHAKE_PING
};

#define HANDSHAKE_STEPS_MAX 8

/* Append AUTH where there is a password (else NULL); returns how many replies
 * will come. */
unsigned handshake_encode_auth(const char *user, const char *password,
                               struct buf *out);

/* Append the requests; returns how many replies will come (0: none needed).
 * `login`: that of the key's user, or NULL. */
unsigned handshake_encode(const struct pool_settings *settings,
                          const struct login *login, struct lane_key key,
                          bool with_ping, struct buf *out);

/* With `left` replies to come, which is the next one to? */
enum handshake_step handshake_step(const struct pool_settings *settings,
                                   const struct login *login,
                                   struct lane_key key, bool with_ping,
                                   unsigned left) MUST_CHECK;

/* Is this the answer to ROLE of who may be at the end of such a lane? */
bool handshake_has_right_role(struct lane_key key,
                              struct view reply) MUST_CHECK;

#endif
