/*
 * command/split.h - one command over several shards: cut it, merge the replies.
 *
 *   MGET a b c d  ->  part 0 (shard 2): MGET a d      -> *2 ...
 *                     part 1 (shard 0): MGET b c      -> *2 ...   -> *4 ...
 *
 * Pure.  Against a pool that routes by discovered slots the unit is the slot
 * (route_slot), else the shard.  A slot without an owner has parts, whose shard
 * is ROUTE_NONE.  Parts stand in order of their first key.
 *
 * XREAD goes without BLOCK: whether there is something is one question, to wait
 * for it another (session/stream_race.h).
 */
#ifndef COMMAND_SPLIT_H
#define COMMAND_SPLIT_H

#include "base/chain.h"
#include "command/command.h"
#include "route/route.h"

struct split_part {
    uint32_t shard;
    uint32_t slot;  /* when cutting by slot, else 0 */
    uint32_t count; /* keys in this part */
    uint32_t first; /* of its keys in split->order */
};

struct split {
    const struct command *command;
    uint32_t first_key; /* its argument number */
    uint32_t cut_at;    /* of an option of two words that parts go without, or 0;
                           the caller may set it to 0 */
    uint32_t key_count;
    uint32_t part_count;
    struct split_part *parts;
    uint32_t *order; /* key numbers (0 = first key), grouped by part, each
                        part's in the order asked: duplicates stay */
    struct buf names;    /* SPLIT_STREAMS: the keys, one behind another ... */
    uint32_t *name_ends; /* ... and where each ends, beside order */
};

enum split_result {
    SPLIT_OK,      /* one part is possible: then the request may go unchanged */
    SPLIT_BAD_ARGS, /* odd number of arguments to MSET: wrong arity */
    SPLIT_NO_SHARD /* a key belongs nowhere; *bad_key is its argument number */
};

/* The keys of a request, 0 when its words do not come out even. */
uint32_t split_count_keys(const struct command *command,
                          const struct command_args *args);

/* The argument number of its first key. */
uint32_t split_first_key(const struct command *command,
                         const struct command_args *args);

/* `by_slot`: unit is the slot.  Fills split, which split_fini() frees. */
enum split_result split_make(struct split *split, const struct command *command,
                             const struct command_args *args,
                             const struct route *route, bool by_slot,
                             uint64_t *dice, uint32_t *bad_key) MUST_CHECK;
void split_fini(struct split *split);

/* Bytes of the request of one part: to choose the buffer. */
size_t split_encoded_size(const struct split *split,
                          const struct command_args *args, uint32_t part);

/* Append that request, of so many bytes, to `out`. */
void split_encode(const struct split *split, const struct command_args *args,
                  uint32_t part, size_t size, struct buf *out);

enum merge_result {
    MERGE_OK,
    MERGE_ERROR,    /* a part answered an error: *out is that error line */
    MERGE_BAD_REPLY /* a part answered something that this command never
                       answers: *out is an error that says so */
};

/*
 * Merge one whole reply a part (replies[i] for parts[i]) into one at the end
 * of `out`; small elements are copied, large ones referenced.  An error of any
 * part, the first in argument order, becomes the answer; for writes
 * " (proxy: other parts may have been executed)" is appended to it when there
 * is more than one part.  `resp` is 2 or 3.
 */
enum merge_result merge_replies(const struct split *split,
                                const struct chain *replies, int resp,
                                struct chunk_pool *pool,
                                struct chain *out) MUST_CHECK;

#endif
