/*
 * command/refuse.h - the errors that a request alone deserves.
 *
 * Each function appends one whole error line, from '-' to CR LF, in the words
 * of redis-server 7.0 where it has words for the case.  Bytes of the request
 * are cut as the server cuts them: at a NUL, at 128 bytes; line ends become
 * spaces.
 */
#ifndef COMMAND_REFUSE_H
#define COMMAND_REFUSE_H

#include "base/buf.h"
#include "command/command.h"

/* unknown command 'x', with args beginning with: 'a' 'b' */
void refuse_unknown_command(struct buf *out, const struct command_args *args);
/* unknown subcommand 'x'. Try OBJECT HELP. */
void refuse_unknown_subcommand(struct buf *out, const struct command *container,
                               struct view sub);
/* wrong number of arguments for 'config|get' command */
void refuse_wrong_arity(struct buf *out, const struct command *command);
/* A command of CLASS_REFUSE: that the proxy does not support it, or what a
 * lone data server says to it. */
void refuse_command(struct buf *out, const struct command *command,
                    const struct command_args *args);
void refuse_crossslot(struct buf *out);
/* It has more than max_keys allows. */
void refuse_keys(struct buf *out, const struct command *command,
                 uint32_t count, uint64_t max_keys);
/* `option` as command_pattern_option() gave it. */
void refuse_sort_pattern(struct buf *out, const char *option);

#endif
