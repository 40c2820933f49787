/*
 * command/glob.c - matching without recursion.
 *
 * When a mismatch comes behind a star, the last star takes one byte more of the
 * text and matching goes on behind it; earlier stars need no second try, since
 * the last one can reach whatever they could.
 */
#include "command/glob.h"

struct glob {
    struct view pattern;
    bool folds; /* letters compare without case */
};

static unsigned char
fold(const struct glob *glob, char c)
{
    bool is_upper = c >= 'A' && c <= 'Z';

    return (unsigned char)(glob->folds && is_upper ? c + 32 : c);
}

static bool
in_range(unsigned char c, unsigned char from, unsigned char to)
{
    return from <= to ? c >= from && c <= to : c >= to && c <= from;
}

/* *at is behind '['; moves it behind the ']' and says if c is in the set. */
static bool
set_has(const struct glob *glob, size_t *at, unsigned char c)
{
    const struct view pattern = glob->pattern;
    const char *p = pattern.data;
    size_t i = *at;
    bool negated = i < pattern.len && p[i] == '^';
    bool found = false;

    i += negated;
    for (; i < pattern.len && p[i] != ']'; i++) {
        if (p[i] == '\\' && i + 1 < pattern.len) {
            found |= fold(glob, p[++i]) == c;
        } else if (i + 2 < pattern.len && p[i + 1] == '-') {
            found |= in_range(c, fold(glob, p[i]), fold(glob, p[i + 2]));
            i += 2;
        } else {
            found |= fold(glob, p[i]) == c;
        }
    }
    *at = MIN(i + 1, pattern.len);
    return found != negated;
}

/* Match one byte against what stands at *at, which is no star, and step over
 * that. */
static bool
match_one(const struct glob *glob, size_t *at, char byte)
{
    const struct view pattern = glob->pattern;
    char p = pattern.data[(*at)++];

    if (p == '?')
        return true;
    if (p == '[')
        return set_has(glob, at, fold(glob, byte));
    if (p == '\\' && *at < pattern.len)
        p = pattern.data[(*at)++];
    return fold(glob, p) == fold(glob, byte);
}

static bool
match(const struct glob *glob, struct view text)
{
    const struct view pattern = glob->pattern;
    size_t p = 0, t = 0;
    size_t star = SIZE_MAX; /* behind the last star; SIZE_MAX: none yet */
    size_t star_text = 0;   /* what that star has not taken */

    while (t < text.len) {
        if (p < pattern.len && pattern.data[p] == '*') {
            star = ++p;
            star_text = t;
        } else if (p < pattern.len && match_one(glob, &p, text.data[t])) {
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

bool
glob_match(struct view pattern, struct view text)
{
    return match(&(struct glob){.pattern = pattern}, text);
}

bool
glob_match_nocase(struct view pattern, struct view text)
{
    return match(&(struct glob){.pattern = pattern, .folds = true}, text);
}
