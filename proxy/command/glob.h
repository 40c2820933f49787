/*
 * command/glob.h - the patterns of KEYS, PSUBSCRIBE, COMMAND LIST, CONFIG GET.
 *
 * As in redis-server: * ? [a-z] [^a] \x.  An open '[' ends with the pattern.
 * Takes at most pattern times text steps, whatever the pattern.
 */
#ifndef COMMAND_GLOB_H
#define COMMAND_GLOB_H

#include <stdbool.h>

#include "base/view.h"

/* Does the pattern match the whole text? */
bool glob_match(struct view pattern, struct view text) MUST_CHECK;
/* The same, letters without case. */
bool glob_match_nocase(struct view pattern, struct view text) MUST_CHECK;

#endif
