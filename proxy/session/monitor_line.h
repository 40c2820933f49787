/*
 * session/monitor_line.h - one line of MONITOR.
 */
#ifndef SESSION_MONITOR_LINE_H
#define SESSION_MONITOR_LINE_H

#include "base/buf.h"
#include "command/command.h"

/* "abc\x00\r\n", in quotes, as servers write what may be any bytes. */
void monitor_quote(struct buf *out, struct view bytes);

/* +1339518083.107412 [0 127.0.0.1:60866] "keys" "*", with CR and LF.  `peer` is
 * the client's address; `has_more`: some words are not here. */
void monitor_line(struct buf *out, uint32_t db, const char *peer,
                  const struct command *command,
                  const struct command_args *args, bool has_more);

/* A line of a server's MONITOR, with CR and LF: append it if a script or a function
 * has run the command, in one of so many databases from `first` on.  False: not. */
bool monitor_script_line(struct buf *out, struct view line, uint64_t first,
                         uint64_t databases) MUST_CHECK;

#endif
