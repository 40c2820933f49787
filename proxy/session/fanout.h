/*
 * session/fanout.h - one command at every shard, and SCAN over all of them.
 *
 *   DBSIZE -> a: DBSIZE, b: DBSIZE, c: DBSIZE  -> merged when all have come
 *   SCAN c -> b: SCAN c'                       -> the next cursor in its place
 *
 * A split job (session/split_job.h) whose parts are shards.  In the pool of a
 * cluster nothing of the session is under way beside it, and it goes by a map
 * that nobody has reason to doubt: if one changes meanwhile, a command that only
 * reads is asked anew, so that no shard counts twice and none is left out.  One
 * that writes goes to those only that have not answered yet.
 */
#ifndef SESSION_FANOUT_H
#define SESSION_FANOUT_H

#include "session/holding.h"
#include "session/incoming.h"
#include "session/session.h"

/* Does this command go to the shards, and not the only one there is? */
bool fanout_is_for(const struct session *session,
                   const struct command *command) MUST_CHECK;

/* Is it about a script that runs?  Then it may not wait behind that. */
bool fanout_is_aside(const struct command *command) MUST_CHECK;

/* CONFIG RESETSTAT: what the proxy has counted begins anew, too, once all shards
 * have answered.  Nothing is behind it until then. */
bool fanout_concerns_us(const struct command *command) MUST_CHECK;

/* Send it to all shards. */
void fanout_start(const struct incoming *in);
/* False: it does not go there. */
bool fanout_try(const struct incoming *in) MUST_CHECK;

/* Ask all shards how many keys they have, and answer INFO with `head` and that.
 * It counts who has answered within half a second: INFO is how clients find out
 * whether they may begin, so that no shard may keep it back. */
void fanout_keyspace(struct request *request, struct view head);

/* What control has to say of INFO that was asked of the servers, or nothing: it has
 * reset what was counted. */
void fanout_take_own(struct request *request, struct view text);

/* All parts have their answers: merge them.  False: not yet, or they, or others, are
 * asked anew; the job may be another one now. */
bool fanout_finish(struct request *request) MUST_CHECK;

/* Parts that are held go as the pass allows. */
void fanout_go(struct request *request, struct holding_pass *pass);

/* It is held and its time is up: why one of its parts has come to nothing. */
struct view fanout_text_unserved(const struct request *request, uint32_t shard,
                                 const struct attempt *attempt);

struct fanout_job;
/* The request's bytes; borrowed. */
struct extent fanout_words(const struct fanout_job *job);
void fanout_job_free(struct request *request, struct fanout_job **jobp);

#endif
