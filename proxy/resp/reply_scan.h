/*
 * resp/reply_scan.h - where does this reply end?
 *
 * Takes bytes in pieces of any size, looks at each once, and keeps nothing but
 * a few numbers, so pieces may be passed on before the reply is whole.  Knows
 * RESP2, all RESP3 types, nesting up to RESP_MAX_DEPTH (a stack, no recursion:
 * its first levels inside the struct, more on the heap until the reply ends) and
 * attributes, which belong to the reply that they
 * precede.  Lengths, counts and integers must be plain decimals ("-1" where
 * RESP2 has nulls); a simple line may not hold a lone CR or LF.  Streamed forms
 * ("$?", "*?"), which no server sends, are RESP_BAD.
 */
#ifndef RESP_REPLY_SCAN_H
#define RESP_REPLY_SCAN_H

#include "base/view.h"
#include "resp/resp.h"

#define REPLY_LEVELS_INLINE 32

struct reply_scan {
    char type;      /* first byte of the reply (after attributes), 0: none */
    uint64_t size;  /* bytes of this reply so far */
    uint64_t known; /* bytes that it is known to have at least */
    const char *error; /* with RESP_BAD: why */

    uint8_t state;
    char element; /* first byte of the element in progress */
    uint8_t negative;
    uint16_t depth;
    uint32_t line;   /* bytes of the simple line, or digits of the header */
    uint64_t number; /* read so far, or bulk bytes still to come */
    /* Elements still to come, by level. */
    uint64_t few[REPLY_LEVELS_INLINE];
    uint64_t *deep;    /* all of them, when they are more; else NULL */
    uint32_t deep_cap;
};

void reply_scan_init(struct reply_scan *scan);
/* Only needed between the pieces of a reply; does no harm elsewhere. */
void reply_scan_fini(struct reply_scan *scan);

/* RESP_OK: a whole reply ends *used bytes into this piece, and the scanner has
 * been made ready for the next except for type and size, which stay readable
 * until it is called again.  RESP_AGAIN: *used == len. */
enum resp_result reply_scan(struct reply_scan *scan, const char *data,
                            size_t len, size_t *used) MUST_CHECK;

#endif
