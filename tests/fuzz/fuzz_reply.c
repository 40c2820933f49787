/*
 * tests/fuzz/fuzz_reply.c - a reply ends at one place, however it is cut.
 *
 * Input: a byte of cuts, then the bytes of a server.  Properties: whole and in
 * any pieces, replies end at the same bytes or fail for the same reason; what
 * the scanner accepts, the reader skips to the byte and walks to its end.
 */
#include "fuzz.h"
#include "resp/reply_read.h"
#include "resp/reply_scan.h"

#define INPUT_MAX 4096

static enum resp_result
scan_copy(struct reply_scan *scan, struct view bytes, size_t *used)
{
    char *copy = fuzz_copy(bytes);
    enum resp_result result = reply_scan(scan, copy, bytes.len, used);

    mem_free(copy);
    ASSERT(*used <= bytes.len && scan->known >= scan->size);
    ASSERT(result != RESP_AGAIN || *used == bytes.len);
    ASSERT(result != RESP_BAD || scan->error != NULL);
    return result;
}

/* Feed pieces until the reply ends, fails, or the bytes do. */
static void
check_pieces(const struct reply_scan *whole, enum resp_result expected,
             struct view bytes, uint32_t seed)
{
    enum resp_result result = RESP_AGAIN;
    size_t most = seed % 3 == 0 ? 1 : 30, at = 0, used;
    struct reply_scan scan;

    reply_scan_init(&scan);
    while (result == RESP_AGAIN && at < bytes.len) {
        size_t len = fuzz_piece(&seed, most, bytes.len - at);
        result = scan_copy(&scan, view_of(bytes.data + at, len), &used);
        at += used;
        if (expected == RESP_OK)
            ASSERT(scan.known <= whole->size);
    }
    ASSERT(result == expected);
    reply_scan_fini(&scan);
    if (result == RESP_BAD) {
        ASSERT(strcmp(scan.error, whole->error) == 0);
        return;
    }
    ASSERT(scan.type == whole->type && scan.size == whole->size);
    ASSERT(scan.known == whole->known && at == scan.size);
}

/* Read element after element of a reply that was accepted. */
static void
check_reader(const struct reply_scan *whole, struct view bytes)
{
    struct view reply = view_of(fuzz_copy(bytes), bytes.len);
    struct view rest = reply, walk = reply;
    struct reply_item item;
    uint64_t due = 1;

    ASSERT(reply_skip(&rest) && rest.len == 0);
    ASSERT(reply_next(&walk, &item) && item.type == whole->type);
    for (due = item.count; due > 0; due = due - 1 + item.count)
        ASSERT(reply_next(&walk, &item));
    ASSERT(walk.len == 0);
    mem_free((void *)(uintptr_t)reply.data);
}

/* The reader takes any bytes without harm, and advances only if it says so. */
static void
check_reader_on_anything(struct view bytes)
{
    char *copy = fuzz_copy(bytes);
    struct view rest = view_of(copy, bytes.len);
    struct reply_item item;
    size_t before = rest.len;

    while (reply_next(&rest, &item)) {
        ASSERT(rest.len < before);
        before = rest.len;
    }
    ASSERT(rest.len == before);
    mem_free(copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view bytes = view_of((const char *)data, MIN(size, INPUT_MAX));
    uint32_t seed = fuzz_choice(&bytes);
    enum resp_result result = RESP_OK;
    struct reply_scan scan;
    size_t used;

    check_reader_on_anything(bytes);
    reply_scan_init(&scan);
    while (result == RESP_OK && bytes.len > 0) {
        result = scan_copy(&scan, bytes, &used);
        check_pieces(&scan, result, bytes, seed++);
        if (result == RESP_OK)
            check_reader(&scan, view_of(bytes.data, used));
        bytes = view_of(bytes.data + used, bytes.len - used);
    }
    reply_scan_fini(&scan);
    return 0;
}
