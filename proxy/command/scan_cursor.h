/*
 * command/scan_cursor.h - one SCAN over several shards.
 *
 *   client's cursor, 63 bits:  [ the server's, 38 | node, 10 | place, 15 ]
 *
 * Shards are scanned one after the other, in the order of their places.  A place
 * stays with its shard: it is made of the shard's name, in a cluster of the
 * last slot of its longest run, which is what moving slots changes last.  `node` tells whether the same node still answers for the shard: a
 * server's cursor means nothing to another one, so there the shard is begun
 * anew, and no key is left out.
 *
 * Pure.
 */
#ifndef COMMAND_SCAN_CURSOR_H
#define COMMAND_SCAN_CURSOR_H

#include "command/command.h"
#include "command/split.h"
#include "route/route.h"

struct scan_cursor {
    uint64_t backend;
    uint32_t node;
    uint32_t place; /* 0: at the beginning */
};

/* False: no cursor that we have given. */
bool scan_cursor_parse(struct scan_cursor *cursor, struct view text) MUST_CHECK;
/* False: the server's is too large. */
bool scan_cursor_make(const struct scan_cursor *cursor,
                      uint64_t *number) MUST_CHECK;

/* What `node` is for one that is known by this. */
uint32_t scan_node(struct view identity);

/* The places of shards with these names, from 1; they do not depend on the order
 * in which the shards are listed. */
void scan_places_by_name(const struct view *names, uint32_t count,
                         uint32_t *places);
/* Of the shards of a cluster: 1 and the last slot of its longest run; 0 for who
 * has none. */
void scan_places_by_slot(const struct route *route, uint32_t count,
                         uint32_t *places);

/* The shard with this place, or the next one, or ROUTE_NONE. */
uint32_t scan_find_place(const uint32_t *places, uint32_t count,
                         uint32_t place) MUST_CHECK;
/* The first place behind this one, 0: none. */
uint32_t scan_next_place(const uint32_t *places, uint32_t count,
                         uint32_t place) MUST_CHECK;

/* Append the request for a server with a cursor of its own. */
void scan_encode(const struct command_args *args, uint64_t backend,
                 struct buf *out);

/* Where one call of a scan stands. */
struct scan_step {
    uint32_t place;
    uint32_t node;
    uint32_t next; /* the place behind it, 0: none */
};

/* How many keys the client would like at a time. */
uint64_t scan_page_size(const struct command_args *args);

/* What the client is to be given, of one shard or of several in turn. */
struct scan_page {
    uint64_t backend; /* where the server goes on; 0: it is through */
    uint64_t count;   /* of the keys */
    struct chain keys;
};

/* Add the server's reply to the page.  Else append an error to `out`. */
enum merge_result scan_read(const struct command *command,
                            const struct chain *reply, struct chunk_pool *pool,
                            struct scan_page *page,
                            struct chain *out) MUST_CHECK;
/* Append the page, whose keys are taken, with the client's next cursor in it; or an
 * error, when that is too large. */
enum merge_result scan_give(const struct scan_step *step,
                            struct scan_page *page, struct chunk_pool *pool,
                            struct chain *out) MUST_CHECK;

#endif
