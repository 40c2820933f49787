/*
 * net/loop.h - one thread's turn: timers, wake-ups, graves, the end of a turn.
 *
 *   poll -> events: read, deliver, queue -> turn end: hooks, write -> graves
 *
 * Whatever is queued for sockets during a turn is written at its end, once a
 * socket (net/stream.h).  Nothing is freed inside its own callback: an object
 * that ends is laid in the grave list, which is emptied after the writes.
 *
 * A loop and everything on it belong to one thread, except wakeup_send().
 * net/loop.[ch] are the only files that see libev; tests link another net.
 */
#ifndef NET_LOOP_H
#define NET_LOOP_H

#include <ev.h>
#include <stdbool.h>

#include "base/base.h"
#include "base/chunk.h"

struct loop;
struct stream;

struct loop *loop_new(void);
/* Nothing may be left on it. */
void loop_free(struct loop **loopp);

/* Turn until loop_stop(). */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);

/* What every struct loop begins with: read several times for each request. */
struct loop_face {
    uint64_t now_us;
    struct chunk_pool chunks;
};

/* Microseconds of a clock that all threads share, read once a turn. */
static inline uint64_t
loop_now_us(const struct loop *loop)
{
    return ((const struct loop_face *)loop)->now_us;
}

/* The same, read now: for what must not wait for the next turn. */
uint64_t loop_clock_us(struct loop *loop);

/* The chunks of this thread. */
static inline struct chunk_pool *
loop_chunks(struct loop *loop)
{
    return &((struct loop_face *)loop)->chunks;
}

/* --- timers -------------------------------------------------------------- */

struct timer;
typedef void (*timer_fn)(struct timer *timer, void *arg);

struct timer {
    ev_timer ev;
    struct loop *loop;
    timer_fn fn;
    void *arg;
};

void timer_init(struct timer *timer, struct loop *loop, timer_fn fn,
                void *arg);
/* Fire once, `ms` after this turn; starting again moves it. */
void timer_start(struct timer *timer, int64_t ms);
void timer_stop(struct timer *timer);
/* Still to call its function; also when it is due, and the rest of the turn goes
 * first.  Starting it anew then would put the call off. */
bool timer_is_active(struct timer *timer);

/* --- wake-ups and signals ------------------------------------------------ */

struct wakeup;
typedef void (*wakeup_fn)(struct wakeup *wakeup, void *arg);

struct wakeup {
    ev_async ev;
    struct loop *loop;
    wakeup_fn fn;
    void *arg;
};

void wakeup_init(struct wakeup *wakeup, struct loop *loop, wakeup_fn fn,
                 void *arg);
void wakeup_fini(struct wakeup *wakeup);
/* From any thread; several before the next turn make one call. */
void wakeup_send(struct wakeup *wakeup);

struct signal_watch;
typedef void (*signal_fn)(struct signal_watch *watch, int signal, void *arg);

struct signal_watch {
    ev_signal ev;
    struct loop *loop;
    signal_fn fn;
    void *arg;
};

void signal_watch_start(struct signal_watch *watch, struct loop *loop,
                        int signal, signal_fn fn, void *arg);
void signal_watch_stop(struct signal_watch *watch);

/* --- file descriptors of others ------------------------------------------ */

struct fd_watch;
typedef void (*fd_fn)(struct fd_watch *watch, void *arg);

/* For what is not a stream: listeners, the descriptors of a library. */
struct fd_watch {
    ev_io ev;
    struct loop *loop;
    fd_fn fn;
    void *arg;
    bool can_read; /* while fn is called: what it is called for */
    bool can_write;
};

/* Call fn whenever fd is readable, until stopped. */
void fd_watch_start(struct fd_watch *watch, struct loop *loop, int fd,
                    fd_fn fn, void *arg);
/* The same for either, or both; may be changed without stopping it. */
void fd_watch_await(struct fd_watch *watch, bool reading, bool writing);
void fd_watch_stop(struct fd_watch *watch);

/* --- the end of a turn --------------------------------------------------- */

typedef void (*turn_fn)(void *arg);

/* Call fn at the end of every turn, before anything is written. */
void loop_on_turn_end(struct loop *loop, turn_fn fn, void *arg);

/* There is something to do for these functions: should the turn be writing
 * already, they are called once more before the loop sleeps. */
void loop_turn_again(struct loop *loop);

/* --- graves -------------------------------------------------------------- */

struct grave;
typedef void (*grave_fn)(struct grave *grave);

struct grave {
    struct grave *next;
    grave_fn free;
};

/* Call `free` after this turn's writes.  An object is buried once. */
void loop_bury(struct loop *loop, struct grave *grave, grave_fn free);

#endif
