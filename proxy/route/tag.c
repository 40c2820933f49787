/*
 * route/tag.c - the part of a key that decides where it lives.
 *
 * twemproxy's rule, which for "{}" is also Redis Cluster's: one attempt, and
 * an empty tag is none.
 */
#include "route/route_priv.h"

struct view
tag_part(const char tag[2], struct view key)
{
    if (key.len == 0)
        return key;
    const char *open = memchr(key.data, tag[0], key.len);
    if (open == NULL)
        return key;

    const char *from = open + 1;
    size_t left = key.len - (size_t)(from - key.data);
    const char *close = left == 0 ? NULL : memchr(from, tag[1], left);
    if (close == NULL || close == from)
        return key;
    return view_of(from, (size_t)(close - from));
}
