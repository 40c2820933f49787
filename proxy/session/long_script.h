/*
 * session/long_script.h - a script that runs for long holds up nobody else.
 *
 *   lane      EVAL, GET, GET       wait until the script has ended
 *   new lane             SET, GET  -> -BUSY, as over a connection of one's own
 *
 * A server reads no more from the connection whose script it runs; others it
 * tells that it is BUSY once busy-reply-threshold has passed.  So a shared lane
 * on which a script has run for LONG_SCRIPT_MS is left to the calls that are on
 * it.  Clients with anything unanswered wait for that first, so that their
 * commands keep their order.
 */
#ifndef SESSION_LONG_SCRIPT_H
#define SESSION_LONG_SCRIPT_H

#include "command/command.h"
#include "session/env.h"

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
void long_script_watch(struct session_pool *pool);

#endif
