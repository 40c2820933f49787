/*
 * session/unfold.h - a transaction over several shards, command by command.
 *
 *   EXEC       *2              written at once, in its turn
 *   SET a 1    +OK             each command goes its own way, as if the client
 *   INCR b     :1              had sent it now; its answer is the next element
 *
 * Only with split_transactions, and only where no single shard could answer.
 * A session unfolds until the array is whole; meanwhile nothing is taken from
 * its input, and nothing else may come into its output.  Owner: the session.
 */
#ifndef SESSION_UNFOLD_H
#define SESSION_UNFOLD_H

#include "session/incoming.h"
#include "session/session.h"

struct unfolding;

/* Answer this EXEC by the commands that stand in `bytes`, which is taken. */
void unfold_begin(const struct incoming *in, struct extent bytes,
                  uint32_t count);
/* Act on as many of them as the session's window allows. */
void unfold_go(struct session *session);
void unfold_free(struct session *session);

#endif
