/*
 * command/redirect.h - where MOVED and ASK point to.
 *
 *   -MOVED 12182 127.0.0.1:7103        -ASK 5061 :7102
 *
 * Pure.  The host may be empty (the host of the node that was asked), "?"
 * (unknown), a name, or an IPv6 address without brackets, so the port stands
 * behind the last colon.
 */
#ifndef COMMAND_REDIRECT_H
#define COMMAND_REDIRECT_H

#include <stdbool.h>

#include "base/view.h"

struct redirect {
    uint32_t slot;    /* below ROUTE_SLOTS */
    struct view host; /* in the line; empty: the host of the node asked */
    uint16_t port;
};

/* `line` is a MOVED or ASK reply from its '-' on, with or without CRLF.  False:
 * it says something else. */
bool redirect_parse(struct redirect *redirect, struct view line) MUST_CHECK;

#endif
