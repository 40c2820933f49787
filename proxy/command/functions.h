/*
 * command/functions.h - which functions a server has, as FUNCTION LIST says.
 *
 * Pure.
 */
#ifndef COMMAND_FUNCTIONS_H
#define COMMAND_FUNCTIONS_H

#include <stdbool.h>

#include "base/view.h"

struct function {
    struct view name;
    bool only_reads; /* it has the flag no-writes */
};

typedef void (*function_fn)(void *arg, const struct function *function);

/* Tell of each function that a whole reply names, in either version of the
 * protocol.  False: it is no such reply; some may have been told. */
bool functions_read(struct view reply, function_fn tell, void *arg) MUST_CHECK;

#endif
