/*
 * session/carrying.h - commands that carry a value from one shard to another.
 *
 *   request.call --DUMP--> a --PTTL--> a --RESTORE--> b --UNLINK--> a
 *
 * Only with carry_values; see command/carry.h.  The request goes by the row of the
 * step that is due, so that each is held, sent again and late as a command of its
 * own.  Everything before it is answered when it begins, and nothing behind it is
 * taken until it is.  A client that leaves does not keep the last step from being
 * made.
 */
#ifndef SESSION_CARRYING_H
#define SESSION_CARRYING_H

#include "command/carry.h"
#include "session/incoming.h"

struct carrying;

/* Must this command wait until all before it is answered? */
static inline bool
carrying_is_barrier(const struct pool_settings *settings,
                    const struct command *command)
{
    return unlikely(settings->carry_values) &&
        (carry_is_for(command) || combine_is_store(command));
}

/* Is it such a command?  Its keys are known not to be on one shard, and each of
 * them is on one.  True after having started or answered it. */
bool carrying_try(const struct incoming *in) MUST_CHECK;

/* A request that has come so far otherwise goes on by this, which is taken over; the
 * words are the client's. */
void carrying_begin(struct request *request, struct carry *carry,
                    struct extent words);

/* It ends with this error line: add what stands where.  It is the client's
 * command again ... */
void carrying_explain(struct request *request, struct buf *line);
/* ... as with any other answer that is there. */
void carrying_end(struct request *request);
void carrying_free(struct request *request);

#endif
