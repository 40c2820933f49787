/*
 * command/access.h - which commands the clients of a pool may use.
 *
 *   "-@dangerous +info -keys"     rules from left to right, the last one counts
 *
 * The words are those of the servers' ACL rules: +name and -name, +name|sub and
 * -name|sub, +@category and -@category, @all among them, and allcommands and
 * nocommands.  A container's rule is one for all that it contains.  Before the
 * first rule everything is allowed.  As on servers, what a client needs to make
 * itself known (AUTH, HELLO, QUIT, RESET) cannot be taken away.  For a
 * command that was learnt from a server (learnt.h) only rules about categories
 * count.
 *
 * Pure.
 */
#ifndef COMMAND_ACCESS_H
#define COMMAND_ACCESS_H

#include <stdbool.h>

#include "base/error.h"
#include "command/command.h"

struct access {
    uint64_t refused[(COMMAND_ID_ALL + 63) / 64];
};

/* Rules with spaces between them.  -1 and a sentence that names the first one
 * that is none. */
int access_parse(struct access *access, struct view rules,
                 struct error *error) MUST_CHECK;

/*
 * The same words for what the proxy answers for itself or refuses and what is
 * to go to the servers instead: nothing before the first rule, and never what
 * is about one connection (AUTH, SELECT, CLIENT, MONITOR, SYNC ...), which a
 * category leaves out.  A rule for nothing else is none.
 */
int access_parse_server_commands(struct access *access, struct view rules,
                                 struct error *error) MUST_CHECK;

/* Of a command that no row has; the rules have been parsed. */
bool access_allows_learnt(struct view rules,
                          const struct command *command) MUST_CHECK;

static inline bool
access_allows(const struct access *access, const struct command *command)
{
    return (access->refused[command->id / 64] >> (command->id % 64) & 1) == 0;
}

#endif
