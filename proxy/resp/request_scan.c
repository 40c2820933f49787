/*
 * resp/request_scan.c - finding the end and the words of a request.
 *
 * Words that are here whole are passed here, in a tight loop; at whatever this
 * declines request_take() walks on, and comes back at the next word.
 */
#include "resp/request_scan.h"

#include "base/mem.h"
#include "resp/request_priv.h"
#include "resp/resp_priv.h"

#define ARGS_KEPT 1024 /* a longer array does not outlive its request */

static inline uint32_t
longest_word(const struct request_limits *limits)
{
    if (limits->unauthenticated)
        return MIN(limits->max_bulk, UNAUTHENTICATED_BULK);
    return MIN(limits->max_bulk, RESP_MAX_BULK);
}

static inline uint32_t
most_words(const struct request_limits *limits)
{
    if (limits->unauthenticated)
        return MIN(limits->max_args, UNAUTHENTICATED_ARGS);
    return limits->max_args;
}

/* Pass the first line of an array, if it is here whole and usual. */
static inline void
scan_count(struct request_scan *scan, struct request_input *in)
{
    uint32_t count;
    const char *after;

    if (in->at == in->end || *in->at != '*')
        return;
    after = read_header(in->at, in->end, &count);
    if (after == NULL || count == 0 || count > most_words(in->limits))
        return;
    scan->size = (size_t)(after - in->first);
    scan->argc = count;
    scan->state = SCAN_WORD;
    in->at = after;
}

/* Where the fast gait stops, since it does not check that offsets fit. */
static inline const char *
fast_end(const struct request_input *in)
{
    if (unlikely((size_t)(in->end - in->first) > REQUEST_MAX))
        return in->first + REQUEST_MAX;
    return in->end;
}

/* Pass a word that is here whole and as it should be: where it ends, or NULL. */
static inline const char *
pass_word(const char *first, const char *at, const char *end,
          uint32_t longest, struct resp_arg *arg)
{
    uint32_t len;
    const char *word = read_header(at, end, &len);

    if (unlikely(word == NULL || *at != '$' || len > longest))
        return NULL;
    *arg = (struct resp_arg){(uint32_t)(word - first), len};
    return whole_bulk(word, end, len);
}

/* Pass the words that are here whole and as they should be. */
static inline void
pass_words(struct request_scan *scan, struct request_input *in)
{
    const uint32_t longest = longest_word(in->limits);
    const char *const end = fast_end(in);
    const char *at = in->at;
    uint32_t seen = scan->seen;
    struct resp_arg arg;

    for (; seen < scan->argc; seen++) {
        const char *after = pass_word(in->first, at, end, longest, &arg);
        if (after == NULL)
            break;
        if (unlikely(seen == scan->args_cap))
            request_grow_args(scan);
        scan->args[seen] = arg;
        at = after;
    }
    scan->seen = seen;
    scan->size = (size_t)(at - in->first);
    in->at = at;
}

static inline enum resp_result
scan_words(struct request_scan *scan, struct request_input *in)
{
    bool at_name = scan->seen == 0;

    pass_words(scan, in);
    if (at_name && scan->seen > 0 &&
        is_cross_protocol(request_arg(scan, in->first, 0)))
        return request_fail_cross_protocol(scan);
    if (scan->seen < scan->argc)
        return RESP_AGAIN;
    scan->state = SCAN_DONE;
    return RESP_OK;
}

/* Any request, from wherever it stopped. */
static enum resp_result
scan_on(struct request_scan *scan, struct request_input *in)
{
    enum resp_result result = request_verdict(scan);

    if (scan->state == SCAN_START)
        scan_count(scan, in);
    do {
        if (scan->state == SCAN_WORD)
            result = scan_words(scan, in);
        if (result == RESP_AGAIN && in->at < in->end)
            result = request_take(scan, in);
    } while (result == RESP_AGAIN && in->at < in->end);

    scan->known = MAX(scan->known, scan->size);
    return result;
}

/* A new request of a few words, all of it here: NULL when there is anything else
 * to it, and nothing has been noted then; or where it ends. */
static inline const char *
pass_usual(struct request_scan *scan, const struct request_input *in)
{
    const uint32_t longest = longest_word(in->limits);
    const char *const end = fast_end(in);
    const char *at = in->at;
    uint32_t count;

    if (unlikely(at == end || *at != '*'))
        return NULL;
    at = read_header(at, end, &count);
    if (unlikely(at == NULL || count - 1 >= REQUEST_ARGS_INLINE ||
                 count > most_words(in->limits)))
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        at = pass_word(in->first, at, end, longest, &scan->args[i]);
        if (unlikely(at == NULL))
            return NULL;
    }
    if (unlikely(is_cross_protocol(request_arg(scan, in->first, 0))))
        return NULL;
    scan->argc = scan->seen = count;
    return at;
}

enum resp_result
request_scan(struct request_scan *scan, const struct request_limits *limits,
             const char *data, size_t len)
{
    struct request_input in = {limits, data, data + scan->size, data + len};

    if (likely(scan->state == SCAN_START && scan->size == 0)) {
        const char *after = pass_usual(scan, &in);
        if (likely(after != NULL)) {
            scan->size = scan->known = (size_t)(after - data);
            scan->state = SCAN_DONE;
            scan->was_usual = true;
            return RESP_OK;
        }
    }
    return scan_on(scan, &in);
}

enum resp_result
request_scan_skip(struct request_scan *scan,
                  const struct request_limits *limits, const char *data,
                  size_t len, size_t *used)
{
    struct request_input in = {limits, NULL, data, data + len};
    enum resp_result result = request_verdict(scan);

    ASSERT(scan->seen > 0);
    while (result == RESP_AGAIN && in.at < in.end)
        result = request_take(scan, &in);

    scan->known = MAX(scan->known, scan->size);
    *used = (size_t)(in.at - data);
    return result;
}

void
request_scan_init(struct request_scan *scan)
{
    scan->args = scan->few;
    scan->args_cap = REQUEST_ARGS_INLINE;
    request_scan_clear(scan);
}

void
request_scan_fini(struct request_scan *scan)
{
    if (scan->args != scan->few)
        mem_free(scan->args);
    scan->args = scan->few;
    scan->args_cap = REQUEST_ARGS_INLINE;
}

void
request_scan_clear(struct request_scan *scan)
{
    if (unlikely(scan->args_cap > ARGS_KEPT))
        request_scan_fini(scan);
    scan->kind = REQUEST_ARRAY;
    scan->argc = 0;
    scan->seen = 0;
    scan->size = 0;
    scan->known = 0;
    scan->bulk_len = 0;
    scan->in_bulk = false;
    scan->error[0] = '\0';
    scan->state = SCAN_START;
    scan->was_usual = false;
    scan->skipped = 0;
}
