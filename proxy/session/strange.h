/*
 * session/strange.h - a request for a command that no row has.
 */
#ifndef SESSION_STRANGE_H
#define SESSION_STRANGE_H

#include "session/request.h"

/* What servers say that it is.  NULL after having answered; with session->barrier
 * nothing was answered: offer the request again when the queue is empty. */
const struct command *strange_command(struct session *session,
                                      const struct command_args *args);

#endif
