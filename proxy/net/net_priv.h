/*
 * net/net_priv.h - what the files of this room know of each other.
 */
#ifndef NET_NET_PRIV_H
#define NET_NET_PRIV_H

#include <sys/queue.h>

#include "net/loop.h"
#include "net/stream.h"

#define LOOP_HOOKS 4
#define LOOP_READY 256 /* more events than this are not kept in order */
#define LOOP_SCRATCH 65536 /* small extents are copied here to be written */
#define LINGER_US 500 /* output waits no longer for what will follow, ... */
#define LINGER_MS 1   /* ... or so while there is nothing to be done */
#define LINGER_BYTES 4096 /* output of this much does not wait */

TAILQ_HEAD(stream_list, stream);

struct loop {
    struct loop_face face; /* first */
    struct ev_loop *ev;
    ev_check turn_start;
    ev_prepare turn_end;
    struct stream *ready[LOOP_READY]; /* have events, the last first; or NULL */
    unsigned ready_count;
    ev_check events;                  /* when all of the turn are here */
    struct stream_list dirty;     /* have something to write */
    struct stream_list lingering; /* the same, but it may wait for more */
    ev_timer overdue;             /* active while some linger, or longer */
    struct grave *graves;
    struct {
        turn_fn fn;
        void *arg;
    } hooks[LOOP_HOOKS];
    unsigned hook_count;
    bool again; /* loop_turn_again() has been called */
    char scratch[LOOP_SCRATCH];
};

/* Something has happened to it; stream_on_ready() is called in this turn. */
void loop_add_ready(struct loop *loop, struct stream *stream);
/* It is closed before that. */
void loop_drop_ready(struct loop *loop, const struct stream *stream);
/* In net/stream.c. */
void stream_on_ready(struct stream *stream);

/* May what it has wait for what will follow? */
bool stream_lingers(struct stream *stream) MUST_CHECK;

/* It waits no longer among those that do. */
void stream_stop_lingering(struct stream *stream);

/* Write what the stream has; at the end of a turn.  In net/stream.c. */
void stream_flush(struct stream *stream);

#endif
