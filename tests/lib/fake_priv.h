/*
 * tests/lib/fake_priv.h - what the files of the fake net know of each other.
 */
#ifndef TESTS_LIB_FAKE_PRIV_H
#define TESTS_LIB_FAKE_PRIV_H

#include <sys/queue.h>

#include "fake_net.h"
#include "net/stream.h"

#define FAKE_HOOKS 4

/* Far above every real descriptor, so that asking the system about one of ours
 * fails and hits nobody else's. */
#define FAKE_FD_FIRST 1000000

struct fake_alarm {
    struct timer *timer;
    uint64_t due_us;
    uint64_t order; /* of starting; equal times fire in this order */
};

struct loop {
    struct loop_face face; /* first */
    struct fake_alarm *alarms; /* of active timers, in no order */
    size_t alarm_count;
    size_t alarm_cap;
    uint64_t alarms_started;
    struct wakeup **wakeups; /* sent, not yet run */
    size_t wakeup_count;
    struct fake_peer **peers; /* a client's descriptor is its place here */
    size_t peer_count;
    TAILQ_HEAD(, stream) dirty;
    struct grave *graves;
    struct {
        turn_fn fn;
        void *arg;
    } hooks[FAKE_HOOKS];
    unsigned hook_count;
    bool again;
    bool no_descriptors;
};

struct fake_peer *fake_peer_new(struct loop *loop);
void fake_peer_free(struct fake_peer *peer);

/* What the stream's socket has to say in this turn; false: nothing. */
bool fake_stream_event(struct stream *stream);
/* Write what the stream has; at the end of a turn. */
void fake_stream_flush(struct stream *stream);

#endif
