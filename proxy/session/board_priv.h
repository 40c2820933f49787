/*
 * session/board_priv.h - what board.c and board_place.c share.
 */
#ifndef SESSION_BOARD_PRIV_H
#define SESSION_BOARD_PRIV_H

#include "session/board.h"

bool channel_is_key_event(struct view channel) MUST_CHECK;

/* The post at the node that is believed what several nodes of a cluster tell: the
 * same as long as it can be heard, then the oldest; NULL while there is none. */
struct post *topic_teller(struct topic *topic);

/* Take it back from wherever it is, but `home`. */
void topic_leave_others(struct topic *topic, const struct server *home);

#endif
