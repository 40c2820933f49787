/*
 * session/doubt.h - did the node say so, or a script?
 *
 *   EVAL ...       -> -ASK 77 ...   a redirect, or what the script says
 *   EXISTS its keys -> -ASK 77 ...  the node's own word: nothing was executed
 *                   -> :1           the node serves the keys: the script's
 *
 * Scripts and modules can answer anything, so their redirects are followed, and
 * their TRYAGAINs waited for, only when the same server says so as well about a
 * command of our own with the same keys, over the same connection if others share
 * that: it has just spoken, though control may have found the server down.  A user
 * who may not ask is no matter: then the pool does, over a connection of its own.
 */
#ifndef SESSION_DOUBT_H
#define SESSION_DOUBT_H

#include "session/request.h"

enum doubt_begin {
    DOUBT_ASKED,
    DOUBT_NONE,   /* the command has no keys: no node refuses it for them */
    DOUBT_UNASKED /* there is no connection, or its words are gone */
};

/*
 * Ask the server that is just answering `request`; its reply, or the loss of its
 * connection, arrives as holding_settle() if the request is still in doubt by
 * then.
 */
enum doubt_begin doubt_ask(struct request *request) MUST_CHECK;

#endif
