/*
 * command/chain_cursor.h - reading a reply that lies in a chain.
 *
 * Private to the room.  A cursor is a place in a chain that it neither owns nor
 * changes; it may be copied to remember the place.  The reply may be cut
 * between any two bytes.  What is not as asked for is reported as false, and
 * the cursor then stands anywhere.
 */
#ifndef COMMAND_CHAIN_CURSOR_H
#define COMMAND_CHAIN_CURSOR_H

#include "base/buf.h"
#include "base/chain.h"
#include "resp/reply_scan.h"

struct chain_cursor {
    const struct chain *chain;
    uint32_t extent; /* the one we stand in */
    uint32_t off;    /* inside of it */
    size_t left;     /* bytes from here to the end of the chain */
};

void chain_cursor_init(struct chain_cursor *cursor, const struct chain *chain);

/* The byte here, '\0' at the end. */
char chain_cursor_peek(const struct chain_cursor *cursor);

/* Step over `type`, a decimal that may be negative, CR LF. */
bool chain_cursor_number(struct chain_cursor *cursor, char type,
                         int64_t *number) MUST_CHECK;

/* Step over exactly these bytes. */
bool chain_cursor_literal(struct chain_cursor *cursor,
                          struct view bytes) MUST_CHECK;

/* Step over one whole element; `scan` lies between two replies. */
bool chain_cursor_element(struct chain_cursor *cursor,
                          struct reply_scan *scan) MUST_CHECK;

/* The same for an element that lies in one piece, which *element is then; else
 * the cursor stays. */
bool chain_cursor_element_here(struct chain_cursor *cursor,
                               struct reply_scan *scan,
                               struct view *element) MUST_CHECK;

/* Step over attributes that precede a reply. */
bool chain_cursor_attributes(struct chain_cursor *cursor,
                             struct reply_scan *scan) MUST_CHECK;

/* Append the next `len` bytes, which the chain must have: as references, or
 * as a copy made in the pool. */
void chain_cursor_share(struct chain_cursor *cursor, size_t len,
                        struct chain *out);
void chain_cursor_copy(struct chain_cursor *cursor, size_t len,
                       struct chunk_pool *pool, struct chain *out);
void chain_cursor_read(struct chain_cursor *cursor, size_t len,
                       struct buf *out);

#endif
