/*
 * upstream/server_priv.h - what the files of servers share.
 */
#ifndef UPSTREAM_SERVER_PRIV_H
#define UPSTREAM_SERVER_PRIV_H

#include "upstream/server.h"

/* No lanes are made: it is down, or pauses after a failure. */
bool server_rests(const struct server *server) MUST_CHECK;
/* The same for calls of this key: it may be silent as a script runs, which
 * somebody wants to end. */
bool server_refuses(const struct server *server, struct lane_key key) MUST_CHECK;
/* A failure more: pause, longer each time. */
void server_rest(struct server *server);
/* Calls that wait for a shared lane: what becomes of them. */
void server_fail_parked(struct server *server, enum close_reason why);
void server_fail_parked_of(struct server *server, uint16_t user);
void server_serve_parked(struct server *server);
/* Serve those who wait for a place, or tell them that there is none. */
void server_serve_waiters(struct server *server);
/* The same, when so much time has passed, or sooner. */
void server_serve_within(struct server *server, int64_t ms);

/* Where the shared lane of a key and number is, or NULL. */
struct lane **server_shared_place(struct server *server, struct lane_key key,
                                  unsigned number);
/* This one is in its place no more. */
void server_forget_shared(struct server *server, const struct lane *lane);
void server_free_groups(struct server *server);

/* The same, made if need be and if one may be made; else NULL. */
struct lane *server_shared_lane(struct server *server, struct lane_key key,
                                unsigned number);
/* May one lane more become private? */
bool server_has_private_room(const struct server *server) MUST_CHECK;

/* server_take.c: is the lane of this place about to become somebody's own? */
bool server_is_leaving(const struct server *server, struct lane_key key,
                       unsigned number) MUST_CHECK;
/* It is idle: it is its heir's. */
void server_hand_over(struct lane *lane);
/* Its heir does not want it any more. */
void server_untake(struct server *server, struct lane_lease *lease);
/* It was closed. */
void server_disinherit(struct lane *lane);

#endif
