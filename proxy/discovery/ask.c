/*
 * discovery/ask.c - gathering answers.
 */
#include "discovery/ask.h"

#include "config/settings.h"

static void
ask_close(struct ask *ask)
{
    ask->is_active = false;
    timer_stop(&ask->deadline);
    timer_stop(&ask->soon);
    if (ask->stream.is_open)
        stream_close(&ask->stream);
}

static void
ask_finish(struct ask *ask, const char *why)
{
    if (why != NULL || !ask->keeps)
        ask_close(ask);
    ask->is_active = false;
    timer_stop(&ask->deadline);
    for (unsigned i = 0; why == NULL && i < ask->wanted; i++) {
        size_t end = i + 1 < ask->wanted ? ask->starts[i + 1] : ask->scanned;
        ask->answers[i] =
            view_of(ask->in.data + ask->starts[i], end - ask->starts[i]);
    }
    ask->on_done(ask, why);
}

static void
on_deadline(struct timer *timer, void *arg)
{
    (void)timer;
    ask_finish(arg, "no answer in time");
}

static void
on_soon(struct timer *timer, void *arg)
{
    (void)timer;
    ask_finish(arg, "no descriptor is left for a connection");
}

/* --- the stream --------------------------------------------------------------- */

static void
on_connected(struct stream *stream)
{
    (void)stream; /* the questions wait in its output */
}

static void
on_sent(struct stream *stream, size_t bytes)
{
    (void)stream;
    (void)bytes;
}

/* What has come, up to the end of the last answer. */
static enum resp_result
scan_answers(struct ask *ask)
{
    enum resp_result result = RESP_OK;

    while (result == RESP_OK && ask->count < ask->wanted &&
           ask->scanned < ask->in.len) {
        size_t used = 0;
        result = reply_scan(&ask->scan, ask->in.data + ask->scanned,
                            ask->in.len - ask->scanned, &used);
        ask->scanned += used;
        if (result != RESP_OK)
            break;
        ask->count++;
        if (ask->count == 1 && ask->pushed_us > 0)
            ask->took_us =
                MAX(loop_clock_us(ask->deadline.loop) - ask->pushed_us, 1u);
        if (ask->count < ask->wanted)
            ask->starts[ask->count] = ask->scanned;
    }
    return result;
}

static void
on_input(struct stream *stream)
{
    struct ask *ask = CONTAINER_OF(stream, struct ask, stream);
    size_t len = stream_input_len(stream);

    if (!ask->is_active) {
        ask_close(ask); /* nobody has asked */
        return;
    }
    if (ask->in.len + len > ASK_ANSWERS_MAX) {
        ask_finish(ask, "the answer is too long");
        return;
    }
    buf_append(&ask->in, stream_input_data(stream), len);
    stream_consume(stream, len);
    if (scan_answers(ask) == RESP_BAD)
        ask_finish(ask, ask->scan.error);
    else if (ask->count == ask->wanted)
        ask_finish(ask, NULL);
}

static void
on_end(struct stream *stream, enum stream_end end)
{
    struct ask *ask = CONTAINER_OF(stream, struct ask, stream);

    if (!ask->is_active) {
        ask_close(ask);
        return;
    }
    ask_finish(ask, end == STREAM_REFUSED ? "cannot connect"
                                          : "it closed the connection");
}

static const struct stream_ops ask_stream_ops = {
    .on_connected = on_connected,
    .on_input = on_input,
    .on_sent = on_sent,
    .on_end = on_end,
};

/* --- the asker ------------------------------------------------------------------ */

void
ask_init(struct ask *ask, struct loop *loop, ask_fn on_done)
{
    *ask = (struct ask){.on_done = on_done};
    timer_init(&ask->deadline, loop, on_deadline, ask);
    timer_init(&ask->soon, loop, on_soon, ask);
}

void
ask_start(struct ask *ask, const struct address *to, struct view questions,
          unsigned count, int64_t timeout_ms)
{
    static const struct stream_options options = {.keepalive = false};
    struct loop *loop = ask->deadline.loop;

    ASSERT(!ask->is_active && count > 0 && count <= ASK_MAX);
    buf_fini(&ask->in);
    reply_scan_fini(&ask->scan);
    reply_scan_init(&ask->scan);
    ask->scanned = 0;
    ask->count = 0;
    ask->starts[0] = 0;
    ask->wanted = count;
    ask->is_active = true;
    ask->pushed_us = ask->stream.is_open ? loop_clock_us(loop) : 0;
    ask->took_us = 0;
    timer_start(&ask->deadline, timeout_ms);
    if (ask->stream.is_open) {
        stream_push_copy(&ask->stream, questions.data, questions.len);
        return;
    }
    if (stream_connect(&ask->stream, loop, to, &options, &ask_stream_ops) < 0)
        timer_start(&ask->soon, 0);
    else
        stream_push_copy(&ask->stream, questions.data, questions.len);
}

void
ask_cancel(struct ask *ask)
{
    ask_close(ask);
    buf_fini(&ask->in);
    reply_scan_fini(&ask->scan);
}
