/*
 * command/describe.h - COMMAND and its subcommands, answered from the table.
 *
 * The replies have the form of redis-server 7.0 and name what the proxy serves:
 * rows of CLASS_REFUSE are left out.  Key specifications and arguments are those
 * of that server (documents.def); later commands have none.
 */
#ifndef COMMAND_DESCRIBE_H
#define COMMAND_DESCRIBE_H

#include "base/buf.h"
#include "command/command.h"

struct learnt;

/* Commands that have no row, which COMMAND, COUNT, INFO and LIST know as well, and
 * DOCS if servers have told it. */
struct describe_more {
    const struct learnt *const *learnt; /* by name */
    size_t count;
};

/* Is this name, as COMMAND INFO takes it, that of a row? */
bool describe_knows(struct view name) MUST_CHECK;

/*
 * Append the reply to this request; `command` is the row of COMMAND itself or
 * of one of its subcommands, and its arity has been checked.  `resp` is 2 or 3.
 */
void describe_reply(const struct command *command,
                    const struct command_args *args, int resp,
                    const struct describe_more *more, struct buf *out);

#endif
