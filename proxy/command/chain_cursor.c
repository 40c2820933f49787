/*
 * command/chain_cursor.c - reading a reply that lies in a chain.
 *
 * The chain holds no empty extent, so there is a byte here unless left is 0.
 */
#include "command/chain_cursor.h"

#include "resp/resp.h"

#define NUMBER_MAX 20 /* bytes of an int64 in decimal, with its sign */

void
chain_cursor_init(struct chain_cursor *cursor, const struct chain *chain)
{
    *cursor = (struct chain_cursor){.chain = chain, .left = chain->bytes};
}

/* The bytes from here to the end of the extent. */
static inline struct view
here(const struct chain_cursor *cursor)
{
    const struct extent *extent = chain_at(cursor->chain, cursor->extent);

    return view_of(extent->chunk->data + extent->off + cursor->off,
                   extent->len - cursor->off);
}

/* Go on by bytes of the present extent. */
static inline void
advance(struct chain_cursor *cursor, size_t len)
{
    const struct extent *extent = chain_at(cursor->chain, cursor->extent);

    cursor->off += (uint32_t)len;
    cursor->left -= len;
    if (cursor->off == extent->len) {
        cursor->extent++;
        cursor->off = 0;
    }
}

char
chain_cursor_peek(const struct chain_cursor *cursor)
{
    return cursor->left == 0 ? '\0' : here(cursor).data[0];
}

static bool
take_byte(struct chain_cursor *cursor, char byte)
{
    if (cursor->left == 0 || here(cursor).data[0] != byte)
        return false;
    advance(cursor, 1);
    return true;
}

bool
chain_cursor_literal(struct chain_cursor *cursor, struct view bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        if (!take_byte(cursor, bytes.data[i]))
            return false;
    return true;
}

bool
chain_cursor_number(struct chain_cursor *cursor, char type, int64_t *number)
{
    char text[NUMBER_MAX];
    size_t len = 0;

    if (!take_byte(cursor, type))
        return false;
    while (cursor->left > 0 && !take_byte(cursor, '\r')) {
        if (len == sizeof(text))
            return false;
        text[len++] = chain_cursor_peek(cursor);
        advance(cursor, 1);
    }
    return take_byte(cursor, '\n') && view_to_i64(view_of(text, len), number);
}

/* From here or from the middle of an element; *piece is what it went by last. */
static inline enum resp_result
step(struct chain_cursor *cursor, struct reply_scan *scan, struct view *piece)
{
    size_t used;

    *piece = here(cursor);
    enum resp_result result = reply_scan(scan, piece->data, piece->len, &used);
    piece->len = used;
    advance(cursor, used);
    return result;
}

bool
chain_cursor_element(struct chain_cursor *cursor, struct reply_scan *scan)
{
    enum resp_result result = RESP_AGAIN;
    struct view piece;

    while (result == RESP_AGAIN && cursor->left > 0)
        result = step(cursor, scan, &piece);
    return result == RESP_OK;
}

bool
chain_cursor_element_here(struct chain_cursor *cursor, struct reply_scan *scan,
                          struct view *element)
{
    struct chain_cursor start = *cursor;

    if (likely(cursor->left > 0 &&
               step(cursor, scan, element) == RESP_OK))
        return true;
    /* What was scanned of it is scanned again, by who asks otherwise. */
    *cursor = start;
    reply_scan_fini(scan);
    reply_scan_init(scan);
    return false;
}

bool
chain_cursor_attributes(struct chain_cursor *cursor, struct reply_scan *scan)
{
    int64_t pairs;

    while (chain_cursor_peek(cursor) == RESP_ATTRIBUTE) {
        if (!chain_cursor_number(cursor, RESP_ATTRIBUTE, &pairs) || pairs < 0)
            return false;
        for (int64_t i = 0; i < pairs; i++)
            if (!chain_cursor_element(cursor, scan) ||
                !chain_cursor_element(cursor, scan))
                return false;
    }
    return true;
}

void
chain_cursor_share(struct chain_cursor *cursor, size_t len, struct chain *out)
{
    ASSERT(len <= cursor->left);
    while (len > 0) {
        const struct extent *extent = chain_at(cursor->chain, cursor->extent);
        size_t part = MIN(len, (size_t)extent->len - cursor->off);
        chain_push(out, extent->chunk, extent->off + cursor->off,
                   (uint32_t)part);
        advance(cursor, part);
        len -= part;
    }
}

void
chain_cursor_copy(struct chain_cursor *cursor, size_t len,
                  struct chunk_pool *pool, struct chain *out)
{
    ASSERT(len <= cursor->left);
    while (len > 0) {
        struct view piece = here(cursor);
        size_t part = MIN(len, piece.len);
        chain_copy(out, pool, piece.data, part);
        advance(cursor, part);
        len -= part;
    }
}

void
chain_cursor_read(struct chain_cursor *cursor, size_t len, struct buf *out)
{
    ASSERT(len <= cursor->left);
    while (len > 0) {
        struct view piece = here(cursor);
        size_t part = MIN(len, piece.len);
        buf_append(out, piece.data, part);
        advance(cursor, part);
        len -= part;
    }
}
