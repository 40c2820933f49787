/*
 * session/local.h - commands that the proxy answers itself.
 *
 * The request has a known name and a right number of arguments, and the client
 * is authenticated where the command needs it.  Nothing is in front of it when
 * local_is_barrier() says so.
 */
#ifndef SESSION_LOCAL_H
#define SESSION_LOCAL_H

#include "session/incoming.h"

/* Must everything before this command be answered first? SELECT, AUTH, HELLO,
 * RESET, CLIENT REPLY, CLIENT TRACKING, CONFIG RESETSTAT, MONITOR. */
bool local_is_barrier(const struct command *command) MUST_CHECK;

/* Has the proxy an answer of its own to this command, perhaps? */
bool local_is_for(const struct command *command) MUST_CHECK;

/* CLUSTER COUNTKEYSINSLOT and GETKEYSINSLOT: whose answer is that of the node
 * with the slot, unless local_act() finds something wrong. */
bool local_names_slot(const struct command *command) MUST_CHECK;
/* The slot, when it has found nothing. */
uint32_t local_slot(const struct command_args *args) MUST_CHECK;

/* Answer it, have it answered by all workers, or ask servers who its client is.
 * False when the proxy has no answer of its own. */
bool local_act(const struct incoming *in);

/* Names that a client gave; NULL is fine. */
void client_info_free(struct client_info **infop);

#endif
