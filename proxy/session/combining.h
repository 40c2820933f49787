/*
 * session/combining.h - sets that stand on several shards, read and combined here.
 *
 * Only with gather_sets; see command/combine.h.
 */
#ifndef SESSION_COMBINING_H
#define SESSION_COMBINING_H

#include "session/incoming.h"

/* Is it such a command, whose keys are known not to be on one shard?  True after
 * having started or answered it. */
bool combining_try(const struct incoming *in) MUST_CHECK;

#endif
