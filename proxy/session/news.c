/*
 * session/news.c - reading what servers say of changed keys.
 */
#include "session/news.h"

#include "resp/reply_read.h"

bool
news_read(struct extent frame, struct extent *keys)
{
    struct view rest = view_of(frame.chunk->data + frame.off, frame.len);
    struct reply_item item;

    if (!reply_next(&rest, &item) || item.type != RESP_PUSH ||
        item.count != 2 || !reply_next(&rest, &item) ||
        !view_equal(item.text, VIEW("invalidate")))
        return false;
    *keys = frame;
    keys->off += frame.len - (uint32_t)rest.len;
    keys->len = (uint32_t)rest.len;
    if (!reply_next(&rest, &item) || item.is_null || item.type != RESP_ARRAY)
        *keys = (struct extent){0};
    return true;
}
