/*
 * session/doubt.h - did the node say so, or a script?
 *
 *   EVAL ...       -> -ASK 77 ...   a redirect, or what the script says
 *   EXISTS its keys -> -ASK 77 ...  the node's own word: nothing was executed
 *                   -> :1           the node serves the keys: the script's
 *
 * Scripts and modules can answer anything, so their redirects are followed, and
 * their TRYAGAINs waited for, only when the same server says so as well about a
 * command of our own with the same keys, over the same connection.
 */
#ifndef SESSION_DOUBT_H
#define SESSION_DOUBT_H

#include "session/request.h"

/*
 * Ask the server that has just answered `request`; its reply, or the loss of its
 * connection, arrives as holding_settle() if the request is still in doubt by
 * then.  False: there is no asking, as the command has no keys or there is no
 * connection.
 */
bool doubt_ask(struct request *request) MUST_CHECK;

#endif
