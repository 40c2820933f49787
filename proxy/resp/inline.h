/*
 * resp/inline.h - a request typed as one line of words.
 *
 * Quotes and escapes are those of sdssplitargs() in redis-server: "..." knows
 * \xHH \n \r \t \b \a and \c for any other c, '...' knows \' only, and a
 * closing quote must be followed by a space or the end.
 */
#ifndef RESP_INLINE_H
#define RESP_INLINE_H

#include "base/buf.h"
#include "resp/resp.h"

/*
 * Re-encode one line (its line end may be there or not) as a RESP array at the
 * end of `out`.  RESP_OK and *argc (0 for a blank line, which appends
 * nothing); RESP_BAD for unbalanced quotes.
 */
enum resp_result inline_encode(struct view line, struct buf *out,
                               uint32_t *argc) MUST_CHECK;

#endif
