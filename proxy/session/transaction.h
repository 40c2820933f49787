/*
 * session/transaction.h - MULTI, what follows it, and EXEC.
 *
 *   MULTI      +OK
 *   SET k v    +QUEUED     checked here as a server does, and kept
 *   EXEC       [MULTI | SET k v | EXEC] in one piece over a shared lane; the
 *              replies in front of EXEC's own are dropped
 *
 * The first key binds a transaction to its shard, in a cluster to its slot; a
 * key of another one is refused.  Commands without keys follow.  What a server
 * would refuse before queueing it spoils the transaction: EXEC says EXECABORT,
 * and nothing has been sent.
 *
 * What is kept is bounded by transaction_limit.  Owner: the session.
 */
#ifndef SESSION_TRANSACTION_H
#define SESSION_TRANSACTION_H

#include "session/incoming.h"
#include "session/session.h"

struct transaction;

/* The slow part of transaction_takes(). */
bool transaction_act(const struct incoming *in);

/* Is this request part of a transaction, or about one?  Then it has been acted
 * upon. */
static inline bool
transaction_takes(const struct incoming *in)
{
    return (in->session->transaction != NULL ||
            in->command->class == CLASS_PIN) &&
        transaction_act(in);
}

/* Must this command wait until all before it is answered?  Before EXEC is sent
 * its server may have to be given scripts. */
bool transaction_is_barrier(const struct session *session,
                            const struct command *command) MUST_CHECK;
/* A request between MULTI and EXEC was refused. */
void transaction_spoil(struct session *session);
/* The session goes by another generation. */
void transaction_note_generation(struct session *session);
/* RESET, or the session ends; what is watched is forgotten as well. */
void transaction_abort(struct session *session);
/* Does one of the commands queued since MULTI write? */
bool transaction_writes(const struct session *session) MUST_CHECK;
/* Commands queued since MULTI; -1 outside of a transaction. */
int transaction_count(const struct session *session);
/* What is kept of them. */
size_t transaction_bytes(const struct session *session);

/* A server's reply to MULTI or to a command behind it. */
void transaction_on_leading(struct request *request,
                            const struct reply_piece *piece);
/* EXEC was answered with an error since a command had been refused: answer it,
 * or hold it until it can be sent again.  False: pass the error on. */
bool transaction_take_refusal(struct request *request,
                              const struct reply_piece *piece) MUST_CHECK;

#endif
