/*
 * net/net_priv.h - what the files of this room know of each other.
 */
#ifndef NET_NET_PRIV_H
#define NET_NET_PRIV_H

#include <sys/queue.h>

#include "net/loop.h"
#include "net/stream.h"

#define LOOP_HOOKS 4
#define LOOP_SCRATCH 65536 /* small extents are copied here to be written */

struct loop {
    struct ev_loop *ev;
    ev_check turn_start;
    ev_prepare turn_end;
    uint64_t start_us;
    uint64_t now_us;
    struct chunk_pool chunks;
    TAILQ_HEAD(, stream) dirty; /* have something to write */
    struct grave *graves;
    struct {
        turn_fn fn;
        void *arg;
    } hooks[LOOP_HOOKS];
    unsigned hook_count;
    bool again; /* loop_turn_again() has been called */
    char scratch[LOOP_SCRATCH];
};

/* Write what the stream has; at the end of a turn.  In net/stream.c. */
void stream_flush(struct stream *stream);

#endif
