/*
 * session/strange.h - commands that no row has, and subcommands.
 */
#ifndef SESSION_STRANGE_H
#define SESSION_STRANGE_H

#include "session/request.h"

/* What servers say that it is.  NULL after having answered; with session->barrier
 * nothing was answered: offer the request again when the queue is empty. */
const struct command *strange_command(struct session *session,
                                      const struct command_args *args);

/* The subcommand of a container.  NULL after having answered that there is none,
 * or, with session->barrier, as a server has to be asked for what COMMAND INFO or
 * DOCS names: offer the request again. */
const struct command *strange_subcommand(struct session *session,
                                         const struct command *container,
                                         const struct command_args *args);

#endif
