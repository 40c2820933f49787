/*
 * session/session.c - a client's life and its turn at reading.
 */
#include "session/session.h"

#include "base/doing.h"
#include "base/mem.h"
#include "resp/inline.h"
#include "session/blocking.h"
#include "session/fanout_stream.h"
#include "session/holding.h"
#include "session/identity.h"
#include "session/inquiry.h"
#include "session/local.h"
#include "session/monitor.h"
#include "session/note.h"
#include "session/pause.h"
#include "session/private_lane.h"
#include "session/rights.h"
#include "session/subscriber.h"
#include "session/trail.h"
#include "session/transaction.h"
#include "session/unfold.h"
#include "session/upload.h"
#include "session/wait.h"

#define WINDOW_FIRST 16    /* requests in flight before any answer was seen */
#define INPUT_HIGH 8192    /* unread bytes with which reading stops */
#define OUTPUT_LOW 65536   /* a paused lane goes on below this */
#define US_PER_S 1000000

static const struct stream_ops session_stream_ops;

_Static_assert(sizeof(struct session) <= 448,
               "ten thousand idle clients have a budget");

static void
session_set_state(struct session *session, enum session_state state)
{
    ASSERT(state > session->state);
    session->state = state;
}

/* --- generations ------------------------------------------------------------ */

static void
session_leave_generation(struct session *session)
{
    struct session_env *env = session->pool->env;

    if (session_is_behind(session) || session->pool->is_removed) {
        env->sweep = true;
        loop_turn_again(env->loop);
    }
    pool_leave(&session->generation);
}

/* What is held goes on by the newest as well, where slots are what they were. */
static bool
can_take_along(const struct session *session)
{
    const struct generation *generation = session->generation;

    return session->holding != NULL && holding_is_all(session) &&
        pool_is_followed(generation->settings) &&
        generation_has_slots_of(generation, session->pool->pool->current);
}

void
session_catch_up(struct session *session)
{
    struct session_pool *pool = session->pool;

    if (!session_is_behind(session) ||
        (session->in_flight > 0 && !can_take_along(session)))
        return;
    session_leave_generation(session);
    session->generation = pool_join(pool->pool);
    transaction_note_generation(session);
    trail_note_generation(session);
    if (pool->settings->redis_auth == NULL)
        session->authenticated = true;
}

/* --- life ------------------------------------------------------------------- */

struct session *
session_new(struct session_pool *pool, int fd, uint64_t id)
{
    struct session *session = MEM_NEW(struct session);
    struct loop *loop = pool->env->loop;
    struct stream_options options = pool->pool->options;

    /* The system would also count a client that does not read for so long,
     * which is its right. */
    options.user_timeout_ms = 0;
    stream_set_options(fd, &options);
    stream_open(&session->stream, loop, fd, &session_stream_ops);
    session->stream.read_large = SESSION_READ;
    session->pool = pool;
    session->generation = pool_join(pool->pool);
    session->id = id;
    session->lane_number = pool->next_lane_number++;
    session->state = SESSION_OPEN;
    session->resp = 2;
    session->window =
        (uint32_t)MIN(pool->settings->pipeline_limit, WINDOW_FIRST);
    session->authenticated = pool->settings->redis_auth == NULL;
    session->used_us = session->sent_us = loop_now_us(loop);
    session->created_s = (uint32_t)(session->used_us / US_PER_S);
    TAILQ_INIT(&session->queue);
    TAILQ_INSERT_TAIL(&pool->sessions, session, link);
    pool->session_count++;
    cell_inc(&pool->stats->client_connections);
    cell_inc(&pool->stats->clients_accepted);
    return session;
}

static void
session_free(struct grave *grave)
{
    struct session *session = CONTAINER_OF(grave, struct session, grave);

    client_info_free(&session->info);
    mem_free(session);
}

static void
session_leave_lists(struct session *session)
{
    struct session_pool *pool = session->pool;

    TAILQ_REMOVE(&pool->sessions, session, link);
    pool->session_count--;
    session_leave_generation(session);
    if (session->in_resume)
        TAILQ_REMOVE(&pool->env->resume, session, resume_link);
    session->in_resume = false;
}

void
session_close(struct session **sessionp, enum close_reason why)
{
    struct session *session = *sessionp;
    struct session_env *env = session->pool->env;
    struct request *request;

    *sessionp = NULL;
    if (session->state == SESSION_CLOSED)
        return;
    if (session->state == SESSION_DRAINING && why == CLOSE_NONE)
        why = session->close_reason;
    session_set_state(session, SESSION_CLOSED);
    note_end(session, why);
    session_leave_lists(session);
    stream_close(&session->stream);
    session_drop_scan(session);
    monitor_leave(session);
    pause_leave(session);
    upload_abort(session);
    struct lane *paused = session_unpause(session);
    struct request *passing = fanout_stream_hold(TAILQ_FIRST(&session->queue));
    while ((request = TAILQ_FIRST(&session->queue)) != NULL)
        request_orphan(request);
    /* Whichever waits for a connection first: others of its own, when they are
     * given back, are for those who wait. */
    wait_end(session);
    private_lane_free(session);
    transaction_abort(session);
    wait_free(session);
    subscriber_free(session);
    unfold_free(session);
    blocking_end(session);
    inquiry_abandon(session);
    rights_free(session);
    holding_free(session);
    identity_leave(session);
    if (paused != NULL)
        lane_resume(paused); /* its reply is read and dropped */
    fanout_stream_drop(&passing);
    env->on_session_end(env);
    loop_bury(env->loop, &session->grave, session_free);
}

/* Nothing is owed any more. */
static bool
session_is_quiet(const struct session *session)
{
    return TAILQ_EMPTY(&session->queue) && session->unfolding == NULL &&
        chain_is_empty(&session->stream.out);
}

static void
close_if_drained(struct session *session)
{
    if (session->state == SESSION_DRAINING && session_is_quiet(session))
        session_close(&session, CLOSE_NONE);
}

void
session_drain(struct session *session, enum close_reason why)
{
    if (session->state != SESSION_OPEN)
        return;
    session_set_state(session, SESSION_DRAINING);
    session->close_reason = why;
    if (session->upload == NULL)
        stream_set_reading(&session->stream, false);
    blocking_stop(session);
    session_resume_later(session);
}

/* --- going on -------------------------------------------------------------- */

void
session_resume_later(struct session *session)
{
    if (session->in_resume || session->state == SESSION_CLOSED)
        return;
    session->in_resume = true;
    TAILQ_INSERT_TAIL(&session->pool->env->resume, session, resume_link);
    loop_turn_again(session->pool->env->loop);
}

/* --- input ------------------------------------------------------------------ */

struct request_limits
session_limits(const struct session *session)
{
    return (struct request_limits){
        .max_args = (uint32_t)session->pool->settings->arguments_limit,
        .max_bulk = RESP_MAX_BULK,
        .unauthenticated = !session->authenticated,
    };
}

static struct request_scan *
session_scan(struct session *session)
{
    struct session_env *env = session->pool->env;

    if (session->scan != NULL)
        return session->scan;
    if (env->scan == NULL) {
        env->scan = MEM_NEW(struct request_scan);
        request_scan_init(env->scan);
    }
    return env->scan;
}

static void
set_gathering(struct session *session, bool is_gathering)
{
    session->pool->gather_count +=
        (unsigned)is_gathering - (unsigned)session->is_gathering;
    session->is_gathering = is_gathering;
}

void
session_read_on(struct session *session)
{
    /* Its silence was ours. */
    if (!session->stream.reading)
        session->used_us = loop_now_us(session->pool->env->loop);
    stream_set_reading(&session->stream, true);
}

void
session_drop_scan(struct session *session)
{
    struct session_env *env = session->pool->env;
    struct request_scan *scan = session->scan;

    if (scan == NULL)
        return;
    set_gathering(session, false);
    session->scan = NULL;
    if (env->scan == NULL) {
        request_scan_reset(scan);
        env->scan = scan;
    } else {
        request_scan_fini(scan);
        mem_free(scan);
    }
}

/* The request is whole and has been taken: ready for the next. */
static void
scan_finished(struct session *session, struct request_scan *scan)
{
    if (session->scan != NULL)
        session_drop_scan(session);
    else
        request_scan_reset(scan);
}

static void
answer_protocol_error(struct session *session, const char *text)
{
    struct buf line = {0};

    cell_inc(&session->pool->stats->errors_protocol);
    if (text[0] == '\0') {
        session_drain(session, CLOSE_CLIENT_GUARD);
        return;
    }
    buf_printf(&line, "-ERR %s\r\n", text);
    note_refusal(session, NULL, buf_view(&line));
    request_answer_now(session, NULL, buf_view(&line));
    buf_fini(&line);
    session_drain(session, CLOSE_CLIENT_PROTOCOL);
}

/* One line of words: write it as an array and act on that. */
static bool
take_inline(struct session *session, struct request_scan *scan)
{
    struct view line = view_of(stream_input_data(&session->stream),
                               scan->size);
    struct request_limits limits = session_limits(session);
    struct buf array = {0};
    struct request_scan words;
    uint32_t argc;
    bool taken = true;

    if (inline_encode(line, &array, &argc) != RESP_OK) {
        answer_protocol_error(
            session, "Protocol error: unbalanced quotes in request");
        return false;
    }
    if (argc == 0) {
        session->reply_skip = false;
        buf_fini(&array);
        return true;
    }
    struct extent own = extent_copy(loop_chunks(session->pool->env->loop),
                                    buf_view(&array));
    buf_fini(&array);
    request_scan_init(&words);
    if (request_scan(&words, &limits, own.chunk->data + own.off, own.len) ==
        RESP_OK) {
        taken = request_accept(session, own.chunk, own.off, &words);
    } else {
        answer_protocol_error(session, words.error);
        taken = false;
    }
    request_scan_fini(&words);
    chunk_unref(&own.chunk);
    return taken;
}

static bool
take_whole(struct session *session, struct request_scan *scan)
{
    struct stream *stream = &session->stream;
    size_t size = scan->size;
    bool taken = true;

    switch (scan->kind) {
    case REQUEST_ARRAY:
        if (unlikely(upload_refuse_whole(session, scan)))
            break;
        taken = request_accept(session, stream->in.chunk, stream->in.pos,
                               scan);
        break;
    case REQUEST_INLINE:
        taken = take_inline(session, scan);
        break;
    case REQUEST_EMPTY:
        session->reply_skip = false; /* for servers it is one that is skipped */
        break;
    }
    if (session->state == SESSION_CLOSED)
        return false;
    if (!taken && session->state == SESSION_OPEN)
        session->barrier = true; /* it is scanned again when its time comes */
    if (taken) {
        stream_consume(stream, size);
        stream_note_message(stream, size);
    }
    scan_finished(session, scan);
    return taken;
}

/* The request is not whole: keep the scanner, and see if it is a large one. */
static void
keep_partial(struct session *session, struct request_scan *scan)
{
    struct session_env *env = session->pool->env;
    const struct pool_settings *settings = session->pool->settings;
    size_t have = stream_input_len(&session->stream);

    if (session->scan == NULL) {
        session->scan = scan;
        env->scan = NULL;
    }
    uint64_t large = settings->large_request_bytes;
    if (pool_is_followed(settings))
        large = MAX(large, settings->retry_buffer_bytes);
    if (have >= large ||
        scan->known > settings->request_limit_bytes) {
        if (upload_try(session))
            return;
        set_gathering(session, true);
    }
    size_t want = MIN(scan->known, MAX(2 * have, settings->large_request_bytes));
    session->stream.want = (uint32_t)want;
}

/* Act on the next request; false when there is none whole, or not now. */
static bool
session_take_one(struct session *session)
{
    struct stream *stream = &session->stream;
    struct request_limits limits = session_limits(session);
    struct request_scan *scan = session_scan(session);

    switch (request_scan(scan, &limits, stream_input_data(stream),
                         stream_input_len(stream))) {
    case RESP_OK:
        return take_whole(session, scan);
    case RESP_AGAIN:
        keep_partial(session, scan);
        return false;
    case RESP_BAD:
        answer_protocol_error(session, scan->error);
        scan_finished(session, scan);
        return false;
    }
    return false;
}

/* Read on, unless much is here that cannot be taken now. */
static void
session_set_interest(struct session *session)
{
    bool stuck = (!session_has_room(session) || session->is_postponed) &&
        session->upload == NULL &&
        stream_input_len(&session->stream) >= INPUT_HIGH;

    if (session->state != SESSION_OPEN)
        return;
    if (stuck && session->stream.reading)
        cell_inc(&session->pool->stats->window_waits);
    if (session->upload != NULL)
        return;
    if (stuck)
        stream_set_reading(&session->stream, false);
    else
        session_read_on(session);
}

void
session_process(struct session *session)
{
    struct stream *stream = &session->stream;
    bool more = true;

    if (session->barrier && session->in_flight == 0)
        session->barrier = false;
    if (unlikely(session->holding != NULL))
        holding_go(session);
    if (session->state == SESSION_CLOSED)
        return;
    session_catch_up(session);
    if (unlikely(session->unfolding != NULL))
        unfold_go(session);
    while (more && stream_input_len(stream) > 0 && session_has_room(session))
        more = session_take_one(session);
    if (session->state == SESSION_CLOSED)
        return;
    if (stream->ended && (blocking_is_on(session) || session->is_postponed)) {
        session_close(&session, CLOSE_CLIENT_EOF);
        return;
    }
    if (stream->ended && session->state == SESSION_OPEN &&
        session->upload == NULL && !session->barrier &&
        (!more || stream_input_len(stream) == 0))
        session_drain(session, CLOSE_CLIENT_EOF);
    session_set_interest(session);
}

/* --- stream events ---------------------------------------------------------- */

static void
on_input(struct stream *stream)
{
    struct session *session = CONTAINER_OF(stream, struct session, stream);

    session->used_us = loop_now_us(session->pool->env->loop);
    doing_client(session->pool->settings->name, session->id);
    if (unlikely(session->upload != NULL))
        upload_on_input(session);
    else
        session_process(session);
}

static void
on_sent(struct stream *stream, size_t bytes)
{
    struct session *session = CONTAINER_OF(stream, struct session, stream);

    (void)bytes;
    session->sent_us = loop_now_us(session->pool->env->loop);
    if (unlikely(session->pausing != NULL) && stream->out.bytes < OUTPUT_LOW)
        session_resume_lane(session);
    if (unlikely(session->unfolding != NULL))
        session_resume_later(session);
    if (session->state == SESSION_DRAINING) {
        close_if_drained(session);
        return;
    }
    if (stream_input_len(stream) > 0 && session_has_room(session)) {
        session_process(session);
        if (session->state != SESSION_CLOSED)
            stream_settle_input(stream);
    }
}

static void
on_end(struct stream *stream, enum stream_end end)
{
    struct session *session = CONTAINER_OF(stream, struct session, stream);

    /* As servers have it, nobody waits behind a closed connection. */
    if (end != STREAM_EOF || session->upload != NULL ||
        session->is_postponed || blocking_is_on(session)) {
        session_close(&session, end == STREAM_EOF ? CLOSE_CLIENT_EOF
                                                  : CLOSE_CLIENT_ERROR);
        return;
    }
    session_resume_later(session);
}

/* Answers to requests that came together leave together.  Others wait for nobody,
 * as whoever asked for them may do so too. */
static bool
more_follows(struct stream *stream)
{
    struct session *session = CONTAINER_OF(stream, struct session, stream);
    const struct request *next = TAILQ_FIRST(&session->queue);

    return next != NULL && next->follows && !next->blocks;
}

static const struct stream_ops session_stream_ops = {
    .on_input = on_input,
    .on_sent = on_sent,
    .on_end = on_end,
    .more_follows = more_follows,
};

/* --- called by env ----------------------------------------------------------- */

/* Of what was taken in before it began to drain. */
static void
session_end_what_is_owed(struct session *session)
{
    if (session->holding != NULL)
        holding_go(session);
    if (session->unfolding != NULL)
        unfold_go(session);
}

void
session_resume(struct session *session)
{
    session->in_resume = false;
    doing_client(session->pool->settings->name, session->id);
    if (session->state == SESSION_OPEN && session->upload == NULL)
        session_process(session);
    else if (session->state == SESSION_DRAINING)
        session_end_what_is_owed(session);
    if (session->state != SESSION_CLOSED)
        stream_settle_input(&session->stream);
    close_if_drained(session);
}
