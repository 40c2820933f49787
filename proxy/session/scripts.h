/*
 * session/scripts.h - scripts that clients show, and servers that lack them.
 *
 *   EVAL body, SCRIPT LOAD body    kept, for all clients of the pool
 *   EVALSHA sha -> -NOSCRIPT       loaded there, and EVALSHA sent again
 *   MULTI, EVALSHA sha, EXEC       loaded where it is missing, before EXEC
 *   SCRIPT FLUSH                   all are forgotten
 *
 * The bodies stand in command/script_memory.h, which all workers share; what a
 * worker has seen a moment ago it does not look up again.  How they get to a
 * server is in session/script_load.h.
 */
#ifndef SESSION_SCRIPTS_H
#define SESSION_SCRIPTS_H

#include "command/script_digest.h"
#include "session/incoming.h"

struct script_wants;

/* The scripts that a transaction names by digest, each once. */
struct script_wants {
    const struct server *server; /* has them, as far as it goes, or NULL */
    uint32_t count, capacity;
    struct script_digest digests[];
};

/* A request that may be about scripts has been accepted. */
void scripts_note(const struct incoming *in);

/* A request of a transaction: add what it names to `wants`, which is NULL before
 * the first; freed with mem_free(). */
void scripts_want(struct script_wants **wants, const struct incoming *in);

/* Does it run a script that says of itself that it does not write? */
bool scripts_only_reads(const struct incoming *in) MUST_CHECK;

/* SCRIPT EXISTS: which of its digests are kept, a byte for each; freed with
 * mem_free(). */
uint8_t *scripts_known(const struct incoming *in) MUST_CHECK;

/* SCRIPT LOAD has failed. */
void scripts_forget(struct session_pool *pool, struct view body);

/* A server has answered with an error: is it to be given the script, and then
 * the request again?  Then that is under way.  False: pass it on. */
bool scripts_take_error(struct request *request,
                        const struct reply_piece *piece) MUST_CHECK;

#endif
