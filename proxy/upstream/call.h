/*
 * upstream/call.h - one request on a lane, and the reply that it waits for.
 *
 *   idle --submit--> waiting --pushed--> sent --reply or loss--> idle
 *
 * A call is embedded in its maker, who keeps it alive until it is idle again:
 * until the last on_reply piece, on_lost, or a lane_withdraw() that worked.
 * Each submit ends in exactly one of these.
 */
#ifndef UPSTREAM_CALL_H
#define UPSTREAM_CALL_H

#include <stdbool.h>
#include <sys/queue.h>

#include "base/chain.h"
#include "base/close_reason.h"

struct call;
struct lane;

enum call_state {
    CALL_IDLE,    /* nowhere */
    CALL_WAITING, /* queued; not a byte of it can have left */
    CALL_SENT     /* given to the socket; its reply is awaited */
};

/* A piece of a reply, as it arrives.  Small replies come in one piece. */
struct reply_piece {
    struct chunk *chunk; /* borrowed: ref it to keep it */
    uint32_t off;
    uint32_t len;
    char type;     /* of the whole reply: enum resp_type */
    bool last;     /* the reply ends here: *call done* */
    uint64_t size; /* of the reply up to the end of this piece */
};

struct call_ops {
    /* Progress, and done with piece->last. */
    void (*on_reply)(struct call *call, const struct reply_piece *piece);
    /* The lane is gone.  `sent`: some of the call may have reached the
     * server. */
    void (*on_lost)(struct call *call, enum close_reason why, bool sent);
    /* An open body may be fed: the first time, and after lane_is_full().  NULL
     * where no body is ever open. */
    void (*on_drain)(struct call *call);
    /* Somebody else has queued a call behind this one, whose reply the lane
     * has stopped reading.  May be NULL. */
    void (*on_contended)(struct call *call);
    /* A leading reply, or the one to ASKING: before its own.  May be NULL. */
    void (*on_leading)(struct call *call, const struct reply_piece *piece);
};

struct call {
    TAILQ_ENTRY(call) link;
    const struct call_ops *ops;
    struct lane *lane;
    struct extent body; /* the request's bytes; the ref is the maker's */
    uint64_t sent_us;   /* when it was given to the socket */
    uint64_t start;     /* lane position of its first byte, once sent */
    uint64_t body_size; /* bytes pushed, fed ones included */
    enum call_state state;
    uint32_t leading;   /* replies to the body that come before its own */
    uint32_t skip;      /* of these, and to ASKING: still to come */
    bool body_open;     /* more of the body will be fed */
    bool asking;        /* ASKING goes in front, in one piece with it */
};

/* Has the server refused what a client has chosen?  What it said stands with it. */
static inline bool
call_was_refused(enum close_reason why)
{
    return why == CLOSE_SERVER_DATABASE || why == CLOSE_SERVER_LOGIN;
}

static inline void
call_init(struct call *call, const struct call_ops *ops)
{
    *call = (struct call){.ops = ops};
}

#endif
