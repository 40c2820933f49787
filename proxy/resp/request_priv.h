/*
 * resp/request_priv.h - what the two gaits of the request scanner share.
 *
 * request_scan.c runs over words that are here whole; request_take.c walks,
 * byte by byte where it must (see resp/resp_priv.h).
 */
#ifndef RESP_REQUEST_PRIV_H
#define RESP_REQUEST_PRIV_H

#include "resp/request_scan.h"

#define UNAUTHENTICATED_ARGS 10
#define UNAUTHENTICATED_BULK 16384
#define REQUEST_MAX UINT32_MAX /* offsets of words have 32 bits */

enum scan_state {
    SCAN_START,    /* nothing seen yet */
    SCAN_INLINE,   /* in a line of words */
    SCAN_DIGITS,   /* in the number of a header line */
    SCAN_MINUS,    /* behind "*-", in its digits */
    SCAN_LINE_END, /* the LF of a header line is due */
    SCAN_WORD,     /* the '$' of a word is due */
    SCAN_BULK,     /* in the bytes of a word */
    SCAN_BULK_CR,  /* its CR is due */
    SCAN_BULK_LF,  /* its LF is due */
    SCAN_DONE,     /* whole */
    SCAN_FAILED    /* not the protocol */
};

/* The bytes of one call; `at` is where scan->size stands. */
struct request_input {
    const struct request_limits *limits;
    const char *first; /* the request's first byte, NULL when skipping */
    const char *at;
    const char *end;
};

static inline bool
is_cross_protocol(struct view word)
{
    if (likely(word.len != 4 && word.len != 5))
        return false;
    if (likely((word.data[0] | 0x20) != 'p' && (word.data[0] | 0x20) != 'h'))
        return false;
    return view_equal_nocase(word, VIEW("POST")) ||
           view_equal_nocase(word, VIEW("Host:"));
}

/* What has come out so far; it does not change any more once it is there. */
static inline enum resp_result
request_verdict(const struct request_scan *scan)
{
    if (likely(scan->state < SCAN_DONE))
        return RESP_AGAIN;
    return scan->state == SCAN_DONE ? RESP_OK : RESP_BAD;
}

/* Servers close such a connection without a word, and so do we. */
enum resp_result request_fail_cross_protocol(struct request_scan *scan);

/* Make room for another word. */
void request_grow_args(struct request_scan *scan);

/* Walk on, by what belongs to the present state; at least one byte must be
 * there.  RESP_AGAIN: call again if bytes are left. */
enum resp_result request_take(struct request_scan *scan,
                              struct request_input *in);

#endif
