/*
 * command/glob.c - matching without recursion.
 *
 * When a mismatch comes behind a star, the last star takes one byte more of the
 * text and matching goes on behind it; earlier stars need no second try, since
 * the last one can reach whatever they could.
 */
#include "command/glob.h"

static unsigned char
lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

static bool
in_range(unsigned char c, unsigned char from, unsigned char to)
{
    return from <= to ? c >= from && c <= to : c >= to && c <= from;
}

/* *at is behind '['; moves it behind the ']' and says if c is in the set. */
static bool
set_has(struct view pattern, size_t *at, unsigned char c)
{
    const char *p = pattern.data;
    size_t i = *at;
    bool negated = i < pattern.len && p[i] == '^';
    bool found = false;

    i += negated;
    for (; i < pattern.len && p[i] != ']'; i++) {
        if (p[i] == '\\' && i + 1 < pattern.len) {
            found |= lower(p[++i]) == c;
        } else if (i + 2 < pattern.len && p[i + 1] == '-') {
            found |= in_range(c, lower(p[i]), lower(p[i + 2]));
            i += 2;
        } else {
            found |= lower(p[i]) == c;
        }
    }
    *at = MIN(i + 1, pattern.len);
    return found != negated;
}

/* Match one byte against what stands at *at, which is no star, and step over
 * that. */
static bool
match_one(struct view pattern, size_t *at, char byte)
{
    char p = pattern.data[(*at)++];

    if (p == '?')
        return true;
    if (p == '[')
        return set_has(pattern, at, lower(byte));
    if (p == '\\' && *at < pattern.len)
        p = pattern.data[(*at)++];
    return lower(p) == lower(byte);
}

bool
glob_match_nocase(struct view pattern, struct view text)
{
    size_t p = 0, t = 0;
    size_t star = SIZE_MAX; /* behind the last star; SIZE_MAX: none yet */
    size_t star_text = 0;   /* what that star has not taken */

    while (t < text.len) {
        if (p < pattern.len && pattern.data[p] == '*') {
            star = ++p;
            star_text = t;
        } else if (p < pattern.len && match_one(pattern, &p, text.data[t])) {
            t++;
        } else if (star != SIZE_MAX) {
            p = star;
            t = ++star_text;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.data[p] == '*')
        p++;
    return p == pattern.len;
}
