/*
 * resp/reply_scan.c - finding the end of a reply that comes in pieces.
 *
 *   START -> TYPE --+--> LINE --CR--> LINE_LF ----------+
 *             ^     +--> DIGITS --CR--> DIGITS_LF --+---+
 *             |           BULK_LF <- BULK_CR <- BULK    |
 *             +-------------- the element is done ------+--> START
 *
 * few[] or deep[] has a level for each aggregate that is open.  An attribute is a level
 * like a map, but marked: when it ends, the element it describes is still due.
 * Elements that are here whole are passed by whole_scalar() (resp_priv.h).
 */
#include "resp/reply_scan.h"

#include "base/mem.h"
#include "resp/resp_priv.h"

/* Twice as many elements, in a map, leave room for the mark. */
#define COUNT_MAX (UINT64_C(1) << 60)
#define ATTRIBUTE_MARK (UINT64_C(1) << 63)

enum reply_state {
    REPLY_START,     /* between two replies */
    REPLY_TYPE,      /* the first byte of an element is due */
    REPLY_LINE,      /* in a simple line */
    REPLY_LINE_LF,   /* its LF is due */
    REPLY_DIGITS,    /* in the number of an integer or a header line */
    REPLY_DIGITS_LF, /* its LF is due */
    REPLY_BULK,      /* in the payload of a bulk */
    REPLY_BULK_CR,   /* its CR is due */
    REPLY_BULK_LF,   /* its LF is due */
    REPLY_FAILED     /* not the protocol */
};

struct input {
    const char *at;
    const char *end;
};

void
reply_scan_fini(struct reply_scan *scan)
{
    mem_free(scan->deep);
    scan->deep = NULL;
}

static enum resp_result
fail(struct reply_scan *scan, const char *why)
{
    reply_scan_fini(scan);
    scan->error = why;
    scan->state = REPLY_FAILED;
    return RESP_BAD;
}

static enum resp_result
go_on(struct reply_scan *scan, struct input *in, enum reply_state next)
{
    in->at++;
    scan->state = (uint8_t)next;
    return RESP_AGAIN;
}

/* --- levels ------------------------------------------------------------------ */

static inline uint64_t *
levels(struct reply_scan *scan)
{
    return unlikely(scan->deep != NULL) ? scan->deep : scan->few;
}

static void
grow_levels(struct reply_scan *scan)
{
    uint32_t cap = scan->deep == NULL ? REPLY_LEVELS_INLINE : scan->deep_cap;
    uint64_t *deep = mem_realloc(scan->deep, cap * 2 * sizeof(*deep));

    if (scan->deep == NULL)
        memcpy(deep, scan->few, sizeof(scan->few));
    scan->deep = deep;
    scan->deep_cap = cap * 2;
}

static void
push_level(struct reply_scan *scan, uint64_t left)
{
    uint32_t cap = scan->deep == NULL ? REPLY_LEVELS_INLINE : scan->deep_cap;

    if (unlikely(scan->depth == cap))
        grow_levels(scan);
    levels(scan)[scan->depth++] = left;
}

/* An element is whole, and so may be the aggregates that it ends. */
static enum resp_result
element_done(struct reply_scan *scan)
{
    scan->state = REPLY_TYPE;
    while (scan->depth > 0) {
        uint64_t left = --levels(scan)[scan->depth - 1];
        if ((left & ~ATTRIBUTE_MARK) > 0)
            return RESP_AGAIN;
        scan->depth--;
        if (left == ATTRIBUTE_MARK)
            return RESP_AGAIN;
    }
    if (unlikely(scan->deep != NULL))
        reply_scan_fini(scan);
    scan->state = REPLY_START;
    return RESP_OK;
}

static void
note_type(struct reply_scan *scan, char type)
{
    scan->element = type;
    if (scan->depth == 0 && type != RESP_ATTRIBUTE)
        scan->type = type;
}

static enum resp_result
take_type(struct reply_scan *scan, struct input *in)
{
    note_type(scan, *in->at);
    scan->line = 0;
    scan->number = 0;
    scan->negative = false;

    switch ((enum resp_type)*in->at) {
    case RESP_SIMPLE:
    case RESP_ERROR:
    case RESP_NULL:
    case RESP_BOOL:
    case RESP_DOUBLE:
    case RESP_BIG_NUMBER:
        return go_on(scan, in, REPLY_LINE);
    case RESP_INTEGER:
    case RESP_BULK:
    case RESP_BULK_ERROR:
    case RESP_VERBATIM:
    case RESP_ARRAY:
    case RESP_MAP:
    case RESP_SET:
    case RESP_PUSH:
    case RESP_ATTRIBUTE:
        return go_on(scan, in, REPLY_DIGITS);
    }
    return fail(scan, "unknown type byte in a reply");
}

static enum resp_result
take_line(struct reply_scan *scan, struct input *in)
{
    size_t here = (size_t)(in->end - in->at);
    const char *cr = memchr(in->at, '\r', here);

    if (cr != NULL)
        here = (size_t)(cr - in->at);
    if (memchr(in->at, '\n', here) != NULL)
        return fail(scan, "stray LF in a reply");
    /* The first byte is the value of a boolean. */
    if (scan->line == 0 && here > 0)
        scan->number = (unsigned char)*in->at;
    scan->line = (uint32_t)MIN(scan->line + (uint64_t)here, UINT32_MAX);
    in->at += here;
    return cr != NULL ? go_on(scan, in, REPLY_LINE_LF) : RESP_AGAIN;
}

static enum resp_result
finish_line(struct reply_scan *scan, struct input *in)
{
    if (*in->at != '\n')
        return fail(scan, "stray CR in a reply");
    if (scan->element == RESP_NULL && scan->line > 0)
        return fail(scan, "invalid null in a reply");
    if (scan->element == RESP_BOOL &&
        (scan->line != 1 || (scan->number != 't' && scan->number != 'f')))
        return fail(scan, "invalid boolean in a reply");
    in->at++;
    return element_done(scan);
}

static enum resp_result
fail_number(struct reply_scan *scan)
{
    return fail(scan, scan->element == RESP_INTEGER
                          ? "invalid integer in a reply"
                          : "invalid length in a reply");
}

/* What may follow the digits so far: a sign before them, CR behind them. */
static enum resp_result
take_digits_end(struct reply_scan *scan, struct input *in)
{
    bool at_first = scan->line == 0 && !scan->negative;

    if (*in->at == '-' && at_first) {
        scan->negative = true;
        return go_on(scan, in, REPLY_DIGITS);
    }
    if (*in->at == '?' && at_first && scan->element != RESP_INTEGER)
        return fail(scan, "streamed replies are not supported");
    if (*in->at != '\r' || scan->line == 0 ||
        (scan->negative && scan->number == 0))
        return fail_number(scan);
    return go_on(scan, in, REPLY_DIGITS_LF);
}

static enum resp_result
take_digits(struct reply_scan *scan, struct input *in)
{
    const uint64_t max = (uint64_t)INT64_MAX + scan->negative;
    uint32_t digit;

    for (; in->at < in->end; in->at++) {
        digit = digit_value(*in->at);
        if (digit > 9)
            return take_digits_end(scan, in);
        if ((scan->line > 0 && scan->number == 0) ||
            scan->number > (max - digit) / 10)
            return fail_number(scan);
        scan->number = scan->number * 10 + digit;
        scan->line++;
    }
    return RESP_AGAIN;
}

static enum resp_result
open_aggregate(struct reply_scan *scan)
{
    bool is_pairs =
        scan->element == RESP_MAP || scan->element == RESP_ATTRIBUTE;
    uint64_t left = is_pairs ? scan->number * 2 : scan->number;

    if (scan->number > COUNT_MAX)
        return fail_number(scan);
    if (left == 0 && scan->element != RESP_ATTRIBUTE)
        return element_done(scan);
    scan->state = REPLY_TYPE;
    if (left == 0)
        return RESP_AGAIN;
    if (scan->depth == RESP_MAX_DEPTH)
        return fail(scan, "a reply is nested too deeply");
    if (scan->element == RESP_ATTRIBUTE)
        left |= ATTRIBUTE_MARK;
    push_level(scan, left);
    return RESP_AGAIN;
}

static enum resp_result
finish_negative(struct reply_scan *scan)
{
    bool is_null = scan->number == 1 && (scan->element == RESP_BULK ||
                                         scan->element == RESP_ARRAY);

    if (!is_null && scan->element != RESP_INTEGER)
        return fail_number(scan);
    return element_done(scan);
}

static enum resp_result
finish_digits(struct reply_scan *scan, struct input *in)
{
    if (*in->at != '\n')
        return fail(scan, "stray CR in a reply");
    go_on(scan, in, REPLY_BULK);
    if (scan->negative)
        return finish_negative(scan);
    if (scan->element == RESP_INTEGER)
        return element_done(scan);
    if (scan->element == RESP_BULK || scan->element == RESP_BULK_ERROR ||
        scan->element == RESP_VERBATIM)
        return RESP_AGAIN;
    return open_aggregate(scan);
}

static enum resp_result
take_bulk(struct reply_scan *scan, struct input *in)
{
    uint64_t used = MIN(scan->number, (uint64_t)(in->end - in->at));

    in->at += used;
    scan->number -= used;
    if (scan->number == 0)
        scan->state = REPLY_BULK_CR;
    return RESP_AGAIN;
}

static enum resp_result
take_bulk_end(struct reply_scan *scan, struct input *in)
{
    char due = scan->state == REPLY_BULK_CR ? '\r' : '\n';

    if (*in->at != due)
        return fail(scan, "a bulk of a reply does not end in CRLF");
    if (due == '\r')
        return go_on(scan, in, REPLY_BULK_LF);
    in->at++;
    return element_done(scan);
}

/* Take what belongs to the present state; there is at least one byte. */
static enum resp_result
take(struct reply_scan *scan, struct input *in)
{
    switch ((enum reply_state)scan->state) {
    case REPLY_START:
    case REPLY_TYPE:
        return take_type(scan, in);
    case REPLY_LINE:
        return take_line(scan, in);
    case REPLY_LINE_LF:
        return finish_line(scan, in);
    case REPLY_DIGITS:
        return take_digits(scan, in);
    case REPLY_DIGITS_LF:
        return finish_digits(scan, in);
    case REPLY_BULK:
        return take_bulk(scan, in);
    case REPLY_BULK_CR:
    case REPLY_BULK_LF:
        return take_bulk_end(scan, in);
    case REPLY_FAILED:
        break;
    }
    return RESP_BAD;
}

static inline const char *
whole_line(const char *p, const char *end)
{
    if (end - p >= 5 && memcmp(p, "+OK\r\n", 5) == 0)
        return p + 5;

    const char *lf = memchr(p, '\n', (size_t)(end - p));
    if (lf == NULL || memchr(p, '\r', (size_t)(lf - p)) != lf - 1)
        return NULL;
    return lf + 1;
}

static inline const char *
whole_string(const char *p, const char *end)
{
    uint32_t len;
    const char *payload = read_header(p, end, &len);

    if (likely(payload != NULL))
        return whole_bulk(payload, end, len);
    if (end - p >= 5 && memcmp(p, "$-1\r\n", 5) == 0)
        return p + 5;
    return NULL;
}

/* The end of the element at p, if that is one of the common ones without
 * elements of its own, here whole and as it should be; NULL otherwise. */
static inline const char *
whole_scalar(const char *p, const char *end)
{
    uint32_t number;

    switch (*p) {
    case RESP_BULK:
        return whole_string(p, end);
    case RESP_INTEGER:
        return read_header(p, end, &number);
    case RESP_SIMPLE:
    case RESP_ERROR:
    case RESP_DOUBLE:
        return whole_line(p, end);
    case RESP_NULL:
        return end - p >= 3 && is_crlf(p + 1) ? p + 3 : NULL;
    default:
        return NULL;
    }
}

static inline enum resp_result
take_element(struct reply_scan *scan, struct input *in)
{
    const char *after = whole_scalar(in->at, in->end);

    if (after == NULL)
        return take(scan, in);
    note_type(scan, *in->at);
    in->at = after;
    return element_done(scan);
}

static uint64_t
known_to_come(const struct reply_scan *scan)
{
    switch ((enum reply_state)scan->state) {
    case REPLY_BULK:
        return scan->number + 2;
    case REPLY_BULK_CR:
        return 2;
    case REPLY_BULK_LF:
        return 1;
    default:
        return 0;
    }
}

static enum resp_result
scan_on(struct reply_scan *scan, const char *data, size_t len, size_t *used)
{
    struct input in = {data, data + len};
    enum resp_result result = RESP_AGAIN;

    while (result == RESP_AGAIN && in.at < in.end) {
        if (scan->state == REPLY_TYPE)
            result = take_element(scan, &in);
        else
            result = take(scan, &in);
    }
    *used = (size_t)(in.at - data);
    scan->size += *used;
    scan->known = scan->size + known_to_come(scan);
    return result;
}

enum resp_result
reply_scan(struct reply_scan *scan, const char *data, size_t len, size_t *used)
{
    if (scan->state != REPLY_START || len == 0)
        return scan_on(scan, data, len, used);

    const char *after = whole_scalar(data, data + len);
    if (after == NULL) {
        scan->type = 0;
        scan->size = 0;
        return scan_on(scan, data, len, used);
    }
    scan->type = *data;
    *used = (size_t)(after - data);
    scan->size = *used;
    scan->known = *used;
    return RESP_OK;
}

void
reply_scan_init(struct reply_scan *scan)
{
    scan->type = 0;
    scan->size = 0;
    scan->known = 0;
    scan->error = NULL;
    scan->state = REPLY_START;
    scan->depth = 0;
    scan->deep = NULL;
}
