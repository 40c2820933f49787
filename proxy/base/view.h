/*
 * base/view.h - some bytes that belong to somebody else.
 *
 * A view is two words, passed by value; it owns nothing and may hold any
 * bytes, NUL included.  Whoever keeps one must keep alive what it points at.
 */
#ifndef BASE_VIEW_H
#define BASE_VIEW_H

#include <stdbool.h>
#include <string.h>

#include "base/base.h"

struct view {
    const char *data;
    size_t len;
};

/* A view of a string literal or array, without its final NUL. */
#define VIEW(literal) ((struct view){(literal), sizeof(literal) - 1})

static inline struct view
view_of(const char *data, size_t len)
{
    return (struct view){data, len};
}

static inline struct view
view_str(const char *string)
{
    return (struct view){string, strlen(string)};
}

static inline bool
view_equal(struct view a, struct view b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

static inline bool
view_begins(struct view text, struct view start)
{
    return text.len >= start.len &&
        (start.len == 0 || memcmp(text.data, start.data, start.len) == 0);
}

/* ASCII letters compare without case, whatever the locale. */
bool view_equal_nocase(struct view a, struct view b) MUST_CHECK;

/* <0, 0, >0 by bytes (unsigned), a shorter prefix first. */
int view_compare(struct view a, struct view b) MUST_CHECK;

/* Take what stands before the next `end` off the front of `rest`, and the `end`
 * with it; all of it where there is none. */
struct view view_take(struct view *rest, char end);

/* Without the CR and LF at its end. */
struct view view_trim_line(struct view line);

/*
 * Parse an unsigned decimal: digits only, no sign, no space, the whole view;
 * false when it is anything else or does not fit 64 bits.
 */
bool view_to_u64(struct view text, uint64_t *value) MUST_CHECK;

/* The same with an optional leading '-'. */
bool view_to_i64(struct view text, int64_t *value) MUST_CHECK;

#endif
