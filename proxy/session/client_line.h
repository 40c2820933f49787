/*
 * session/client_line.h - the lines of CLIENT LIST.
 *
 * session_describe() (session/session.h) writes one; the lines of all workers,
 * put behind each other, are what CLIENT LIST shows.
 */
#ifndef SESSION_CLIENT_LINE_H
#define SESSION_CLIENT_LINE_H

#include "base/buf.h"
#include "base/view.h"
#include "net/address.h"

struct session;

/* Where a client is, and where it has come to: "/path:0" of UNIX sockets. */
struct client_place {
    char addr[ADDRESS_TEXT_MAX];
    char laddr[ADDRESS_TEXT_MAX + 2];
};

void client_place_read(const struct session *session,
                       struct client_place *place);

/* Its address as MONITOR and SLOWLOG show it; kept with the session, so that it
 * can be asked for behind its end. */
const char *client_peer(struct session *session);

/*
 * Append those of the lines whose client was asked for, in the order asked:
 * `ids` is the text of a QUESTION_CLIENT_IDS.
 */
void client_lines_pick(struct view lines, struct view ids, struct buf *out);

#endif
