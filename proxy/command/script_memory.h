/*
 * command/script_memory.h - the bodies of scripts that were seen, by digest.
 *
 *   EVAL body ------------+
 *   SCRIPT LOAD body -----+-> [digest -> body, ...] -> SCRIPT LOAD body, to a
 *                                                      server that lacks it
 *
 * Servers do not give scripts to their replicas, and forget those of EVAL; so
 * what one client has shown is kept for all clients of a pool.  It is bounded
 * in bytes.  At the limit those that were used least lately go, and those that
 * were loaded go last, as servers have it.
 *
 * Any thread: what is shared stands behind a lock, which is held to look one
 * up and to copy it.  Workers ask for it when they see a script for the first
 * time in a while, and when a server lacks one (session/scripts.h).
 */
#ifndef COMMAND_SCRIPT_MEMORY_H
#define COMMAND_SCRIPT_MEMORY_H

#include <stdbool.h>

#include "base/buf.h"
#include "command/script_digest.h"

struct script_memory;

struct script_memory *script_memory_new(void);
void script_memory_free(struct script_memory **memoryp);

/* Bytes that it may have; what is over goes at once.  0 keeps nothing, and is
 * how it begins. */
void script_memory_set_limit(struct script_memory *memory, size_t limit);

/* It was seen; `is_loaded`: by SCRIPT LOAD.  False: it is not kept, as it has no
 * place. */
bool script_memory_keep(struct script_memory *memory, struct view body,
                        bool is_loaded);
/* It is used: others are to go before it. */
void script_memory_touch(struct script_memory *memory,
                         const struct script_digest *digest);
bool script_memory_has(struct script_memory *memory,
                       const struct script_digest *digest) MUST_CHECK;
/* Append the body.  False: it is not known. */
bool script_memory_find(struct script_memory *memory,
                        const struct script_digest *digest,
                        struct buf *body) MUST_CHECK;
void script_memory_forget(struct script_memory *memory,
                          const struct script_digest *digest);
void script_memory_clear(struct script_memory *memory);

/* Counts how often something has gone. */
uint64_t script_memory_losses(const struct script_memory *memory);

#endif
