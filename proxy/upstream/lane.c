/*
 * upstream/lane.c - calls out, replies in, in the same order.
 */
#include "upstream/lane.h"

#include <string.h>

#include "base/doing.h"
#include "base/log_limit.h"
#include "base/mem.h"
#include "upstream/handshake.h"
#include "upstream/lane_priv.h"
#include "upstream/pool.h"
#include "upstream/server.h"

#define AROUND 64   /* bytes of a call's maker on both sides of it */
#define KEY_MAX 160 /* server and reason, to tell log lines apart */

static const bool legal_step[LANE_CLOSED + 1][LANE_CLOSED + 1] = {
    [LANE_CONNECTING] = {[LANE_HANDSHAKE] = true, [LANE_CLOSED] = true},
    [LANE_HANDSHAKE] = {[LANE_READY] = true, [LANE_CLOSED] = true},
    [LANE_READY] = {[LANE_CLOSED] = true},
};

void
lane_set_state(struct lane *lane, enum lane_state state)
{
    ASSERT(legal_step[lane->state][state]);
    lane->state = state;
}

/* --- failing ---------------------------------------------------------------- */

static void
count_unqueued(struct lane *lane, const struct call *call)
{
    struct server_stats *stats = lane->server->stats;

    if (call->state == CALL_WAITING) {
        cell_dec(&stats->in_queue);
        cell_sub(&stats->in_queue_bytes, call->body.len);
    } else {
        cell_dec(&stats->out_queue);
        cell_sub(&stats->out_queue_bytes, call->body_size);
    }
}

/* The call is in no queue any more. */
static void
call_set_idle(struct call *call)
{
    call->state = CALL_IDLE;
    call->body_open = false;
    call->lane = NULL;
}

static void
fail_calls(struct lane *lane, struct call_queue *queue, enum close_reason why)
{
    struct call *call;

    while ((call = TAILQ_FIRST(queue)) != NULL) {
        bool sent = call->state == CALL_SENT && call->start < lane->written;
        TAILQ_REMOVE(queue, call, link);
        count_unqueued(lane, call);
        call_set_idle(call);
        call->ops->on_lost(call, why, sent);
    }
}

static void
lane_free(struct grave *grave)
{
    struct lane *lane = CONTAINER_OF(grave, struct lane, grave);

    reply_scan_fini(&lane->scan);
    mem_free(lane);
}

/* Nobody is surprised by the end of a connection that is not in use. */
static void
lane_log_end(const struct lane *lane, enum close_reason why)
{
    const struct server *server = lane->server;
    bool is_unused = lane->state == LANE_READY && lane_is_idle(lane);
    enum log_level level = is_unused || server->pool->is_quiet
        ? LOG_LEVEL_DEBUG
        : close_reason_level(why);
    char addr[ADDRESS_TEXT_MAX], key[KEY_MAX];

    if (!log_is_on(level))
        return;
    snprintf(key, sizeof(key), "%s/%s", server->name, close_reason_name(why));
    log_limited(level, server->settings->name, key,
                "connection to server ended",
                "pool=%s server=%s addr=%s reason=%s detail=\"%s\" "
                "unanswered=%u",
                server->settings->name, server->name,
                address_format(&lane->address, addr), close_reason_name(why),
                lane->detail != NULL ? lane->detail : "", lane->sent_count);
}

void
lane_close(struct lane **lanep, enum close_reason why)
{
    struct lane *lane = *lanep;

    *lanep = NULL;
    if (lane == NULL || lane->state == LANE_CLOSED)
        return;
    lane_log_end(lane, why);
    cell_inc(&lane->server->stats->closed[why]);
    enum lane_state before = lane->state;
    lane_set_state(lane, LANE_CLOSED);
    timer_stop(&lane->timer);
    stream_close(&lane->stream);
    address_list_unref(&lane->trying);
    lane->upload = NULL;
    if (before != LANE_READY)
        cell_inc(&lane->server->stats->connect_failures);
    server_on_lane_closed(lane, why);
    fail_calls(lane, &lane->sent, why);
    fail_calls(lane, &lane->waiting, why);
    loop_bury(lane->server->pool->loop, &lane->grave, lane_free);
}

/* The end of an idle connection says nothing about its server. */
static void
lane_report_end(struct lane *lane, enum close_reason why)
{
    if (why == CLOSE_NO_SOCKET)
        return; /* the fault is ours */
    if (why == CLOSE_SERVER_CONNECT_TIMEOUT)
        server_report(lane->server, INCIDENT_SLOW);
    else if (lane->state != LANE_READY)
        server_report(lane->server, INCIDENT_CONNECT);
    else if (!TAILQ_EMPTY(&lane->sent) && close_reason_is_error(why) &&
             why != CLOSE_SERVER_SILENT)
        server_report(lane->server, INCIDENT_LOST);
}

void
lane_fail(struct lane *lane, enum close_reason why, const char *detail)
{
    lane->detail = detail;
    lane_report_end(lane, why);
    if (lane->state == LANE_HANDSHAKE)
        server_note_address(lane->server, &lane->address, false);
    lane_close(&lane, why);
}

void
lane_fail_waiting(struct lane *lane, enum close_reason why)
{
    fail_calls(lane, &lane->waiting, why);
}

/* --- requests --------------------------------------------------------------- */

static bool
lane_takes_more(const struct lane *lane)
{
    return lane->state == LANE_READY && lane->upload == NULL &&
        lane->stream.out.bytes < LANE_OUT_HIGH &&
        likely(lane->sent_count < lane->sent_limit);
}

/* It holds for the next command on the connection, whoever sent that; so the two
 * must not come apart. */
static void
push_asking(struct lane *lane, struct call *call)
{
    static const char words[] = "*1\r\n$6\r\nASKING\r\n";

    call->skip++;
    lane->pushed += sizeof(words) - 1;
    stream_push_copy(&lane->stream, words, sizeof(words) - 1);
}

/* Give a call to the stream. */
static inline void
lane_push(struct lane *lane, struct call *call)
{
    struct server_stats *stats = lane->server->stats;
    const struct extent *body = &call->body;

    call->state = CALL_SENT;
    call->start = lane->pushed;
    call->body_size = body->len;
    call->skip = call->leading;
    if (unlikely(call->asking))
        push_asking(lane, call);
    lane->pushed += body->len;
    TAILQ_INSERT_TAIL(&lane->sent, call, link);
    lane->sent_count++;
    cell_inc(&stats->out_queue);
    cell_add(&stats->out_queue_bytes, body->len);
    cell_inc(&stats->requests);
    cell_add(&stats->request_bytes, body->len);
    stream_push(&lane->stream, body->chunk, body->off, body->len);
    if (call->body_open) {
        lane->upload = call;
        call->ops->on_drain(call);
    }
}

void
lane_push_waiting(struct lane *lane)
{
    struct call *call;

    while (lane_takes_more(lane) &&
           (call = TAILQ_FIRST(&lane->waiting)) != NULL) {
        TAILQ_REMOVE(&lane->waiting, call, link);
        count_unqueued(lane, call);
        call->sent_us = loop_now_us(lane->server->pool->loop);
        lane_push(lane, call);
    }
}

void
lane_submit(struct lane *lane, struct call *call)
{
    ASSERT(lane->state != LANE_CLOSED && call->state == CALL_IDLE);
    call->lane = lane;
    lane->used_us = loop_now_us(lane->server->pool->loop);
    if (TAILQ_EMPTY(&lane->waiting) && lane_takes_more(lane)) {
        call->sent_us = lane->used_us;
        lane_push(lane, call);
    } else {
        call->state = CALL_WAITING;
        TAILQ_INSERT_TAIL(&lane->waiting, call, link);
        cell_inc(&lane->server->stats->in_queue);
        cell_add(&lane->server->stats->in_queue_bytes, call->body.len);
    }
    if (unlikely(lane->paused)) {
        struct call *head = TAILQ_FIRST(&lane->sent);
        if (head != NULL && head != call && head->ops->on_contended != NULL)
            head->ops->on_contended(head);
    }
}

void
lane_say(struct lane *lane, struct view bytes)
{
    ASSERT(lane->kind == LANE_LISTENING && lane->state == LANE_READY);
    lane->pushed += bytes.len;
    stream_push_copy(&lane->stream, bytes.data, bytes.len);
}

void
lane_submit_open(struct lane *lane, struct call *call)
{
    ASSERT(lane->kind == LANE_PRIVATE);
    call->body_open = true;
    lane_submit(lane, call);
}

void
lane_feed(struct call *call, struct chunk *chunk, uint32_t off, uint32_t len)
{
    struct lane *lane = call->lane;

    ASSERT(lane->upload == call);
    call->body_size += len;
    lane->pushed += len;
    cell_add(&lane->server->stats->request_bytes, len);
    cell_add(&lane->server->stats->out_queue_bytes, len);
    stream_push(&lane->stream, chunk, off, len);
}

void
lane_feed_end(struct call *call)
{
    struct lane *lane = call->lane;

    ASSERT(lane->upload == call);
    call->body_open = false;
    lane->upload = NULL;
    lane_push_waiting(lane);
}

bool
lane_is_full(const struct lane *lane)
{
    return lane->stream.out.bytes >= LANE_OUT_HIGH;
}

bool
lane_withdraw(struct call *call)
{
    if (call->state != CALL_WAITING)
        return false;
    TAILQ_REMOVE(&call->lane->waiting, call, link);
    count_unqueued(call->lane, call);
    call_set_idle(call);
    return true;
}

void
lane_pause(struct lane *lane)
{
    if (lane->paused)
        return;
    lane->paused = true;
    cell_inc(&lane->server->stats->pauses);
    stream_set_reading(&lane->stream, false);
}

/* --- replies ---------------------------------------------------------------- */

static void
lane_pop_sent(struct lane *lane, struct call *call, uint64_t size)
{
    struct server_stats *stats = lane->server->stats;

    TAILQ_REMOVE(&lane->sent, call, link);
    lane->sent_count--;
    cell_dec(&stats->out_queue);
    cell_sub(&stats->out_queue_bytes, call->body_size);
    cell_inc(&stats->responses);
    cell_add(&stats->response_bytes, size);
}

/* A request of which not a byte has left cannot be the one that is answered. */
static bool
lane_awaits_reply(const struct lane *lane)
{
    const struct call *oldest = TAILQ_FIRST(&lane->sent);

    return oldest != NULL && oldest->start < lane->written;
}

/* The beginning of a reply is here before anything was asked. */
static bool
has_stray_bytes(const struct lane *lane)
{
    if (likely(stream_input_len(&lane->stream) == 0) ||
        lane->state != LANE_READY || lane_awaits_reply(lane))
        return false;
    char type = stream_input_data(&lane->stream)[0];
    if (lane->kind == LANE_LISTENING)
        return false;
    return type != RESP_PUSH && type != RESP_ATTRIBUTE;
}

/* Nobody has asked for this reply, or who listens has. */
static void
lane_deliver_unasked(struct lane *lane, const struct reply_piece *piece)
{
    struct lane_lease *lease = lane->lease;

    if (lane->kind != LANE_LISTENING && piece->type != RESP_PUSH)
        lane_fail(lane, CLOSE_SERVER_UNASKED_REPLY, "");
    else if (lease != NULL && lease->on_frame != NULL)
        lease->on_frame(lease, piece);
    else if (piece->last)
        cell_inc(&lane->server->stats->discarded_pushes);
}

/* The one that is answered next was last used long ago, with what its maker keeps
 * around it. */
static inline void
prefetch_next(const struct call *call)
{
    const struct call *next = TAILQ_NEXT(call, link);

    if (likely(next != NULL))
        prefetch((const char *)next - AROUND, AROUND + sizeof(*next) + AROUND);
}

/* Give one reply, or a piece of one, to the call that waits for it. */
static void
lane_deliver(struct lane *lane, const struct reply_piece *piece)
{
    struct call *call = TAILQ_FIRST(&lane->sent);

    if (unlikely(lane->state == LANE_HANDSHAKE)) {
        lane_take_handshake(lane, piece);
        return;
    }
    if (unlikely(piece->type == RESP_PUSH || !lane_awaits_reply(lane))) {
        lane_deliver_unasked(lane, piece);
        return;
    }
    if (unlikely(call->skip > 0)) {
        call->skip -= piece->last;
        if (call->ops->on_leading != NULL)
            call->ops->on_leading(call, piece);
        return;
    }
    if (unlikely(piece->type == '-'))
        server_on_error(lane,
                        view_of(piece->chunk->data + piece->off, piece->len));
    if (piece->last) {
        prefetch_next(call);
        lane_pop_sent(lane, call, piece->size);
        if (unlikely(lane->upload == call)) {
            /* Answered before it was whole: the rest must not follow. */
            call_set_idle(call);
            call->ops->on_reply(call, piece);
            if (lane->state != LANE_CLOSED)
                lane_fail(lane, CLOSE_LANE_UNCLEAN, "early reply");
            return;
        }
        call_set_idle(call);
    }
    call->ops->on_reply(call, piece);
}

/* Scan what has come in; true when a piece was delivered. */
static bool
lane_deliver_next(struct lane *lane)
{
    struct stream *stream = &lane->stream;
    struct reply_scan *scan = &lane->scan;
    uint32_t len = (uint32_t)stream_input_len(stream) - lane->scanned;
    size_t used = 0;
    enum resp_result result =
        reply_scan(scan, stream_input_data(stream) + lane->scanned, len,
                   &used);

    lane->scanned += (uint32_t)used;
    if (result == RESP_BAD) {
        lane_fail(lane, CLOSE_SERVER_BAD_REPLY,
                  scan->error != NULL ? scan->error : "");
        return false;
    }
    if (result == RESP_AGAIN &&
        (scan->known <= LANE_GATHER || lane->scanned == 0)) {
        stream->want = (uint32_t)MIN(
            scan->known - (scan->size - lane->scanned), LANE_GATHER);
        return false;
    }

    struct reply_piece piece = {
        .chunk = stream->in.chunk,
        .off = stream->in.pos,
        .len = lane->scanned,
        .type = scan->type,
        .last = result == RESP_OK,
        .size = scan->size,
    };
    lane->scanned = 0;
    stream_consume(stream, piece.len);
    stream_note_message(stream, piece.len);
    stream->want = 0;
    lane_deliver(lane, &piece);
    return lane->state != LANE_CLOSED && !lane->paused;
}

static void
lane_deliver_all(struct lane *lane)
{
    struct chunk *chunk = lane->stream.in.chunk;

    /* Delivering may close us; the chunk must outlive that. */
    if (chunk != NULL)
        chunk_ref(chunk);
    while (stream_input_len(&lane->stream) > lane->scanned) {
        if (!lane_deliver_next(lane))
            break;
    }
    chunk_unref(&chunk);
    if (unlikely(has_stray_bytes(lane)))
        lane_fail(lane, CLOSE_SERVER_UNASKED_REPLY, "");
    if (lane->state == LANE_READY && lane_is_idle(lane))
        server_on_lane_idle(lane); /* which may close it */
}

void
lane_resume(struct lane *lane)
{
    if (!lane->paused || lane->state == LANE_CLOSED)
        return;
    lane->paused = false;
    stream_set_reading(&lane->stream, true);
    lane_deliver_all(lane);
    if (lane->state != LANE_CLOSED)
        stream_settle_input(&lane->stream);
}

/* --- stream events ---------------------------------------------------------- */

static void
on_connected(struct stream *stream)
{
    struct lane *lane = CONTAINER_OF(stream, struct lane, stream);
    struct buf words = {0};

    lane_on_connected(lane);
    lane->greeted_resp = lane->key.resp;
    lane->handshake_left = (uint8_t)handshake_encode(
        lane->server->settings, lane_login(lane), lane->key, lane->must_ping,
        &words);
    if (lane->handshake_left > 0) {
        stream_push_copy(stream, words.data, words.len);
        lane->pushed += words.len;
        buf_fini(&words);
        return;
    }
    lane_become_ready(lane);
}

static void
on_input(struct stream *stream)
{
    struct lane *lane = CONTAINER_OF(stream, struct lane, stream);

    doing_server(lane->server->settings->name, lane->server->name);
    if (likely(lane->state == LANE_READY))
        lane_on_heard(lane);
    lane_deliver_all(lane);
    if (unlikely(!TAILQ_EMPTY(&lane->waiting)) && lane->state == LANE_READY)
        lane_push_waiting(lane);
}

static void
on_sent(struct stream *stream, size_t bytes)
{
    struct lane *lane = CONTAINER_OF(stream, struct lane, stream);

    lane->written += bytes;
    cell_inc(&lane->server->stats->writes);
    if (unlikely(lane->upload != NULL)) {
        if (!lane_is_full(lane))
            lane->upload->ops->on_drain(lane->upload);
        return;
    }
    if (!TAILQ_EMPTY(&lane->waiting))
        lane_push_waiting(lane);
}

static void
on_end(struct stream *stream, enum stream_end end)
{
    struct lane *lane = CONTAINER_OF(stream, struct lane, stream);
    struct server_stats *stats = lane->server->stats;

    switch (end) {
    case STREAM_EOF:
        cell_inc(&stats->server_eof);
        lane_fail(lane, CLOSE_SERVER_EOF, "");
        break;
    case STREAM_ERROR:
        cell_inc(&stats->server_err);
        lane_fail(lane, CLOSE_SERVER_ERROR, strerror(stream->err));
        break;
    case STREAM_REFUSED:
        lane_on_refused(lane);
        break;
    }
}

const struct stream_ops lane_stream_ops = {
    .on_connected = on_connected,
    .on_input = on_input,
    .on_sent = on_sent,
    .on_end = on_end,
};

struct lane *
lane_new(struct server *owner, enum lane_kind kind, struct lane_key key)
{
    struct lane *lane = MEM_NEW(struct lane);

    lane->server = owner;
    lane->kind = kind;
    lane->key = key;
    lane->state = LANE_CONNECTING;
    lane->sent_limit = owner->is_gentle ? LANE_GENTLE : LANE_NO_LIMIT;
    lane->must_ping = owner->is_silent;
    TAILQ_INIT(&lane->waiting);
    TAILQ_INIT(&lane->sent);
    reply_scan_init(&lane->scan);
    lane->used_us = loop_now_us(owner->pool->loop);
    cell_inc(&owner->stats->connects);
    lane_connect(lane);
    return lane;
}
