/*
 * tests/lib/fake_loop.c - net/loop.h over a clock that the script moves.
 *
 * A turn is the real one's: timers, wake-ups, sockets, then hooks, writes and
 * graves.  What the real loop would sleep through before it does the next
 * thing is not done here either: a hook that counts on one more turn without
 * an event to cause it is found out.
 */
#include "net/loop.h"

#include "base/mem.h"
#include "fake_priv.h"

#define TURNS_MAX 20000000 /* far more than any script needs to come to rest */

struct loop *
loop_new(void)
{
    struct loop *loop = MEM_NEW(struct loop);

    loop->face.now_us = 1; /* a real clock never stands at 0 */
    TAILQ_INIT(&loop->dirty);
    chunk_pool_init(&loop->face.chunks);
    return loop;
}

static void
write_dirty(struct loop *loop)
{
    struct stream *stream;

    while ((stream = TAILQ_FIRST(&loop->dirty)) != NULL) {
        TAILQ_REMOVE(&loop->dirty, stream, dirty_link);
        stream->is_dirty = false;
        fake_stream_flush(stream);
    }
}

static void
empty_graves(struct loop *loop)
{
    while (loop->graves != NULL) {
        struct grave *grave = loop->graves;
        loop->graves = grave->next;
        grave->free(grave);
    }
}

void
loop_free(struct loop **loopp)
{
    struct loop *loop = *loopp;

    *loopp = NULL;
    if (loop == NULL)
        return;
    write_dirty(loop);
    empty_graves(loop);
    ASSERT(loop->alarm_count == 0);
    for (size_t i = 0; i < loop->peer_count; i++)
        fake_peer_free(loop->peers[i]);
    mem_free(loop->peers);
    mem_free(loop->alarms);
    mem_free(loop->wakeups);
    chunk_pool_fini(&loop->face.chunks);
    mem_free(loop);
}

uint64_t
loop_clock_us(struct loop *loop)
{
    return loop->face.now_us;
}

uint64_t
fake_live_bytes(const struct loop *loop)
{
    return loop->face.chunks.live_bytes;
}

/* --- timers --------------------------------------------------------------- */

static struct fake_alarm *
find_alarm(const struct loop *loop, const struct timer *timer)
{
    for (size_t i = 0; i < loop->alarm_count; i++) {
        if (loop->alarms[i].timer == timer)
            return &loop->alarms[i];
    }
    return NULL;
}

static struct fake_alarm *
first_alarm(const struct loop *loop)
{
    struct fake_alarm *first = NULL;

    for (size_t i = 0; i < loop->alarm_count; i++) {
        struct fake_alarm *alarm = &loop->alarms[i];
        if (first == NULL || alarm->due_us < first->due_us ||
            (alarm->due_us == first->due_us && alarm->order < first->order))
            first = alarm;
    }
    return first;
}

void
timer_init(struct timer *timer, struct loop *loop, timer_fn fn, void *arg)
{
    *timer = (struct timer){.loop = loop, .fn = fn, .arg = arg};
}

void
timer_start(struct timer *timer, int64_t ms)
{
    struct loop *loop = timer->loop;

    timer_stop(timer);
    if (loop->alarm_count == loop->alarm_cap) {
        loop->alarm_cap = MAX(2 * loop->alarm_cap, (size_t)16);
        loop->alarms =
            mem_realloc(loop->alarms, loop->alarm_cap * sizeof(*loop->alarms));
    }
    loop->alarms[loop->alarm_count++] = (struct fake_alarm){
        .timer = timer,
        .due_us = loop->face.now_us + (ms > 0 ? (uint64_t)ms * 1000 : 0),
        .order = loop->alarms_started++,
    };
}

void
timer_stop(struct timer *timer)
{
    struct loop *loop = timer->loop;
    struct fake_alarm *alarm = loop == NULL ? NULL : find_alarm(loop, timer);

    if (alarm != NULL)
        *alarm = loop->alarms[--loop->alarm_count];
}

bool
timer_is_active(struct timer *timer)
{
    return timer->loop != NULL && find_alarm(timer->loop, timer) != NULL;
}

/* Those that were started before this turn, the earliest first. */
static bool
fire_timers(struct loop *loop)
{
    uint64_t started = loop->alarms_started;
    struct fake_alarm *alarm;
    bool any = false;

    while ((alarm = first_alarm(loop)) != NULL &&
           alarm->due_us <= loop->face.now_us && alarm->order < started) {
        struct timer *timer = alarm->timer;
        timer_stop(timer);
        timer->fn(timer, timer->arg);
        any = true;
    }
    return any;
}

/* --- wake-ups, signals, descriptors --------------------------------------- */

void
wakeup_init(struct wakeup *wakeup, struct loop *loop, wakeup_fn fn, void *arg)
{
    *wakeup = (struct wakeup){.loop = loop, .fn = fn, .arg = arg};
}

static bool
forget_wakeup(struct loop *loop, const struct wakeup *wakeup)
{
    for (size_t i = 0; i < loop->wakeup_count; i++) {
        if (loop->wakeups[i] == wakeup) {
            loop->wakeups[i] = loop->wakeups[--loop->wakeup_count];
            return true;
        }
    }
    return false;
}

void
wakeup_fini(struct wakeup *wakeup)
{
    (void)forget_wakeup(wakeup->loop, wakeup);
}

void
wakeup_send(struct wakeup *wakeup)
{
    struct loop *loop = wakeup->loop;

    (void)forget_wakeup(loop, wakeup);
    loop->wakeups =
        mem_realloc(loop->wakeups,
                    (loop->wakeup_count + 1) * sizeof(*loop->wakeups));
    loop->wakeups[loop->wakeup_count++] = wakeup;
}

static bool
run_wakeups(struct loop *loop)
{
    size_t left = loop->wakeup_count;
    bool any = left > 0;

    for (; left > 0 && loop->wakeup_count > 0; left--) {
        struct wakeup *wakeup = loop->wakeups[0];
        (void)forget_wakeup(loop, wakeup);
        wakeup->fn(wakeup, wakeup->arg);
    }
    return any;
}

/* No script sends signals or has descriptors of others: these never fire. */
void
signal_watch_start(struct signal_watch *watch, struct loop *loop, int signal,
                   signal_fn fn, void *arg)
{
    (void)signal;
    *watch = (struct signal_watch){.loop = loop, .fn = fn, .arg = arg};
}

void
signal_watch_stop(struct signal_watch *watch)
{
    (void)watch;
}

void
fd_watch_start(struct fd_watch *watch, struct loop *loop, int fd, fd_fn fn,
               void *arg)
{
    (void)fd;
    *watch = (struct fd_watch){.loop = loop, .fn = fn, .arg = arg};
}

void
fd_watch_stop(struct fd_watch *watch)
{
    (void)watch;
}

/* --- turns ---------------------------------------------------------------- */

void
loop_on_turn_end(struct loop *loop, turn_fn fn, void *arg)
{
    ASSERT(loop->hook_count < FAKE_HOOKS);
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

static void
end_turn(struct loop *loop)
{
    do {
        for (unsigned i = 0; i < loop->hook_count; i++)
            loop->hooks[i].fn(loop->hooks[i].arg);
        loop->again = false;
        write_dirty(loop);
    } while (loop->again);
    empty_graves(loop);
    chunk_pool_settle(&loop->face.chunks);
}

static bool
run_events(struct loop *loop)
{
    bool any = fire_timers(loop);

    any |= run_wakeups(loop);
    /* A callback may connect: peers that it adds speak in this turn too, if
     * they have been told what to say. */
    for (size_t i = 0; i < loop->peer_count; i++) {
        struct stream *stream = loop->peers[i]->stream;
        if (stream != NULL)
            any |= fake_stream_event(stream);
    }
    return any;
}

bool
fake_settle(struct loop *loop)
{
    /* What the script did by itself is such an event. */
    if (loop->again || !TAILQ_EMPTY(&loop->dirty))
        end_turn(loop);
    for (long turns = 0; turns < TURNS_MAX; turns++) {
        if (!run_events(loop))
            return true;
        end_turn(loop);
    }
    return false;
}

bool
fake_advance(struct loop *loop, uint64_t us)
{
    uint64_t target = loop->face.now_us + us;
    struct fake_alarm *alarm;

    while ((alarm = first_alarm(loop)) != NULL && alarm->due_us <= target) {
        loop->face.now_us = MAX(loop->face.now_us, alarm->due_us);
        if (!fake_settle(loop))
            return false;
    }
    loop->face.now_us = target;
    return true;
}

void
loop_run(struct loop *loop)
{
    ASSERT(fake_settle(loop));
}

void
loop_stop(struct loop *loop)
{
    (void)loop;
}
