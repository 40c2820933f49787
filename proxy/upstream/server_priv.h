/*
 * upstream/server_priv.h - what server.c and server_health.c share.
 */
#ifndef UPSTREAM_SERVER_PRIV_H
#define UPSTREAM_SERVER_PRIV_H

#include "upstream/server.h"

/* No lanes are made: it is down, or pauses after a failure. */
bool server_rests(const struct server *server) MUST_CHECK;
/* A failure more: pause, longer each time. */
void server_rest(struct server *server);
void server_fail_parked(struct server *server, enum close_reason why);
/* Serve those who wait for a place, or tell them that there is none. */
void server_serve_waiters(struct server *server);

#endif
