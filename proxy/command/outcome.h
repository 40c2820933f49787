/*
 * command/outcome.h - what an error reply proves.
 *
 * The table of reference section "error semantics": by the first word of a
 * top-level error reply to a plain command.
 */
#ifndef COMMAND_OUTCOME_H
#define COMMAND_OUTCOME_H

#include <stdbool.h>

#include "base/view.h"

enum outcome {
    OUTCOME_OTHER, /* an ordinary answer */
#define OUTCOME(NAME, word, ran, help) OUTCOME_##NAME,
#include "command/outcome.def"
#undef OUTCOME
    OUTCOME_COUNT
};

/* `line` is the reply from its '-' on; only its first word is looked at. */
enum outcome outcome_of(struct view line) MUST_CHECK;
/* Did the command certainly not run? */
bool outcome_proves_not_run(enum outcome outcome);
const char *outcome_word(enum outcome outcome);

#endif
