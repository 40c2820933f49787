/*
 * session/long_script.h - a script that runs for long holds up nobody else.
 *
 *   lane for scripts   EVAL, GET, EVAL      wait until the script has ended
 *   lane               SET, GET             -> -BUSY, as from a server that one
 *   new lane for scripts          EVAL         is connected to oneself
 *
 * A server reads no more from the connection whose script it runs; others it
 * tells that it is BUSY once busy-reply-threshold has passed.  So scripts have
 * shared lanes of their own: a client with nothing unanswered that runs one goes
 * over to those, and back with its next command that it sends with nothing
 * unanswered.  (Whoever is in the middle of something stays where he is, so that
 * his commands keep their order.)
 *
 * And a shared lane on which a script has run for LONG_SCRIPT_MS is left to the
 * calls that are on it.  Clients with anything unanswered wait for that first.
 */
#ifndef SESSION_LONG_SCRIPT_H
#define SESSION_LONG_SCRIPT_H

#include "command/command.h"
#include "session/env.h"

struct session;

#define LONG_SCRIPT_MS 100

/* Is it EVAL, FCALL or one of their kin? */
static inline bool
long_script_is(const struct command *command)
{
    const uint32_t both = COMMAND_NOSCRIPT | COMMAND_MOVABLEKEYS;

    return (command->flags & (both | COMMAND_BLOCKING)) == both;
}

void long_script_init(struct session_pool *pool);

/* One is about to be sent. */
void long_script_begin(struct session *session);
/* The session keeps to the lanes for scripts, and a command is about to be sent
 * to one shard. */
void long_script_leave(struct session *session, const struct command *command);

#endif
