/*
 * resp/resp_priv.h - what the files of this room share.
 *
 * Both scanners have two gaits.  While a piece of the protocol lies before
 * them whole and in its plain spelling, they run over it with the helpers
 * below; whatever these decline, be it cut, odd or wrong, is walked through
 * byte by byte by a state machine, which alone knows what is an error.  So
 * the fast gait may decline anything, but may accept nothing that the slow
 * one would not.
 */
#ifndef RESP_RESP_PRIV_H
#define RESP_RESP_PRIV_H

#include <stdbool.h>
#include <string.h>

#include "base/view.h"

/* One comparison of two bytes, whatever the byte order. */
static inline bool
is_crlf(const char *p)
{
    uint16_t here, crlf;

    memcpy(&here, p, sizeof(here));
    memcpy(&crlf, "\r\n", sizeof(crlf));
    return here == crlf;
}

static inline uint32_t
digit_value(char c)
{
    return (uint32_t)(unsigned char)c - '0';
}

/* Add the digits at p to *number: NULL at the end of the bytes, after a
 * leading zero and past nine digits, else where the digits end. */
static inline const char *
read_more_digits(const char *p, const char *end, uint32_t *number)
{
    for (; p < end; p++) {
        uint32_t digit = digit_value(*p);
        if (digit > 9)
            return p;
        /* Zero wraps round here, so one comparison declines both. */
        if (*number - 1 >= 99999999)
            return NULL;
        *number = *number * 10 + digit;
    }
    return NULL;
}

/* Read a header line that is here whole, p being at its sign ("$12" CR LF):
 * where it ends, or NULL to decline. */
static inline const char *
read_header(const char *p, const char *end, uint32_t *value)
{
    if (end - p < 4)
        return NULL;
    *value = digit_value(p[1]);
    if (*value > 9)
        return NULL;
    p += 2;
    if (is_crlf(p))
        return p + 2;
    /* Two digits, without a loop. */
    uint32_t second = digit_value(*p);
    if (second <= 9 && *value > 0 && end - p >= 3 && is_crlf(p + 1)) {
        *value = *value * 10 + second;
        return p + 3;
    }
    p = read_more_digits(p, end, value);
    return p != NULL && end - p >= 2 && is_crlf(p) ? p + 2 : NULL;
}

/* The end of a bulk of `len` bytes whose payload begins at p, when it is here
 * whole with its line end; NULL otherwise. */
static inline const char *
whole_bulk(const char *p, const char *end, uint32_t len)
{
    if ((size_t)(end - p) < (size_t)len + 2 || !is_crlf(p + len))
        return NULL;
    return p + len + 2;
}

/* What inline_word() found. */
enum inline_found { INLINE_WORD, INLINE_END, INLINE_UNBALANCED };

/* A decoded word of an inline request; bytes past `cap` are only counted. */
struct inline_word {
    char *data;
    size_t cap;
    size_t len;
};

/* Decode the next word of a line and advance *rest behind it. */
enum inline_found inline_next(struct view *rest, struct inline_word *word);

#endif
