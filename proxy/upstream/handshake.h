/*
 * upstream/handshake.h - what a new lane says before any call.
 *
 * AUTH or HELLO, SELECT, and READONLY to a replica that is to be read from: as
 * many replies as requests, each of which must not be an error; then PING where
 * the server has to prove that it answers, whose reply is judged by
 * health_judge_ping().  ROLE and CLIENT SETNAME have their place here.
 */
#ifndef UPSTREAM_HANDSHAKE_H
#define UPSTREAM_HANDSHAKE_H

#include "base/buf.h"
#include "upstream/lane.h"

struct pool_settings;

/* Append the requests; returns how many replies will come (0: none needed). */
unsigned handshake_encode(const struct pool_settings *settings,
                          struct lane_key key, bool with_ping,
                          struct buf *out);

#endif
