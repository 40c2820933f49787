/*
 * resp/request_take.c - the slow gait of the request scanner.
 *
 *   START --*--> DIGITS --CR--> LINE_END --LF--+--> WORD --$--> DIGITS ...
 *     |             `-> MINUS --CR--^          |
 *     |                                        +--> BULK -> BULK_CR -> BULK_LF
 *     +--> INLINE --LF--> DONE                            (WORD again, or DONE)
 *
 * There is one take_*() a state, and each may stop anywhere.  DIGITS and
 * LINE_END serve the line of the count, while argc is 0, and the lines of
 * lengths.
 */
#include <stdio.h>

#include "base/mem.h"
#include "resp/request_priv.h"
#include "resp/resp_priv.h"

#define MINUS_DIGITS 18 /* of a count below zero; servers read 64 bits */

static enum resp_result
fail(struct request_scan *scan, const char *text)
{
    snprintf(scan->error, sizeof(scan->error), "Protocol error: %s", text);
    scan->state = SCAN_FAILED;
    return RESP_BAD;
}

static enum resp_result
fail_length(struct request_scan *scan)
{
    return fail(scan, scan->argc == 0 ? "invalid multibulk length"
                                      : "invalid bulk length");
}

static enum resp_result
fail_long_line(struct request_scan *scan)
{
    return fail(scan, scan->argc == 0 ? "too big mbulk count string"
                                      : "too big bulk count string");
}

static enum resp_result
fail_dollar(struct request_scan *scan, char got)
{
    char text[] = "expected '$', got ' '";

    /* Servers write a blank for line ends; NUL would end our text. */
    if (got != '\r' && got != '\n' && got != '\0')
        text[sizeof(text) - 3] = got;
    return fail(scan, text);
}

/* A web page was made to post to us. */
enum resp_result
request_fail_cross_protocol(struct request_scan *scan)
{
    scan->error[0] = '\0';
    scan->state = SCAN_FAILED;
    return RESP_BAD;
}

/* Take the byte at hand and go to another state. */
static enum resp_result
go_on(struct request_scan *scan, struct request_input *in, enum scan_state next)
{
    in->at++;
    scan->size++;
    scan->state = (uint8_t)next;
    return RESP_AGAIN;
}

static enum resp_result
done(struct request_scan *scan)
{
    scan->state = SCAN_DONE;
    return RESP_OK;
}

void
request_grow_args(struct request_scan *scan)
{
    size_t cap = MIN((size_t)scan->args_cap * 2, (size_t)scan->argc);
    bool moving_out = scan->args == scan->few;
    struct resp_arg *args =
        mem_realloc(moving_out ? NULL : scan->args, cap * sizeof(*args));

    if (moving_out)
        memcpy(args, scan->few, sizeof(scan->few));
    scan->args = args;
    scan->args_cap = (uint32_t)cap;
}

/* Begin a header line; the sign is at hand. */
static enum resp_result
begin_number(struct request_scan *scan, struct request_input *in)
{
    scan->number = 0;
    scan->digits = 0;
    return go_on(scan, in, SCAN_DIGITS);
}

static enum resp_result
take_start(struct request_scan *scan, struct request_input *in)
{
    if (*in->at == '*')
        return begin_number(scan, in);
    scan->kind = REQUEST_INLINE;
    scan->state = SCAN_INLINE;
    return RESP_AGAIN;
}

static enum resp_result
finish_inline(struct request_scan *scan, struct view line)
{
    char name[sizeof("Host:")];
    struct inline_word word = {name, sizeof(name), 0};
    enum inline_found found = inline_next(&line, &word);

    if (found == INLINE_END)
        scan->kind = REQUEST_EMPTY;
    if (found == INLINE_WORD && word.len < sizeof(name) &&
        is_cross_protocol(view_of(name, word.len)))
        return request_fail_cross_protocol(scan);
    return done(scan);
}

/* Servers wait for ever on a NUL, which no line of words holds; what begins
 * so is another protocol, and better told at once. */
static enum resp_result
take_inline(struct request_scan *scan, struct request_input *in)
{
    size_t room = RESP_MAX_LINE + 1 - scan->size;
    size_t here = MIN((size_t)(in->end - in->at), room);
    const char *lf = memchr(in->at, '\n', here);
    size_t used = lf != NULL ? (size_t)(lf - in->at) + 1 : here;

    if (memchr(in->at, '\0', used) != NULL)
        return fail(scan, "NUL byte in inline request");
    if (lf == NULL && here == room)
        return fail(scan, "too big inline request");
    in->at += used;
    scan->size += used;
    if (lf == NULL)
        return RESP_AGAIN;
    return finish_inline(scan, view_of(in->first, scan->size));
}

/* An overlong number is read on, so that it gets the text servers give it;
 * line end or sign decide once the digits end. */
static enum resp_result
take_digits(struct request_scan *scan, struct request_input *in)
{
    for (; in->at < in->end && digit_value(*in->at) <= 9; in->at++) {
        uint64_t number = scan->number * 10 + digit_value(*in->at);
        if (scan->digits > 0 && scan->number == 0)
            return fail_length(scan);
        if (++scan->digits >= RESP_MAX_LINE)
            return fail_long_line(scan);
        scan->number = MIN(number, UINT32_MAX);
        scan->size++;
    }
    if (in->at == in->end)
        return RESP_AGAIN;
    if (*in->at == '\r' && scan->digits > 0)
        return go_on(scan, in, SCAN_LINE_END);
    if (*in->at == '-' && scan->digits == 0 && scan->argc == 0)
        return go_on(scan, in, SCAN_MINUS);
    return fail_length(scan);
}

/* "*-1" and what is less says the same as "*0": the number stays 0. */
static enum resp_result
take_minus(struct request_scan *scan, struct request_input *in)
{
    bool is_digit =
        digit_value(*in->at) <= 9 && (*in->at != '0' || scan->digits > 0);

    if (is_digit && scan->digits < MINUS_DIGITS) {
        scan->digits++;
        return go_on(scan, in, SCAN_MINUS);
    }
    if (*in->at != '\r' || scan->digits == 0)
        return fail_length(scan);
    return go_on(scan, in, SCAN_LINE_END);
}

static enum resp_result
finish_count(struct request_scan *scan, const struct request_limits *limits)
{
    if (scan->number > INT32_MAX)
        return fail_length(scan);
    if (limits->unauthenticated && scan->number > UNAUTHENTICATED_ARGS)
        return fail(scan, "unauthenticated multibulk length");
    if (scan->number > limits->max_args)
        return fail_length(scan);
    if (scan->number == 0) {
        scan->kind = REQUEST_EMPTY;
        return done(scan);
    }
    scan->argc = (uint32_t)scan->number;
    return RESP_AGAIN;
}

static enum resp_result
finish_length(struct request_scan *scan, const struct request_limits *limits)
{
    if (scan->number > RESP_MAX_BULK || scan->number > limits->max_bulk)
        return fail_length(scan);
    if (limits->unauthenticated && scan->number > UNAUTHENTICATED_BULK)
        return fail(scan, "unauthenticated bulk length");
    if (scan->size + scan->number + 2 > REQUEST_MAX)
        return fail(scan, "too big request");
    scan->bulk_len = (uint32_t)scan->number;
    scan->in_bulk = true;
    scan->known = scan->size + scan->number + 2;
    scan->state = SCAN_BULK;
    return RESP_AGAIN;
}

static enum resp_result
take_line_end(struct request_scan *scan, struct request_input *in)
{
    if (*in->at != '\n')
        return fail_length(scan);
    go_on(scan, in, SCAN_WORD);
    return scan->argc == 0 ? finish_count(scan, in->limits)
                           : finish_length(scan, in->limits);
}

static enum resp_result
take_word(struct request_scan *scan, struct request_input *in)
{
    if (*in->at != '$')
        return fail_dollar(scan, *in->at);
    return begin_number(scan, in);
}

static enum resp_result
take_bulk(struct request_scan *scan, struct request_input *in)
{
    size_t used = MIN(scan->number, (uint64_t)(in->end - in->at));

    in->at += used;
    scan->size += used;
    scan->number -= used;
    if (scan->number == 0)
        scan->state = SCAN_BULK_CR;
    return RESP_AGAIN;
}

static enum resp_result
keep_word(struct request_scan *scan, const char *first)
{
    if (scan->seen == scan->args_cap)
        request_grow_args(scan);
    scan->args[scan->seen++] = (struct resp_arg){
        (uint32_t)(scan->size - 2 - scan->bulk_len), scan->bulk_len};
    if (scan->seen == 1 && is_cross_protocol(request_arg(scan, first, 0)))
        return request_fail_cross_protocol(scan);
    return RESP_AGAIN;
}

static enum resp_result
finish_word(struct request_scan *scan, const char *first)
{
    scan->in_bulk = false;
    if (first == NULL)
        scan->skipped++;
    else if (keep_word(scan, first) == RESP_BAD)
        return RESP_BAD;
    return scan->seen + scan->skipped == scan->argc ? done(scan) : RESP_AGAIN;
}

static enum resp_result
take_bulk_end(struct request_scan *scan, struct request_input *in)
{
    char due = scan->state == SCAN_BULK_CR ? '\r' : '\n';

    if (*in->at != due)
        return fail(scan, "expected CRLF after bulk");
    if (due == '\r')
        return go_on(scan, in, SCAN_BULK_LF);
    go_on(scan, in, SCAN_WORD);
    return finish_word(scan, in->first);
}

enum resp_result
request_take(struct request_scan *scan, struct request_input *in)
{
    switch ((enum scan_state)scan->state) {
    case SCAN_START:
        return take_start(scan, in);
    case SCAN_INLINE:
        return take_inline(scan, in);
    case SCAN_DIGITS:
        return take_digits(scan, in);
    case SCAN_MINUS:
        return take_minus(scan, in);
    case SCAN_LINE_END:
        return take_line_end(scan, in);
    case SCAN_WORD:
        return take_word(scan, in);
    case SCAN_BULK:
        return take_bulk(scan, in);
    case SCAN_BULK_CR:
    case SCAN_BULK_LF:
        return take_bulk_end(scan, in);
    case SCAN_DONE:
    case SCAN_FAILED:
        break;
    }
    return request_verdict(scan);
}
