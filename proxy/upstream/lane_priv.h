/*
 * upstream/lane_priv.h - what lane.c and lane_health.c share.
 */
#ifndef UPSTREAM_LANE_PRIV_H
#define UPSTREAM_LANE_PRIV_H

#include "upstream/lane.h"

/* --- lane.c ----------------------------------------------------------------- */

/* Log it, note it for control, close. */
void lane_fail(struct lane *lane, enum close_reason why, const char *detail);
/* Give calls that wait to the stream, as long as it takes them. */
void lane_push_waiting(struct lane *lane);

/* --- lane_health.c ---------------------------------------------------------- */

/* In so many ms lane_on_timeout() is due. */
void lane_start_timer(struct lane *lane, int64_t ms);
/* It takes too long to connect, or to answer. */
void lane_on_timeout(struct lane *lane);
/* Bytes have come: whatever was thought of the lane or its server. */
void lane_on_heard(struct lane *lane);

#endif
