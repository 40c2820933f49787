/*
 * resp/encode.c - writing requests and replies.
 */
#include "resp/encode.h"

#include "resp/resp.h"

/* A sign, twenty digits, and what stands before and behind them. */
#define NUMBER_MAX 32

static char *
put_crlf(char *p)
{
    memcpy(p, "\r\n", 2);
    return p + 2;
}

static char *
put_u64(char *p, uint64_t value)
{
    char digits[20];
    size_t at = sizeof(digits);

    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    memcpy(p, digits + at, sizeof(digits) - at);
    return p + (sizeof(digits) - at);
}

static char *
put_header(char *p, char sign, uint64_t value)
{
    *p++ = sign;
    return put_crlf(put_u64(p, value));
}

/* Everything that was written from buf_reserve() up to `end` belongs to it. */
static void
commit(struct buf *out, const char *end)
{
    out->len = (size_t)(end - out->data);
}

static void
add_header(struct buf *out, char sign, uint64_t value)
{
    commit(out, put_header(buf_reserve(out, NUMBER_MAX), sign, value));
}

/* A line end inside would end the reply early and shift all that follow. */
static void
add_line(struct buf *out, char sign, struct view text)
{
    char *p = buf_reserve(out, text.len + 3);

    *p++ = sign;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        *p++ = c == '\r' || c == '\n' ? ' ' : c;
    }
    commit(out, put_crlf(p));
}

static void
add_payload(struct buf *out, struct view bytes)
{
    char *p = buf_reserve(out, bytes.len + 2);

    if (bytes.len > 0)
        memcpy(p, bytes.data, bytes.len);
    commit(out, put_crlf(p + bytes.len));
}

void
encode_simple(struct buf *out, const char *text)
{
    add_line(out, RESP_SIMPLE, view_str(text));
}

void
encode_error(struct buf *out, struct view text)
{
    add_line(out, RESP_ERROR, text);
}

void
encode_integer(struct buf *out, int64_t value)
{
    char *p = buf_reserve(out, NUMBER_MAX);
    uint64_t size = (uint64_t)value;

    *p++ = RESP_INTEGER;
    if (value < 0) {
        *p++ = '-';
        size = 0 - size;
    }
    commit(out, put_crlf(put_u64(p, size)));
}

void
encode_bulk(struct buf *out, struct view bytes)
{
    buf_reserve(out, bytes.len + NUMBER_MAX);
    add_header(out, RESP_BULK, bytes.len);
    add_payload(out, bytes);
}

void
encode_bulk_str(struct buf *out, const char *string)
{
    encode_bulk(out, view_str(string));
}

void
encode_bulk_u64(struct buf *out, uint64_t value)
{
    char digits[20];
    const char *end = put_u64(digits, value);

    encode_bulk(out, view_of(digits, (size_t)(end - digits)));
}

void
encode_null(struct buf *out, int resp)
{
    buf_append_str(out, resp >= 3 ? "_\r\n" : "$-1\r\n");
}

void
encode_null_array(struct buf *out, int resp)
{
    buf_append_str(out, resp >= 3 ? "_\r\n" : "*-1\r\n");
}

void
encode_array(struct buf *out, size_t count)
{
    add_header(out, RESP_ARRAY, count);
}

void
encode_map(struct buf *out, int resp, size_t pairs)
{
    if (resp >= 3)
        add_header(out, RESP_MAP, pairs);
    else
        add_header(out, RESP_ARRAY, pairs * 2);
}

void
encode_set(struct buf *out, int resp, size_t count)
{
    add_header(out, resp >= 3 ? RESP_SET : RESP_ARRAY, count);
}

void
encode_push(struct buf *out, int resp, size_t count)
{
    add_header(out, resp >= 3 ? RESP_PUSH : RESP_ARRAY, count);
}

void
encode_bool(struct buf *out, int resp, bool value)
{
    if (resp >= 3)
        buf_append_str(out, value ? "#t\r\n" : "#f\r\n");
    else
        encode_integer(out, value ? 1 : 0);
}

void
encode_verbatim(struct buf *out, int resp, struct view text)
{
    if (resp < 3) {
        encode_bulk(out, text);
        return;
    }
    buf_reserve(out, text.len + NUMBER_MAX);
    add_header(out, RESP_VERBATIM, text.len + strlen("txt:"));
    buf_append_str(out, "txt:");
    add_payload(out, text);
}
