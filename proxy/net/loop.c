/*
 * net/loop.c - libev behind our own names.
 *
 * The end of a turn is libev's prepare watcher, which runs right before the
 * loop blocks.
 */
#include "net/loop.h"

#include <time.h>

#include "base/mem.h"
#include "net/net_priv.h"

#define US_PER_SECOND 1000000u
#define LOOP_WATCHERS 3 /* turn_start, events, turn_end */

static void
empty_graves(struct loop *loop)
{
    while (loop->graves != NULL) {
        struct grave *grave = loop->graves;
        loop->graves = grave->next;
        grave->free(grave);
    }
}

/* Writing may let a stream's owner queue more, so go on until all is quiet:
 * each round has consumed input that was already here, which is finite. */
static void
write_dirty(struct loop *loop)
{
    struct stream *stream;

    while ((stream = TAILQ_FIRST(&loop->dirty)) != NULL) {
        TAILQ_REMOVE(&loop->dirty, stream, dirty_link);
        stream->is_dirty = false;
        if (stream_lingers(stream)) {
            stream->is_lingering = true;
            TAILQ_INSERT_TAIL(&loop->lingering, stream, dirty_link);
        } else {
            stream_flush(stream);
        }
    }
}

/* --- lingering ------------------------------------------------------------ */

/* A write costs far more than the bytes that it carries.  So the output of a
 * stream to which more will follow waits for that: not for long, and the timer
 * sees to it when nothing else wakes the loop. */

static void
write_lingering(struct stream *stream)
{
    stream_stop_lingering(stream);
    stream_flush(stream);
}

/* Those that came back to the list stand behind younger ones: they are asked
 * again whenever they get more, so none waits for long. */
static void
write_overdue(struct loop *loop)
{
    struct stream *stream;

    while ((stream = TAILQ_FIRST(&loop->lingering)) != NULL &&
           loop->face.now_us - stream->linger_us >= LINGER_US)
        write_lingering(stream);
    if (stream != NULL && !ev_is_active(&loop->overdue)) {
        ev_timer_set(&loop->overdue, LINGER_MS / 1e3, 0.);
        ev_timer_start(loop->ev, &loop->overdue);
    }
}

/* The turn that it makes is all that is needed. */
static void
on_overdue(struct ev_loop *ev, ev_timer *watcher, int revents)
{
    (void)ev;
    (void)watcher;
    (void)revents;
}

/* --- events ------------------------------------------------------------------- */

/* libev calls for the last event first.  Whoever came first shall be served
 * first, as by a server, so that of two clients one who has seen what the other
 * sent is not ahead of that.  Those that are closed meanwhile are left out, since
 * nothing is known of their memory then. */

static void
serve_ready(struct loop *loop)
{
    while (loop->ready_count > 0) {
        struct stream *stream = loop->ready[--loop->ready_count];
        if (stream != NULL)
            stream_on_ready(stream);
    }
}

void
loop_add_ready(struct loop *loop, struct stream *stream)
{
    if (unlikely(loop->ready_count == LOOP_READY))
        serve_ready(loop);
    loop->ready[loop->ready_count++] = stream;
}

void
loop_drop_ready(struct loop *loop, const struct stream *stream)
{
    for (unsigned i = 0; i < loop->ready_count; i++) {
        if (loop->ready[i] == stream)
            loop->ready[i] = NULL;
    }
}

/* Behind all events of sockets, before timers. */
static void
on_events(struct ev_loop *ev, ev_check *watcher, int revents)
{
    (void)ev;
    (void)revents;
    serve_ready(watcher->data);
}

/* --- turns ------------------------------------------------------------------ */

static void
run_hooks(struct loop *loop)
{
    for (unsigned i = 0; i < loop->hook_count; i++)
        loop->hooks[i].fn(loop->hooks[i].arg);
}

/* Not ev_now(), which follows when somebody sets the system's clock. */
static uint64_t
clock_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * US_PER_SECOND + (uint64_t)now.tv_nsec / 1000;
}

static void
read_clock(struct loop *loop)
{
    loop->face.now_us = clock_us();
}

/* Before any other callback of the turn. */
static void
on_turn_start(struct ev_loop *ev, ev_check *watcher, int revents)
{
    (void)ev;
    (void)revents;
    read_clock(watcher->data);
}

static void
on_turn_end(struct ev_loop *ev, ev_prepare *watcher, int revents)
{
    struct loop *loop = watcher->data;

    (void)ev;
    (void)revents;
    do {
        run_hooks(loop);
        loop->again = false;
        write_dirty(loop);
        write_overdue(loop);
    } while (loop->again || !TAILQ_EMPTY(&loop->dirty));
    empty_graves(loop);
    chunk_pool_settle(&loop->face.chunks);
}

/* None of them keeps the loop alive. */
static void
start_watchers(struct loop *loop)
{
    ev_prepare_init(&loop->turn_end, on_turn_end);
    loop->turn_end.data = loop;
    ev_prepare_start(loop->ev, &loop->turn_end);
    ev_check_init(&loop->turn_start, on_turn_start);
    ev_set_priority(&loop->turn_start, EV_MAXPRI);
    loop->turn_start.data = loop;
    ev_check_start(loop->ev, &loop->turn_start);
    ev_check_init(&loop->events, on_events);
    ev_set_priority(&loop->events, EV_MINPRI + 1);
    loop->events.data = loop;
    ev_check_start(loop->ev, &loop->events);
    for (unsigned i = 0; i < LOOP_WATCHERS; i++)
        ev_unref(loop->ev);
}

struct loop *
loop_new(void)
{
    struct loop *loop = MEM_NEW(struct loop);

    loop->ev = ev_loop_new(EVFLAG_NOENV);
    ASSERT(loop->ev != NULL);
    read_clock(loop); /* for who asks before the first turn */
    TAILQ_INIT(&loop->dirty);
    TAILQ_INIT(&loop->lingering);
    ev_timer_init(&loop->overdue, on_overdue, 0., 0.);
    chunk_pool_init(&loop->face.chunks);
    start_watchers(loop);
    return loop;
}

void
loop_free(struct loop **loopp)
{
    struct loop *loop = *loopp;

    *loopp = NULL;
    if (loop == NULL)
        return;
    write_dirty(loop);
    while (!TAILQ_EMPTY(&loop->lingering))
        write_lingering(TAILQ_FIRST(&loop->lingering));
    ev_timer_stop(loop->ev, &loop->overdue);
    empty_graves(loop);
    for (unsigned i = 0; i < LOOP_WATCHERS; i++)
        ev_ref(loop->ev);
    ev_prepare_stop(loop->ev, &loop->turn_end);
    ev_check_stop(loop->ev, &loop->turn_start);
    ev_check_stop(loop->ev, &loop->events);
    ev_loop_destroy(loop->ev);
    chunk_pool_fini(&loop->face.chunks);
    mem_free(loop);
}

void
loop_run(struct loop *loop)
{
    ev_run(loop->ev, 0);
}

void
loop_stop(struct loop *loop)
{
    ev_break(loop->ev, EVBREAK_ALL);
}

uint64_t
loop_clock_us(struct loop *loop)
{
    ev_now_update(loop->ev);
    read_clock(loop);
    return loop->face.now_us;
}

/* --- timers -------------------------------------------------------------- */

static void
on_timer(struct ev_loop *ev, ev_timer *watcher, int revents)
{
    struct timer *timer = watcher->data;

    (void)ev;
    (void)revents;
    timer->fn(timer, timer->arg);
}

void
timer_init(struct timer *timer, struct loop *loop, timer_fn fn, void *arg)
{
    ev_timer_init(&timer->ev, on_timer, 0., 0.);
    /* What has arrived in time counts, even if we were busy meanwhile. */
    ev_set_priority(&timer->ev, EV_MINPRI);
    timer->ev.data = timer;
    timer->loop = loop;
    timer->fn = fn;
    timer->arg = arg;
}

void
timer_start(struct timer *timer, int64_t ms)
{
    ev_timer_stop(timer->loop->ev, &timer->ev);
    ev_timer_set(&timer->ev, (double)ms / 1e3, 0.);
    ev_timer_start(timer->loop->ev, &timer->ev);
}

void
timer_stop(struct timer *timer)
{
    if (timer->loop != NULL)
        ev_timer_stop(timer->loop->ev, &timer->ev);
}

bool
timer_is_active(struct timer *timer)
{
    return ev_is_active(&timer->ev) || ev_is_pending(&timer->ev);
}

/* --- wake-ups and signals ------------------------------------------------ */

static void
on_wakeup(struct ev_loop *ev, ev_async *watcher, int revents)
{
    struct wakeup *wakeup = watcher->data;

    (void)ev;
    (void)revents;
    wakeup->fn(wakeup, wakeup->arg);
}

void
wakeup_init(struct wakeup *wakeup, struct loop *loop, wakeup_fn fn, void *arg)
{
    ev_async_init(&wakeup->ev, on_wakeup);
    wakeup->ev.data = wakeup;
    wakeup->loop = loop;
    wakeup->fn = fn;
    wakeup->arg = arg;
    ev_async_start(loop->ev, &wakeup->ev);
}

void
wakeup_fini(struct wakeup *wakeup)
{
    ev_async_stop(wakeup->loop->ev, &wakeup->ev);
}

void
wakeup_send(struct wakeup *wakeup)
{
    ev_async_send(wakeup->loop->ev, &wakeup->ev);
}

static void
on_signal(struct ev_loop *ev, ev_signal *watcher, int revents)
{
    struct signal_watch *watch = watcher->data;

    (void)ev;
    (void)revents;
    watch->fn(watch, watcher->signum, watch->arg);
}

void
signal_watch_start(struct signal_watch *watch, struct loop *loop, int signal,
                   signal_fn fn, void *arg)
{
    ev_signal_init(&watch->ev, on_signal, signal);
    watch->ev.data = watch;
    watch->loop = loop;
    watch->fn = fn;
    watch->arg = arg;
    ev_signal_start(loop->ev, &watch->ev);
}

void
signal_watch_stop(struct signal_watch *watch)
{
    ev_signal_stop(watch->loop->ev, &watch->ev);
}

/* --- file descriptors of others ------------------------------------------ */

static void
on_fd(struct ev_loop *ev, ev_io *watcher, int revents)
{
    struct fd_watch *watch = watcher->data;

    (void)ev;
    watch->can_read = (revents & EV_READ) != 0;
    watch->can_write = (revents & EV_WRITE) != 0;
    watch->fn(watch, watch->arg);
}

void
fd_watch_start(struct fd_watch *watch, struct loop *loop, int fd, fd_fn fn,
               void *arg)
{
    ev_io_init(&watch->ev, on_fd, fd, EV_READ);
    watch->ev.data = watch;
    watch->loop = loop;
    watch->fn = fn;
    watch->arg = arg;
    ev_io_start(loop->ev, &watch->ev);
}

void
fd_watch_await(struct fd_watch *watch, bool reading, bool writing)
{
    ev_io_stop(watch->loop->ev, &watch->ev);
    ev_io_set(&watch->ev, watch->ev.fd,
              (reading ? EV_READ : 0) | (writing ? EV_WRITE : 0));
    ev_io_start(watch->loop->ev, &watch->ev);
}

void
fd_watch_stop(struct fd_watch *watch)
{
    if (watch->loop != NULL)
        ev_io_stop(watch->loop->ev, &watch->ev);
}

/* --- the end of a turn, graves ------------------------------------------- */

void
loop_on_turn_end(struct loop *loop, turn_fn fn, void *arg)
{
    ASSERT(loop->hook_count < LOOP_HOOKS);
    loop->hooks[loop->hook_count].fn = fn;
    loop->hooks[loop->hook_count].arg = arg;
    loop->hook_count++;
}

void
loop_turn_again(struct loop *loop)
{
    loop->again = true;
}

void
loop_bury(struct loop *loop, struct grave *grave, grave_fn free)
{
    grave->free = free;
    grave->next = loop->graves;
    loop->graves = grave;
}
