/*
 * command/fanout_merge.h - the replies of all shards become one reply.
 *
 *   DBSIZE     :2   :0   :5         ->  :7
 *   KEYS *     *2.. *0   *5..       ->  *7 ...
 *   FLUSHALL   +OK  +OK  -LOADING   ->  -LOADING
 *
 * Pure.  Each row of CLASS_FANOUT is merged in one of a few ways; a row that is
 * not named in the table of fanout_merge.c is refused, unless the pool sends it
 * to its servers: then all have to succeed, and the first one's answer counts.
 */
#ifndef COMMAND_FANOUT_MERGE_H
#define COMMAND_FANOUT_MERGE_H

#include "command/command.h"
#include "command/split.h"

struct fanout {
    const struct command *command;
    uint64_t limit; /* entries of a log that are asked for */
    uint64_t dice;  /* chooses whose answer it is, where any will do */
    const uint8_t *known; /* SCRIPT EXISTS: one as good as everywhere has a 1
                             here; or NULL */
};

/* Can the replies to this command be merged? */
bool fanout_is_known(const struct command *command) MUST_CHECK;

/* Are they put one behind the other, so that what is behind their heads may pass as it
 * comes? */
bool fanout_is_concat(const struct command *command) MUST_CHECK;

struct fanout_head {
    char type; /* 0: of nothing yet */
    int64_t count;
    size_t len;
};
/* Add the head of a reply, of which there may be no more yet.  False: it has none,
 * or one that does not go with the others. */
bool fanout_add_head(struct fanout_head *head,
                     const struct chain *reply) MUST_CHECK;

void fanout_init(struct fanout *fanout, const struct command *command,
                 const struct command_args *args, uint64_t dice);

/*
 * Merge `count` whole replies, one a shard, at the end of `out`.  An error of
 * any shard is the answer, unless one that succeeds is enough: what all of them
 * say as it is, else the first one; of a write then " (proxy: other parts may
 * have been executed)".
 */
enum merge_result fanout_merge(const struct fanout *fanout,
                               const struct chain *replies, uint32_t count,
                               struct chunk_pool *pool,
                               struct chain *out) MUST_CHECK;

#endif
