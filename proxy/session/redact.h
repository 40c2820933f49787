/*
 * session/redact.h - words of requests that nobody may see.
 *
 * MONITOR and SLOWLOG show requests; passwords in them are "(redacted)", as
 * servers have it.
 */
#ifndef SESSION_REDACT_H
#define SESSION_REDACT_H

#include "command/command.h"

/* Word i of the request, or what stands for it; borrowed. */
struct view redact_word(const struct command *command,
                        const struct command_args *args, uint32_t i);

#endif
