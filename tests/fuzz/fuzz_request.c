/*
 * tests/fuzz/fuzz_request.c - a request has one meaning, however it is cut.
 *
 * Input: a byte of limits, a byte of cuts, then the bytes of a client.
 * Properties: whole and in any pieces, the scanner gives the same answer; from
 * any point behind the first word, skipping ends where scanning does.
 */
#include "fuzz.h"
#include "resp/request_scan.h"

#define INPUT_MAX 4096

static struct request_limits
choose_limits(uint8_t choice)
{
    struct request_limits limits = {INT32_MAX, RESP_MAX_BULK, choice & 1};

    if (choice & 2)
        limits.max_args = 20;
    if (choice & 4)
        limits.max_bulk = 100;
    return limits;
}

static enum resp_result
scan_copy(struct request_scan *scan, const struct request_limits *limits,
          struct view bytes)
{
    char *copy = fuzz_copy(bytes);
    enum resp_result result = request_scan(scan, limits, copy, bytes.len);

    mem_free(copy);
    return result;
}

static enum resp_result
skip_copy(struct request_scan *scan, const struct request_limits *limits,
          struct view bytes, size_t *used)
{
    char *copy = fuzz_copy(bytes);
    enum resp_result result =
        request_scan_skip(scan, limits, copy, bytes.len, used);

    mem_free(copy);
    return result;
}

static void
check_same(const struct request_scan *a, const struct request_scan *b)
{
    ASSERT(a->kind == b->kind && a->size == b->size && a->known == b->known);
    ASSERT(a->argc == b->argc && a->seen == b->seen);
    ASSERT(a->in_bulk == b->in_bulk);
    ASSERT(!a->in_bulk || a->bulk_len == b->bulk_len);
    ASSERT(a->seen == 0 ||
           memcmp(a->args, b->args, a->seen * sizeof(*a->args)) == 0);
}

static void
check_bounds(const struct request_scan *scan, enum resp_result result,
             size_t len)
{
    ASSERT(scan->size <= len && scan->size <= scan->known);
    ASSERT(scan->seen <= scan->argc);
    if (result == RESP_AGAIN)
        ASSERT(scan->size == len);
    for (uint32_t i = 0; i < scan->seen; i++)
        ASSERT((size_t)scan->args[i].off + scan->args[i].len + 2 <= scan->size);
}

/* Scan up to `from` as one, then skip in pieces, and compare with `whole`. */
static void
check_skip(const struct request_scan *whole, enum resp_result expected,
           const struct request_limits *limits, struct view bytes, size_t from,
           uint32_t seed)
{
    enum resp_result result;
    struct request_scan scan;
    size_t at = from, used;

    request_scan_init(&scan);
    result = scan_copy(&scan, limits, view_of(bytes.data, from));
    while (result == RESP_AGAIN && scan.seen > 0 && at < bytes.len) {
        size_t len = fuzz_piece(&seed, 40, bytes.len - at);
        result = skip_copy(&scan, limits, view_of(bytes.data + at, len), &used);
        ASSERT(result != RESP_AGAIN || used == len);
        at += used;
        ASSERT(result == RESP_BAD || scan.size == at);
    }
    if (at > from) {
        ASSERT(result == expected);
        ASSERT(result == RESP_BAD || scan.size == whole->size);
        ASSERT(strcmp(scan.error, whole->error) == 0);
    }
    request_scan_fini(&scan);
}

static void
check_pieces(const struct request_scan *whole, enum resp_result expected,
             const struct request_limits *limits, struct view bytes,
             uint32_t seed)
{
    enum resp_result result = RESP_AGAIN;
    struct request_scan scan;
    size_t most = seed % 3 == 0 ? 1 : 30, len = 0;

    request_scan_init(&scan);
    while (result == RESP_AGAIN && len < bytes.len) {
        len += fuzz_piece(&seed, most, bytes.len - len);
        result = scan_copy(&scan, limits, view_of(bytes.data, len));
        check_bounds(&scan, result, len);
        if (result == RESP_AGAIN && scan.seen > 0 && seed % 4 == 0)
            check_skip(whole, expected, limits, bytes, len, seed);
    }
    ASSERT(result == expected);
    ASSERT(strcmp(scan.error, whole->error) == 0);
    if (result != RESP_BAD)
        check_same(&scan, whole);
    request_scan_fini(&scan);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view bytes = view_of((const char *)data, MIN(size, INPUT_MAX));
    struct request_limits limits = choose_limits(fuzz_choice(&bytes));
    uint32_t seed = fuzz_choice(&bytes);
    struct request_scan scan;
    enum resp_result result;

    request_scan_init(&scan);
    while (bytes.len > 0) {
        request_scan_reset(&scan);
        result = scan_copy(&scan, &limits, bytes);
        check_bounds(&scan, result, bytes.len);
        check_pieces(&scan, result, &limits, bytes, seed++);
        if (result != RESP_OK)
            break;
        ASSERT(scan.size > 0);
        bytes = view_of(bytes.data + scan.size, bytes.len - scan.size);
    }
    request_scan_fini(&scan);
    return 0;
}
