/*
 * session/script_load.h - giving a server the scripts that it lacks.
 *
 *   SCRIPT EXISTS sha sha  ->  *2 :1 :0      what does it lack?
 *   SCRIPT LOAD body       ->  $40 sha       here it is
 *   the request                              EVALSHA once more, or EXEC
 *
 * Over the shared connection to the server that the request goes to, ahead of
 * it.  NOSCRIPT may be what a script says of itself, after it has run; so the
 * server is asked even then.  One that has the script has run it, unless that was
 * loaded for somebody else meanwhile: which is believed, once, if the error is in
 * the servers' words and NOSCRIPT stands neither in the script nor in what it was
 * given.
 */
#ifndef SESSION_SCRIPT_LOAD_H
#define SESSION_SCRIPT_LOAD_H

#include "session/request.h"

/* EVALSHA was answered with NOSCRIPT: hold it (session/holding.h) until the
 * script is there; it goes again, or that is its answer.  False: nobody knows
 * the script. */
bool script_load_for_answer(struct request *request,
                            const struct reply_piece *piece) MUST_CHECK;

/* EXEC is to be sent to its server: see first that this has what request->wants
 * names, and submit it then.  False: nothing has to be done. */
bool script_load_ahead(struct request *request) MUST_CHECK;

#endif
