/*
 * session/unblock.h - CLIENT UNBLOCK: a client waits no longer, or elsewhere.
 *
 * The server is asked to end the wait, over another connection, by the id that
 * it has given to the client's one.  So it alone decides whether there was
 * something to end, and the client is answered by it over the connection on
 * which it waits: nothing that was popped in the same moment is lost.
 */
#ifndef SESSION_UNBLOCK_H
#define SESSION_UNBLOCK_H

#include "session/survey.h"

struct session_pool;

/* A shard of the pool is held since the last call: who waits there for something
 * is woken, and waits at the next primary.  After the pool has taken an
 * edition. */
void unblock_held(struct session_pool *pool);

/* Of a survey whose text is "id TIMEOUT" or "id ERROR". */
void unblock_survey(struct session_pool *pool, const struct survey *survey);

#endif
