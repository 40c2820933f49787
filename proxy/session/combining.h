/*
 * session/combining.h - sets that stand on several shards, read and combined here.
 *
 * Only with gather_sets, those that store with carry_values; see command/combine.h.
 */
#ifndef SESSION_COMBINING_H
#define SESSION_COMBINING_H

#include "command/combine.h"
#include "session/incoming.h"

/* Is it such a command, whose keys are known not to be on one shard?  True after
 * having started or answered it. */
bool combining_try(const struct incoming *in) MUST_CHECK;

/* The request of one part, in a chunk; the ref is the caller's. */
struct extent combining_encode(const struct combine *combine, uint32_t part,
                               const struct command_args *args,
                               struct chunk_pool *pool);
/* All parts of request->job have their answers: make one of them.  False: what came
 * of them is being written first (session/carrying.h), and the job is freed. */
bool combining_finish(struct request *request) MUST_CHECK;

#endif
