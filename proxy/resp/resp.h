/*
 * resp/resp.h - words shared by the scanners of requests and of replies.
 */
#ifndef RESP_RESP_H
#define RESP_RESP_H

#include "base/base.h"

/* How a scanner ended. */
enum resp_result {
    RESP_OK,    /* one whole frame has been seen */
    RESP_AGAIN, /* so far, so good: more bytes are needed */
    RESP_BAD    /* not the protocol; the scanner says why */
};

/* The first byte of a reply. */
enum resp_type {
    RESP_SIMPLE = '+',
    RESP_ERROR = '-',
    RESP_INTEGER = ':',
    RESP_BULK = '$',
    RESP_ARRAY = '*',
    RESP_NULL = '_',
    RESP_BOOL = '#',
    RESP_DOUBLE = ',',
    RESP_BIG_NUMBER = '(',
    RESP_BULK_ERROR = '!',
    RESP_VERBATIM = '=',
    RESP_MAP = '%',
    RESP_SET = '~',
    RESP_PUSH = '>',
    RESP_ATTRIBUTE = '|'
};

#define RESP_MAX_BULK (512u * 1024 * 1024) /* proto-max-bulk-len of servers */
#define RESP_MAX_LINE 65536 /* an inline request or a header line of one */
#define RESP_MAX_DEPTH 8192 /* of nested replies; a script gets near it */

#endif
