/*
 * session/client_line.h - the lines of CLIENT LIST.
 *
 * session_describe() (session/session.h) writes one; the lines of all workers,
 * put behind each other, are what CLIENT LIST shows.  Pure.
 */
#ifndef SESSION_CLIENT_LINE_H
#define SESSION_CLIENT_LINE_H

#include "base/buf.h"
#include "base/view.h"

/*
 * Append those of the lines whose client was asked for, in the order asked:
 * `ids` is the text of a QUESTION_CLIENT_LIST, empty for all of them.
 */
void client_lines_pick(struct view lines, struct view ids, struct buf *out);

#endif
