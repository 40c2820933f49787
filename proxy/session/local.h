/*
 * session/local.h - commands that the proxy answers itself.
 *
 * The request has a known name and a right number of arguments, and the client
 * is authenticated where the command needs it.  Nothing is in front of it when
 * local_is_barrier() says so.
 */
#ifndef SESSION_LOCAL_H
#define SESSION_LOCAL_H

#include "session/session.h"

enum local_result {
    LOCAL_REPLY,    /* `out` holds the reply */
    LOCAL_NO_REPLY, /* none is due (CLIENT REPLY OFF) */
    LOCAL_CLOSE,    /* `out` holds the reply; then drain and close (QUIT) */
    LOCAL_ASK,      /* *question is to be asked; its answer is the reply */
    LOCAL_REFUSE    /* not answered here: refuse it as unsupported */
};

/* Must everything before this command be answered first? SELECT, AUTH, HELLO,
 * RESET, CLIENT REPLY, CLIENT TRACKING, CONFIG RESETSTAT, MONITOR. */
bool local_is_barrier(const struct command *command) MUST_CHECK;

/* Has the proxy an answer of its own to this command, perhaps? */
bool local_is_for(const struct command *command) MUST_CHECK;

/* CLUSTER COUNTKEYSINSLOT and GETKEYSINSLOT: whose answer is that of the node
 * with the slot, unless local_answer() finds something wrong. */
bool local_names_slot(const struct command *command) MUST_CHECK;
/* The slot, when it has found nothing. */
uint32_t local_slot(const struct command_args *args) MUST_CHECK;

/*
 * Append one whole reply to `out`.  question->kind and ->text are filled in
 * for LOCAL_ASK (text may point into `out`, which then holds no reply).
 *
 *   QUESTION_INFO          text: names of sections in lower case, each once,
 *                          that redis-server knows; empty: the default ones
 *   QUESTION_CLIENT_IDS    text: ids that are asked for
 *   others                 see session/env.h
 *
 * CLIENT REPLY is heeded here: whoever calls sends what is in `out`, even when
 * session->reply_off was set before.  For LOCAL_CLOSE it may then be empty.
 */
enum local_result local_answer(struct session *session,
                               const struct command *command,
                               const struct command_args *args, struct buf *out,
                               struct question *question) MUST_CHECK;

/* Names that a client gave; NULL is fine. */
void client_info_free(struct client_info **infop);

#endif
