/*
 * command/redirect.c - the words of MOVED and ASK.
 */
#include "command/redirect.h"

#include <string.h>

#include "route/route.h"

/* "host:port", cut at the last colon. */
static bool
parse_place(struct redirect *redirect, struct view place)
{
    const char *colon = memrchr(place.data, ':', place.len);
    uint64_t port;

    if (colon == NULL)
        return false;
    redirect->host = view_of(place.data, (size_t)(colon - place.data));
    struct view digits = view_of(
        colon + 1, place.len - redirect->host.len - 1);
    if (!view_to_u64(digits, &port) || port == 0 || port > UINT16_MAX)
        return false;
    redirect->port = (uint16_t)port;
    return true;
}

bool
redirect_parse(struct redirect *redirect, struct view line)
{
    struct view rest = view_trim_line(line);
    struct view word = view_take(&rest, ' ');
    uint64_t slot;

    if (!view_equal(word, VIEW("-MOVED")) && !view_equal(word, VIEW("-ASK")))
        return false;
    if (!view_to_u64(view_take(&rest, ' '), &slot) || slot >= ROUTE_SLOTS)
        return false;
    redirect->slot = (uint32_t)slot;
    struct view place = view_take(&rest, ' ');
    return rest.len == 0 && parse_place(redirect, place);
}
