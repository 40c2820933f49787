/*
 * session/wait_look.h - WAIT, checked by what the primary says of its replicas.
 *
 *   [... | INFO | WAIT 2 100 | INFO]   how far is it, how many does it count, and
 *                                      how many are so far?
 *   [WAIT many 1 | INFO]               if fewer are than it counts: once more, for
 *                                      longer each time
 *
 * Some servers count from what the connection itself has written last, whatever
 * else it has sent since.  Then the count is too large for a session that wrote
 * over another connection meanwhile: with a large request, with another database,
 * under WATCH, with a blocking command.  A WAIT for more replicas than there are
 * has the server ask them all how far they are, for as long as it takes.
 *
 * Pure: time is an argument.
 */
#ifndef SESSION_WAIT_LOOK_H
#define SESSION_WAIT_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "base/buf.h"
#include "base/view.h"

#define WAIT_ANSWER_MAX (1u << 20) /* no answer that is meant is so long */

struct wait_look {
    bool is_on;        /* else nothing of it means anything */
    bool is_again;     /* the client's own WAIT has been answered */
    bool is_ended;     /* by CLIENT UNBLOCK: go by what is so now */
    bool knows;        /* ... `offset` */
    uint32_t pause_ms; /* of the next WAIT */
    uint32_t led;      /* leading answers that are whole */
    uint32_t front;    /* of these, before the first INFO */
    uint64_t offset;   /* where replicas must be */
    uint64_t until_us; /* UINT64_MAX: for ever */
    int64_t wanted;
    int64_t counted;   /* by the server */
    struct buf text;   /* of a leading answer so far */
    struct buf error;  /* of WAIT; empty: none */
};

/* Of the client's "WAIT wanted timeout". */
void wait_look_begin(struct wait_look *look, int64_t wanted, int64_t timeout_ms,
                     uint64_t now_us);
void wait_look_end(struct wait_look *look);

/* Append the next group of commands behind `front` others; `words` are the
 * client's WAIT.  Returns the number of leading answers. */
uint32_t wait_look_ask(struct wait_look *look, uint32_t front,
                       struct view words, struct buf *out);

/* A piece of a leading answer. */
void wait_look_lead(struct wait_look *look, struct view piece, bool last);

/* The last answer of the group.  True: it is over, with this answer for the
 * client; false: ask again. */
bool wait_look_take(struct wait_look *look, struct view reply, uint64_t now_us,
                    struct buf *answer) MUST_CHECK;

#endif
