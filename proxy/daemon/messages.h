/*
 * daemon/messages.h - what was said about a configuration file, in the log.
 */
#ifndef DAEMON_MESSAGES_H
#define DAEMON_MESSAGES_H

#include "base/buf.h"

/* A line of the log for each message, with the level that it has. */
void messages_log(const struct buf *messages);

#endif
