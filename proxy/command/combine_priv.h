/*
 * command/combine_priv.h - what the words of a command about sets say.
 */
#ifndef COMMAND_COMBINE_PRIV_H
#define COMMAND_COMBINE_PRIV_H

#include "command/combine.h"
#include "command/gather.h"
#include "command/hyperloglog.h"

#define NUMBER_MAX 128 /* bytes of a weight, as servers read it */

enum combine_kind {
    COMBINE_UNION,
    COMBINE_INTER,
    COMBINE_DIFF,
    COMBINE_COUNT, /* no sets: PFCOUNT */
    COMBINE_BITS   /* ... BITOP */
};

enum bit_operation { BITS_AND, BITS_OR, BITS_XOR, BITS_NOT };

enum aggregate { AGGREGATE_SUM, AGGREGATE_MIN, AGGREGATE_MAX };

struct combine {
    const struct command *command; /* what is read is its answer */
    enum combine_kind kind;
    enum aggregate aggregate;
    bool is_sorted; /* of sorted sets */
    bool with_scores;
    bool is_count;  /* ...CARD: only how many */
    bool is_store;  /* ...STORE: the first word is a key to be written */
    uint64_t limit; /* of the count; 0: none */
    uint32_t first_key, key_count;
    uint32_t first_weight; /* the word, 0: none */
    const char *option; /* a part has the words behind its key, and this one: it is
                           read by `command`; or NULL */
    enum bit_operation operation; /* of COMBINE_BITS */
};

/* Of COMBINE_COUNT: append the count to `out`, or with `value` that to be written
 * to this; an error to `out` as well. */
enum merge_result combine_count(const struct combine *combine,
                                const struct chain *replies,
                                struct chunk_pool *pool, struct buf *value,
                                struct chain *out) MUST_CHECK;

/* Of COMBINE_BITS: append what comes of it to `value`. */
enum merge_result combine_bits(const struct combine *combine,
                               const struct chain *replies,
                               struct chunk_pool *pool, struct buf *value,
                               struct chain *out) MUST_CHECK;

#endif
