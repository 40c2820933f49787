/*
 * upstream/handshake.h - what a new lane says before any call.
 *
 * AUTH or HELLO, SELECT, and READONLY to a replica in a cluster: as many replies
 * as requests, each of which must not be an error; then ROLE, where the server has
 * to say that it is a primary, or the replica that is to be read from; then PING
 * where it has to prove that it answers, whose reply is judged by
 * health_judge_ping().  CLIENT SETNAME has its place here.
 */
#ifndef UPSTREAM_HANDSHAKE_H
#define UPSTREAM_HANDSHAKE_H

#include "base/buf.h"
#include "config/settings.h"
#include "upstream/lane.h"

/* Append AUTH where there is a password (else NULL); returns how many replies
 * will come. */
unsigned handshake_encode_auth(const char *user, const char *password,
                               struct buf *out);

/* Append the requests; returns how many replies will come (0: none needed). */
unsigned handshake_encode(const struct pool_settings *settings,
                          struct lane_key key, bool with_ping,
                          struct buf *out);

/* Does a server have to say its role, or is it believed whatever it is?  While a
 * script runs it says nothing, and may be told to end that. */
static inline bool
handshake_has_role(const struct pool_settings *settings, struct lane_key key)
{
    return pool_is_named(settings) && !key.is_aside;
}

/* Is this the answer to ROLE of who may be at the end of such a lane? */
bool handshake_has_right_role(struct lane_key key,
                              struct view reply) MUST_CHECK;

/* With `left` replies to come, is the next one that to SELECT of a database which
 * clients have chosen? */
bool handshake_is_database(const struct pool_settings *settings,
                           struct lane_key key, bool with_ping,
                           unsigned left) MUST_CHECK;

#endif
