/*
 * resp/encode.h - writing requests and replies.
 *
 * `resp` is the client's protocol version, 2 or 3: where the two spell a thing
 * differently the function writes what the server would.
 */
#ifndef RESP_ENCODE_H
#define RESP_ENCODE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/view.h"

void encode_simple(struct buf *out, const char *text);       /* +OK */
/* `text` with its code and without '-': "ERR no such thing".  CR and LF inside
 * become spaces, as in redis-server. */
void encode_error(struct buf *out, struct view text);
void encode_integer(struct buf *out, int64_t value);
void encode_bulk(struct buf *out, struct view bytes);
void encode_bulk_str(struct buf *out, const char *string);
void encode_bulk_u64(struct buf *out, uint64_t value);       /* decimal text */
void encode_null(struct buf *out, int resp);                 /* $-1 or _ */
void encode_null_array(struct buf *out, int resp);           /* *-1 or _ */
void encode_array(struct buf *out, size_t count);
void encode_map(struct buf *out, int resp, size_t pairs);    /* *2n or %n */
void encode_set(struct buf *out, int resp, size_t count);    /* *n or ~n */
void encode_push(struct buf *out, int resp, size_t count);   /* *n or >n */
void encode_bool(struct buf *out, int resp, bool value);     /* :1 or #t */
void encode_verbatim(struct buf *out, int resp, struct view text); /* txt */

#endif
