/*
 * tests/fuzz/fuzz_replies.h - inputs of several replies, a line "====" between.
 */
#ifndef TESTS_FUZZ_FUZZ_REPLIES_H
#define TESTS_FUZZ_FUZZ_REPLIES_H

#include "fuzz.h"
#include "resp/reply_scan.h"

#define FUZZ_MARK "====\n"

/* The next part; one that is no whole reply becomes an error. */
static inline struct view
fuzz_take_reply(struct view *input)
{
    const char *end = input->len == 0
        ? NULL
        : memmem(input->data, input->len, FUZZ_MARK, sizeof(FUZZ_MARK) - 1);
    size_t len = end == NULL ? input->len : (size_t)(end - input->data);
    size_t step = end == NULL ? len : len + sizeof(FUZZ_MARK) - 1;
    struct view part = view_of(input->data, len);
    struct reply_scan scan;
    size_t used = 0;

    input->data += step;
    input->len -= step;
    reply_scan_init(&scan);
    enum resp_result result = reply_scan(&scan, part.data, part.len, &used);
    reply_scan_fini(&scan);
    if (result != RESP_OK)
        return VIEW("-ERR\r\n");
    return view_of(part.data, used);
}

#endif
