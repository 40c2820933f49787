/*
 * command/combine.h - SUNION, SINTER, SDIFF and their like over several shards.
 *
 *   SINTER a b        ->  part 0: SUNION a             -> *2 x y
 *                         part 1: SUNION b             -> *2 y z   ->  *1 y
 *   ZUNION 2 a b ...  ->  part 0: ZUNION 1 a ... WITHSCORES
 *
 * No shard has all of the keys, so each set is asked for whole, and what the
 * command does is done here.  Every part has one key.  Of sorted sets each part
 * has its weight already.  What a command answers is what a server would that has
 * the same sets, but for the order of members without scores, which servers do
 * not promise, and the last digits of sums.
 *
 *   PFCOUNT a b       ->  part 0: GET a, part 1: GET b (command/combine_count.c)
 *   BITOP OR t a b    ->  the same (command/combine_bits.c)
 *   ZRANGESTORE t a 0 9  ->  ZRANGE a 0 9 WITHSCORES
 *
 * The last two, and GEOSEARCHSTORE, only store.
 *
 * Pure.
 */
#ifndef COMMAND_COMBINE_H
#define COMMAND_COMBINE_H

#include "base/buf.h"
#include "base/chain.h"
#include "command/split.h"

struct combine;

/* Does it write what comes of it at a key? */
bool combine_is_store(const struct command *command) MUST_CHECK;

/* NULL when the command is none of these, or its words are not in order: then a
 * server has to say so.  Keeps nothing of `args`. */
struct combine *combine_new(const struct command *command,
                            const struct command_args *args) MUST_CHECK;
void combine_free(struct combine **combinep);

/* The word that is the key to be written, of one that stores. */
uint32_t combine_target(const struct combine *combine);
/* The keys are words from `first` on, `count` of them. */
uint32_t combine_first_key(const struct combine *combine);
uint32_t combine_key_count(const struct combine *combine);

/* Append the request of one part. */
void combine_encode(const struct combine *combine,
                    const struct command_args *args, uint32_t part,
                    struct buf *out);

/* Make one reply, at the end of `out`, of one whole reply a part; an error of any
 * of them, the first in order, is the answer. */
enum merge_result combine_merge(const struct combine *combine,
                                const struct chain *replies, int resp,
                                struct chunk_pool *pool,
                                struct chain *out) MUST_CHECK;

/* What is to be written at a key. */
struct combined {
    uint64_t count;   /* of members, or bytes; 0: nothing, what is there goes */
    bool is_string;   /* a plain one, for SET; else as DUMP has it */
    bool keeps_time;  /* ... which lives as long as what was there */
    struct buf value; /* the caller's */
};

/* The same for one that stores: on MERGE_OK fill `combined`, else append an error to
 * `out`. */
enum merge_result combine_dump(const struct combine *combine,
                               const struct chain *replies,
                               struct chunk_pool *pool,
                               struct combined *combined,
                               struct chain *out) MUST_CHECK;

#endif
