/*
 * upstream/readers.h - who may be read from, shard by shard, the best first.
 *
 *   shard 0:  [rank 0: replica 3, replica 5]  [rank 3: primary 0]
 *
 * Of those with the lowest rank that can be used, a session takes one by its
 * number: so sessions are spread, and each keeps to one as long as nothing
 * changes.
 *
 * Pure and immutable: made of a roster, as read_from says.  Owner: the
 * generation.
 */
#ifndef UPSTREAM_READERS_H
#define UPSTREAM_READERS_H

#include "upstream/roster.h"

enum reader_rank {
    READER_BEST,    /* as read_from wants it */
    READER_SECOND,  /* in our zone, but a primary */
    READER_THIRD,   /* a replica in another zone, or farther away */
    READER_PRIMARY, /* instead, while there is no better */
    READER_CUT,     /* a replica without its primary, which is off as well */
    READER_RANK_COUNT
};

struct reader {
    uint32_t shard;
    uint32_t server; /* number in the roster */
    enum reader_rank rank;
};

struct readers;

/* NULL when only primaries are read from. */
struct readers *readers_new(const struct roster *roster,
                            const struct pool_settings *settings);
void readers_free(struct readers **readersp);

/* Can this server be used at the moment? */
typedef bool reader_ok_fn(uint32_t server, const void *arg);

/* Who a session of this number reads from; NULL when nobody of the shard can be
 * used. */
const struct reader *readers_choose(const struct readers *readers,
                                    uint32_t shard, uint32_t session,
                                    reader_ok_fn *is_ok,
                                    const void *arg) MUST_CHECK;

#endif
