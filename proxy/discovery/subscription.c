/*
 * discovery/subscription.c - listening, and beginning again.
 */
#include "discovery/subscription.h"

#include "base/dice.h"
#include "resp/reply_read.h"

#define PAUSE_MIN_MS 50
#define PAUSE_MAX_MS 2000
#define PAUSE_DOUBLINGS 6
#define LOOK_MS 1000           /* how often silence is looked at */
#define QUIET_US 2000000       /* then it is sent a PING ... */
#define SILENCE_US 6000000     /* ... and then given up */
#define PING_TEXT "*1\r\n$4\r\nPING\r\n"

static const struct stream_ops subscription_stream_ops;

static void
set_state(struct subscription *subscription, enum subscription_state state)
{
    subscription->state = state;
}

static uint64_t
now_of(const struct subscription *subscription)
{
    return loop_now_us(subscription->timer.loop);
}

static void
close_stream(struct subscription *subscription)
{
    if (subscription->stream.is_open)
        stream_close(&subscription->stream);
    buf_fini(&subscription->in);
    reply_scan_fini(&subscription->scan);
}

/* A quarter more or less, so that proxies do not come in step. */
static int64_t
pause_ms(struct subscription *subscription)
{
    unsigned doublings = MIN(subscription->failures, PAUSE_DOUBLINGS);
    int64_t pause = MIN(PAUSE_MIN_MS << doublings, PAUSE_MAX_MS);

    return pause - pause / 4 +
        (int64_t)dice_below(&subscription->dice, (uint64_t)pause / 2);
}

static void
lose(struct subscription *subscription, const char *why)
{
    close_stream(subscription);
    timer_start(&subscription->timer, pause_ms(subscription));
    subscription->failures++;
    set_state(subscription, SUBSCRIPTION_WAITING);
    subscription->ops->on_lost(subscription, why);
}

/* --- what comes -------------------------------------------------------------------- */

static bool
is_confirmation(struct view reply)
{
    struct reply_item item, kind;

    return reply_next(&reply, &item) &&
        (item.type == RESP_ARRAY || item.type == RESP_PUSH) &&
        reply_next(&reply, &kind) &&
        (view_equal(kind.text, VIEW("subscribe")) ||
         view_equal(kind.text, VIEW("psubscribe")));
}

/* Confirmations, the answers to AUTH and PING, messages; an error ends it. */
static void
take_reply(struct subscription *subscription, struct view reply)
{
    struct sentinel_message message;

    if (reply.data[0] == RESP_ERROR) {
        lose(subscription, "it refuses to be listened to");
    } else if (sentinel_read_message(reply, &message)) {
        subscription->ops->on_message(subscription, &message);
    } else if (subscription->state == SUBSCRIPTION_CONNECTING &&
               is_confirmation(reply)) {
        set_state(subscription, SUBSCRIPTION_LISTENING);
        subscription->failures = 0;
        timer_start(&subscription->timer, LOOK_MS);
        subscription->ops->on_listening(subscription);
    }
}

/* The next whole reply; false: there is none. */
static bool
next_reply(struct subscription *subscription, struct view *reply)
{
    struct buf *in = &subscription->in;
    size_t used = 0;

    if (subscription->scanned == in->len)
        return false;
    switch (reply_scan(&subscription->scan, in->data + subscription->scanned,
                       in->len - subscription->scanned, &used)) {
    case RESP_OK:
        *reply = view_of(in->data, subscription->scanned + used);
        return true;
    case RESP_AGAIN:
        subscription->scanned += used;
        return false;
    case RESP_BAD:
        break;
    }
    lose(subscription, "it breaks the protocol");
    return false;
}

/* The callbacks may end it, or begin it anew somewhere else: what was read is
 * kept apart. */
static void
take_replies(struct subscription *subscription)
{
    struct view reply;

    while (subscription->stream.is_open && next_reply(subscription, &reply)) {
        struct buf taken = {0};
        size_t rest = subscription->in.len - reply.len;
        buf_append_view(&taken, reply);
        memmove(subscription->in.data, subscription->in.data + reply.len, rest);
        subscription->in.len = rest;
        subscription->scanned = 0;
        reply_scan_init(&subscription->scan);
        take_reply(subscription, buf_view(&taken));
        buf_fini(&taken);
    }
}

static struct subscription *
of_stream(struct stream *stream)
{
    return CONTAINER_OF(stream, struct subscription, stream);
}

static void
on_input(struct stream *stream)
{
    struct subscription *subscription = of_stream(stream);
    size_t len = stream_input_len(stream);

    subscription->heard_us = now_of(subscription);
    buf_append(&subscription->in, stream_input_data(stream), len);
    stream_consume(stream, len);
    take_replies(subscription);
    if (subscription->stream.is_open &&
        subscription->in.len > SUBSCRIPTION_MESSAGE_MAX)
        lose(subscription, "a message is too long");
}

static void
on_connected(struct stream *stream)
{
    (void)stream; /* the greeting waits in its output */
}

static void
on_sent(struct stream *stream, size_t bytes)
{
    (void)stream;
    (void)bytes;
}

static void
on_end(struct stream *stream, enum stream_end end)
{
    lose(of_stream(stream), end == STREAM_REFUSED ? "cannot connect"
                                                  : "it closed the connection");
}

static const struct stream_ops subscription_stream_ops = {
    .on_connected = on_connected,
    .on_input = on_input,
    .on_sent = on_sent,
    .on_end = on_end,
};

/* --- when ----------------------------------------------------------------------------- */

static void
connect_now(struct subscription *subscription)
{
    static const struct stream_options options = {.keepalive = true};

    reply_scan_init(&subscription->scan);
    subscription->scanned = 0;
    if (stream_connect(&subscription->stream, subscription->timer.loop,
                       &subscription->address, &options,
                       &subscription_stream_ops) < 0) {
        lose(subscription, "no descriptor is left for a connection");
        return;
    }
    stream_push_copy(&subscription->stream, subscription->greeting.data,
                     subscription->greeting.len);
    set_state(subscription, SUBSCRIPTION_CONNECTING);
    timer_start(&subscription->timer, subscription->timeout_ms);
}

static void
look_at_silence(struct subscription *subscription)
{
    uint64_t quiet_us = now_of(subscription) - subscription->heard_us;

    if (quiet_us >= SILENCE_US) {
        lose(subscription, "it does not answer");
        return;
    }
    if (quiet_us >= QUIET_US)
        stream_push_copy(&subscription->stream, PING_TEXT,
                         sizeof(PING_TEXT) - 1);
    timer_start(&subscription->timer, LOOK_MS);
}

static void
on_timer(struct timer *timer, void *arg)
{
    struct subscription *subscription = arg;

    (void)timer;
    switch (subscription->state) {
    case SUBSCRIPTION_IDLE:
        break;
    case SUBSCRIPTION_WAITING:
        connect_now(subscription);
        break;
    case SUBSCRIPTION_CONNECTING:
        lose(subscription, "no answer in time");
        break;
    case SUBSCRIPTION_LISTENING:
        look_at_silence(subscription);
        break;
    }
}

/* --- life ------------------------------------------------------------------------------ */

void
subscription_init(struct subscription *subscription, struct loop *loop,
                  const struct subscription_ops *ops)
{
    *subscription = (struct subscription){
        .ops = ops,
        .dice = loop_clock_us(loop) ^ (uintptr_t)subscription,
    };
    timer_init(&subscription->timer, loop, on_timer, subscription);
}

void
subscription_start(struct subscription *subscription,
                   const struct address *to, struct view greeting,
                   int64_t timeout_ms)
{
    subscription_stop(subscription);
    subscription->address = *to;
    subscription->timeout_ms = timeout_ms;
    subscription->failures = 0;
    buf_append_view(&subscription->greeting, greeting);
    set_state(subscription, SUBSCRIPTION_WAITING);
    timer_start(&subscription->timer, 0);
}

void
subscription_stop(struct subscription *subscription)
{
    close_stream(subscription);
    timer_stop(&subscription->timer);
    buf_fini(&subscription->greeting);
    set_state(subscription, SUBSCRIPTION_IDLE);
}
