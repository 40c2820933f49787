/*
 * session/body_words.c - scanning a request once more.
 */
#include "session/body_words.h"

#include "base/chunk.h"

struct request_limits
body_limits(void)
{
    return (struct request_limits){.max_args = UINT32_MAX,
                                   .max_bulk = RESP_MAX_BULK};
}

struct command_args
body_words(struct request_scan *scan, const struct extent *body)
{
    struct request_limits limits = body_limits();
    const char *data = body->chunk->data + body->off;

    request_scan_init(scan);
    enum resp_result result = request_scan(scan, &limits, data, body->len);
    ASSERT(result == RESP_OK);
    return (struct command_args){data, scan->args, scan->argc};
}
