/*
 * upstream/lane_priv.h - what lane.c, lane_connect.c, lane_handshake.c and
 * lane_health.c share.
 */
#ifndef UPSTREAM_LANE_PRIV_H
#define UPSTREAM_LANE_PRIV_H

#include "upstream/lane.h"

/* --- lane.c ----------------------------------------------------------------- */

/* Log it, note it for control, close. */
void lane_fail(struct lane *lane, enum close_reason why, const char *detail);
/* Give calls that wait to the stream, as long as it takes them. */
void lane_push_waiting(struct lane *lane);

/* Any step but to CLOSED. */
void lane_set_state(struct lane *lane, enum lane_state state);

extern const struct stream_ops lane_stream_ops;

/* --- lane_connect.c --------------------------------------------------------- */

/* Begin with the addresses of the server. */
void lane_connect(struct lane *lane);
/* One of them has taken the connection. */
void lane_on_connected(struct lane *lane);
/* One has not, or not in time: the next is tried, or the lane fails. */
void lane_on_refused(struct lane *lane);
void lane_on_connect_timeout(struct lane *lane);

/* --- lane_handshake.c ------------------------------------------------------- */

/* That of its user, or NULL. */
const struct login *lane_login(const struct lane *lane);
/* The handshake is over: calls flow. */
void lane_become_ready(struct lane *lane);
/* A reply to the handshake: any but an error will do. */
void lane_take_handshake(struct lane *lane, const struct reply_piece *piece);

/* --- lane_health.c ---------------------------------------------------------- */

/* In so many ms lane_on_timeout() is due. */
void lane_start_timer(struct lane *lane, int64_t ms);
/* It takes too long to connect, or to answer. */
void lane_on_timeout(struct lane *lane);
/* Bytes have come: whatever was thought of the lane or its server. */
void lane_on_heard(struct lane *lane);

#endif
