/*
 * command/missing.h - what a server answers when the key is not there.
 *
 * For pools that would rather see a missing value than an error while a server
 * is down (on_server_down: nil).  Pure.
 */
#ifndef COMMAND_MISSING_H
#define COMMAND_MISSING_H

#include "base/buf.h"
#include "command/command.h"

/*
 * Append that answer.  `request` is the request as RESP, from its first byte.
 * False: the command writes, or its answer is not known; nothing is appended.
 */
bool missing_reply(const struct command *command, struct view request,
                   int resp, struct buf *out) MUST_CHECK;

#endif
