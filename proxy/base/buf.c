/*
 * base/buf.c - a growing byte buffer.
 */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"

#define BUF_FIRST 256

char *
buf_reserve(struct buf *buf, size_t more)
{
    if (buf->cap - buf->len < more) {
        size_t cap = MAX(buf->cap * 2, (size_t)BUF_FIRST);
        while (cap - buf->len < more)
            cap *= 2;
        buf->data = mem_realloc(buf->data, cap);
        buf->cap = cap;
    }
    return buf->data + buf->len;
}

void
buf_append(struct buf *buf, const void *data, size_t len)
{
    if (len == 0)
        return;
    memcpy(buf_reserve(buf, len), data, len);
    buf->len += len;
}

void
buf_printf(struct buf *buf, const char *fmt, ...)
{
    va_list args, again;

    ASSERT(fmt != NULL);
    va_start(args, fmt);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    ASSERT(len >= 0);

    vsnprintf(buf_reserve(buf, (size_t)len + 1), (size_t)len + 1, fmt, again);
    va_end(again);
    buf->len += (size_t)len;
}

void
buf_fini(struct buf *buf)
{
    mem_free(buf->data);
    *buf = (struct buf){0};
}
