/*
 * command/gather.h - replies of several shards, read side by side.
 *
 * Private to the room: merge.c, combine.c and fanout_merge.c put one reply together of
 * them.  Replies are read where they lie, by one cursor each.
 */
#ifndef COMMAND_GATHER_H
#define COMMAND_GATHER_H

#include "command/chain_cursor.h"
#include "command/split.h"

struct gather {
    const struct command *command;
    uint32_t count;               /* replies */
    struct chain_cursor *cursors; /* one each */
    struct chunk_pool *pool;
    struct reply_scan scan; /* between two elements */
    struct chain reply;     /* so far */
};

void gather_init(struct gather *gather, const struct command *command,
                 uint32_t count, struct chunk_pool *pool);
/* Append what there is of the reply to `out`. */
void gather_fini(struct gather *gather, struct chain *out);

/* Put each cursor on its reply proper; false when one has none. */
bool gather_open(struct gather *gather, const struct chain *replies) MUST_CHECK;
/* The same; an error among the replies, the first one, answers for all. */
enum merge_result gather_open_good(struct gather *gather,
                                   const struct chain *replies) MUST_CHECK;
bool gather_is_error(const struct chain_cursor *cursor);

/* The text of an error reply without its first byte, length and line end. */
bool gather_read_error(struct gather *gather, struct chain_cursor *cursor,
                       struct buf *text) MUST_CHECK;

/* The error `text`, which begins with its code and is freed, is the reply. */
void gather_fail(struct gather *gather, struct buf *text);
/* The same with what is to be said when only one of several shards failed. */
void gather_fail_one(struct gather *gather, struct buf *text);
/* A reply is none that this command has. */
enum merge_result gather_bad(struct gather *gather);

/* Append `type`, a decimal and the line's end. */
void gather_header(struct gather *gather, char type, int64_t value);
/* Append the element that the cursor stands at. */
bool gather_element(struct gather *gather,
                    struct chain_cursor *cursor) MUST_CHECK;
/* Append all that is behind the cursor.  A lane gives whole replies only, so behind
 * the header of an array are its elements. */
void gather_rest(struct gather *gather, struct chain_cursor *cursor);
/* The next reply is an integer: add it. */
bool gather_add(struct chain_cursor *cursor, int64_t *sum) MUST_CHECK;
bool gather_all_read(const struct gather *gather) MUST_CHECK;

#endif
