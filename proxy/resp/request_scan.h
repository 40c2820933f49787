/*
 * resp/request_scan.h - where does this request end, and where are its words?
 *
 * The scanner is given the bytes of one request from its first byte on, in one
 * piece; when it says RESP_AGAIN it is called again with the same bytes (they
 * may have moved) and more behind them, and goes on where it stopped: no byte
 * is looked at twice.  It copies nothing and owns only its list of words.
 *
 * It is strict, which is what makes forwarding raw bytes safe: exactly one
 * spelling of each frame is accepted.  A header line is a sign, a decimal
 * without sign, space or leading zero ("0" itself is fine), CR LF; a bulk ends
 * in CR LF.  Where a server would take something looser, this is an error.
 * Texts and limits are those of redis-server 7.0.
 *
 * What does not begin with '*' is an inline request: one line up to LF (a CR
 * before it is dropped).  The scanner only finds its end; see resp/inline.h.
 *
 * A large request need not be gathered: after RESP_AGAIN, once the caller has
 * what it wants of `args`, it may pass on what it has (size bytes) and feed the
 * rest, piece by piece, to request_scan_skip().
 *
 * Pure: no allocation but the args array, which grows by doubling up to
 * limits.max_args; no clock, no socket.  Any thread, one at a time.
 */
#ifndef RESP_REQUEST_SCAN_H
#define RESP_REQUEST_SCAN_H

#include <stdbool.h>

#include "base/view.h"
#include "resp/resp.h"

#define REQUEST_ARGS_INLINE 16
#define REQUEST_ERROR_MAX 96

/* One word of a request, as offsets from the request's first byte. */
struct resp_arg {
    uint32_t off;
    uint32_t len;
};

struct request_limits {
    uint32_t max_args;    /* 2147483647 as servers have it, or less */
    uint32_t max_bulk;    /* bytes of one word, RESP_MAX_BULK or less */
    bool unauthenticated; /* 10 words of 16384 bytes at most */
};

enum request_kind {
    REQUEST_ARRAY,
    REQUEST_INLINE, /* args are not filled in */
    REQUEST_EMPTY   /*  a blank line, *0 or *-2: skip `size` bytes, no reply */
};

struct request_scan {
    /* What has been found.  With RESP_AGAIN: so far. */
    enum request_kind kind;
    uint32_t argc;         /* words announced; 0 until the first line is in */
    uint32_t seen;         /* words that are whole */
    struct resp_arg *args; /* `seen` entries */
    size_t size;           /* bytes scanned; with RESP_OK the whole request */
    size_t known;          /* bytes the request is known to have at least */
    uint32_t bulk_len;     /* in the middle of word `seen`: its length ... */
    bool in_bulk;          /* ... if this is set */

    /* With RESP_BAD: the text for "-ERR ", or an empty one when the connection
     * is to be closed without a word (cross-protocol guard). */
    char error[REQUEST_ERROR_MAX];

    /* The scanner's own. */
    uint8_t state;
    bool was_usual;   /* nothing was set but argc, seen, size and known */
    uint64_t number;  /* of a header line, or bulk bytes still to come */
    uint32_t digits;  /* read so far */
    uint32_t skipped; /* words passed by request_scan_skip() */
    uint32_t args_cap;
    struct resp_arg few[REQUEST_ARGS_INLINE];
};

void request_scan_init(struct request_scan *scan);
void request_scan_fini(struct request_scan *scan);
/* The slow part of request_scan_reset(). */
void request_scan_clear(struct request_scan *scan);

/* Ready for the next request; keeps the args array unless it is large. */
static inline void
request_scan_reset(struct request_scan *scan)
{
    if (unlikely(!scan->was_usual)) {
        request_scan_clear(scan);
        return;
    }
    scan->was_usual = false;
    scan->argc = 0;
    scan->seen = 0;
    scan->size = 0;
    scan->known = 0;
    scan->state = 0; /* nothing is here */
}

/* `data` is the request from its first byte; `len` bytes of it are here, maybe
 * with later requests behind them.  Requests past 4 GiB are RESP_BAD. */
enum resp_result request_scan(struct request_scan *scan,
                              const struct request_limits *limits,
                              const char *data, size_t len) MUST_CHECK;

/* Go on without keeping bytes: `data` is what follows scan->size.  *used says
 * how many of these bytes belong to this request.  args and seen stay as they
 * are, while size, known, in_bulk and bulk_len go on.  Only for an array whose
 * first word is whole; after it only this function may be called. */
enum resp_result request_scan_skip(struct request_scan *scan,
                                   const struct request_limits *limits,
                                   const char *data, size_t len,
                                   size_t *used) MUST_CHECK;

/* Word i of a scanned request that begins at data. */
static inline struct view
request_arg(const struct request_scan *scan, const char *data, uint32_t i)
{
    return view_of(data + scan->args[i].off, scan->args[i].len);
}

#endif
