/*
 * command/shebang.h - what the first line of a script says of it.
 *
 *   #!lua flags=no-writes,allow-stale
 *
 * Pure.
 */
#ifndef COMMAND_SHEBANG_H
#define COMMAND_SHEBANG_H

#include "base/view.h"

/* Has the script such a line, with this flag? */
bool shebang_has_flag(struct view body, struct view flag) MUST_CHECK;

#endif
