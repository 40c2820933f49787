/*
 * resp/reply_read.h - what is in a reply that is here whole, in one piece?
 *
 * A cursor over the elements, depth first.  For topology replies, handshakes
 * and tests; the data path only scans.  The bytes must have passed
 * reply_scan(); reading past the end or another type than asked for is
 * reported, never undefined.
 */
#ifndef RESP_REPLY_READ_H
#define RESP_REPLY_READ_H

#include <stdbool.h>

#include "base/view.h"
#include "resp/resp.h"

struct reply_item {
    char type;        /* enum resp_type */
    bool is_null;     /* $-1, *-1 or _ */
    struct view text; /* payload of simple, error, bulk, verbatim (after txt:),
                         double, big number, integer */
    int64_t number;   /* integers and booleans */
    uint64_t count;   /* elements of it that follow (maps: 2 a pair) */
    struct view raw;  /* header line and payload, as on the wire */
};

/* Read the next element and advance *rest behind its header and payload (an
 * aggregate's elements come with the next calls).  Attributes are skipped.
 * False at the end or when the bytes are not a reply. */
bool reply_next(struct view *rest, struct reply_item *item) MUST_CHECK;

/* Advance *rest over one whole element, nested ones included. */
bool reply_skip(struct view *rest) MUST_CHECK;

#endif
