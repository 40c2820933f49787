/*
 * base/buf.h - bytes that grow at the end.
 *
 * For building replies, texts and fragments.  Growth doubles; the owner bounds
 * what it appends.  buf_fini() frees; a zeroed struct is an empty buffer.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/base.h"
#include "base/view.h"

struct buf {
    char *data;
    size_t len;
    size_t cap;
};

/* Make room for `more` bytes behind len and return where they go. */
char *buf_reserve(struct buf *buf, size_t more);
void buf_append(struct buf *buf, const void *data, size_t len);
void buf_printf(struct buf *buf, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_fini(struct buf *buf);

static inline void
buf_append_view(struct buf *buf, struct view bytes)
{
    buf_append(buf, bytes.data, bytes.len);
}

static inline void
buf_append_str(struct buf *buf, const char *string)
{
    buf_append(buf, string, strlen(string));
}

static inline void
buf_append_char(struct buf *buf, char c)
{
    buf_append(buf, &c, 1);
}

static inline struct view
buf_view(const struct buf *buf)
{
    return view_of(buf->data, buf->len);
}

/* What stands from `start` on; nothing of an empty buffer too. */
static inline struct view
buf_view_from(const struct buf *buf, size_t start)
{
    if (start == buf->len)
        return view_of(NULL, 0);
    return view_of(buf->data + start, buf->len - start);
}

#endif
