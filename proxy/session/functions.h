/*
 * session/functions.h - which functions only read, as all shards of a pool say.
 *
 *   FUNCTION LIST -> a, b, c    when all have answered: those that have the flag
 *                               no-writes wherever they are
 *
 * Asked when somebody wants to know, during a pause (pause.h).  A shard that does
 * not answer, or says something else, leaves it unknown.
 *
 * Owner: whoever asked.  One thread.
 */
#ifndef SESSION_FUNCTIONS_H
#define SESSION_FUNCTIONS_H

#include "session/env.h"

#define FUNCTIONS_REPLY_MAX 1048576 /* of one shard; a longer one is not read */

struct functions;

/* Ask; on_known is called when all have answered, if they have said it. */
struct functions *functions_ask(struct session_pool *pool,
                                void (*on_known)(struct session_pool *pool));
/* Answers that are still to come are dropped. */
void functions_free(struct functions **functionsp);

/* It will not become known any more. */
bool functions_have_failed(const struct functions *functions) MUST_CHECK;
/* False: it may write, or that is not known, or not yet. */
bool functions_only_reads(const struct functions *functions,
                          struct view name) MUST_CHECK;

#endif
