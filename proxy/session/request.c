/*
 * session/request.c - a request from its acceptance to its answer.
 */
#include "session/request.h"

#include "base/mem.h"
#include "session/blocking.h"
#include "session/carrying.h"
#include "session/deadline.h"
#include "session/direct.h"
#include "session/holding.h"
#include "session/note.h"
#include "session/private_lane.h"
#include "session/published.h"
#include "session/replica_read.h"
#include "session/retry.h"
#include "session/script_load.h"
#include "session/scripts.h"
#include "session/sentence.h"
#include "session/session.h"
#include "session/slow_log.h"
#include "session/split_job.h"
#include "session/subscriber.h"
#include "session/transaction.h"
#include "session/upload.h"
#include "session/wait.h"
#include "session/key_watch.h"

#define USED_WHEN_ANSWERED offsetof(struct request, attempt) /* its first bytes */

/* --- answering ---------------------------------------------------------------- */

/* Out of its session's queue, answered or not. */
static void
request_leave(struct request *request)
{
    struct session *session = request->session;

    request_stop_deadline(request);
    TAILQ_REMOVE(&session->queue, request, link);
    session->in_flight--;
    session->asked_bytes -= request->weight;
    cell_dec(&request->pool->stats->requests_in_flight);
    request->session = NULL;
}

struct server *
request_server(const struct request *request)
{
    return generation_server(request->generation, request->shard);
}

static void
count_error(const struct request *request)
{
    struct session_stats *stats = request->pool->stats;

    cell_inc(&stats->errors_server);
    cell_inc(&stats->errors.rows[request->error].all);
    cell_inc(&session_stats_account(stats, request->command)->all.failed);
}

static void
count_answer(struct request *request)
{
    struct session_stats *stats = request->pool->stats;
    uint64_t now_us = loop_now_us(request->pool->env->loop);
    uint64_t took_us = now_us - request->start_us;
    unsigned bucket = histogram_bucket(took_us);

    cell_inc(&stats->replies);
    cell_add(&stats->reply_bytes, request->reply_bytes);
    histogram_add_at(
        &session_stats_account(stats, request->command)->all.latency, bucket,
        took_us);
    if (unlikely(took_us >= request->pool->notice_us))
        slow_log_note(request, took_us);
    if (unlikely(request->attempt.at_replica))
        cell_inc(&stats->replica_reads);
    if (request->job == NULL && request->call.body.chunk != NULL &&
        likely(request->shard < request->generation->server_count))
        histogram_add_at(&request_server(request)->stats->latency, bucket,
                         took_us);
    if (unlikely(request->reply_type == '-' || request->reply_type == '!'))
        count_error(request);
}

/* Its whole answer is in the session's output. */
static void
request_finish(struct request *request)
{
    struct session *session = request->session;

    ASSERT(TAILQ_FIRST(&session->queue) == request && request->done);
    prefetch(TAILQ_NEXT(request, link), USED_WHEN_ANSWERED);
    count_answer(request);
    session_note_reply(session, request->reply_bytes);
    request_leave(request);
    request_unref(&request);
    if (unlikely(session->subscriber != NULL))
        subscriber_flush(session);
    if (stream_input_len(&session->stream) > 0 || session->barrier ||
        session->stream.ended || session->state == SESSION_DRAINING ||
        !session->stream.reading || session_is_behind(session))
        session_resume_later(session);
}

void
request_weigh(struct request *request, size_t bytes)
{
    request->session->asked_bytes += bytes - request->weight;
    request->weight = bytes;
}

/* Put what was kept for a request into the output. */
static void
move_reply(struct session *session, struct request *request)
{
    /* A script's answer that is doubted is none yet. */
    if (request->reply.bytes == 0 || attempt_is_held(&request->attempt))
        return;
    if (request->no_reply) {
        request_drop_reply(request);
        return;
    }
    request_discharge(request, request->reply.bytes);
    request->begun = true;
    if (chain_is_empty(&session->stream.out))
        session->sent_us = loop_now_us(session->pool->env->loop);
    chain_take(&session->stream.out, &request->reply);
    stream_mark_dirty(&session->stream);
}

void
session_pump(struct session *session)
{
    struct request *request;

    while ((request = TAILQ_FIRST(&session->queue)) != NULL) {
        move_reply(session, request);
        if (!request->done)
            break;
        request_finish(request);
    }
    /* It is the head's turn now: its lane need not wait any more. */
    if (request != NULL && session->pausing == request &&
        session->stream.out.bytes < SESSION_OUTPUT_HIGH)
        session_resume_lane(session);
}

void
request_undo(struct request *request)
{
    ASSERT(!request->begun);
    request_drop_reply(request);
    request->done = false;
    request->reply_bytes = 0;
    request->reply_type = 0;
}

void
request_route_anew(struct request *request, struct generation *generation)
{
    struct generation *before = request->generation;

    request->generation = generation_ref(generation);
    generation_unref(&before);
}

static void
own_lane_on_done(struct request *request)
{
    if (request->own_lane == OWN_LANE_WATCH)
        key_watch_on_done(request);
    else
        direct_on_done(request);
}

void
request_done(struct request *request)
{
    struct session *session = request->session;

    request->done = true;
    request_stop_deadline(request);
    if (unlikely(session->holding != NULL))
        session_resume_later(session);
    if (session->pausing == request)
        session_resume_lane(session);
    if (session->private != NULL)
        private_lane_release(session);
    if (unlikely(request->blocks))
        blocking_end(session);
    if (unlikely(request->own_lane != OWN_LANE_NONE))
        own_lane_on_done(request);
    if (TAILQ_FIRST(&session->queue) == request)
        session_pump(session);
    else
        request->done_us = loop_now_us(request->pool->env->loop);
}

/* --- what the lane says --------------------------------------------------------- */

/* Nothing more can be kept for it, but others wait behind.  While memory is
 * short they are not made to. */
static void
make_others_wait(struct session *session, struct request *request)
{
    switch (session_excess(session)) {
    case CLOSE_NONE:
        break;
    case CLOSE_CLIENT_MEMORY:
        session_close(&session, CLOSE_CLIENT_MEMORY);
        break;
    default:
        session_pause_lane(session, request, request->call.lane);
    }
}

/* More is in the output than the client takes: shall the lane wait? */
static void
check_output(struct request *request)
{
    struct session *session = request->session;
    struct call *call = &request->call;
    size_t bytes = session->stream.out.bytes;

    if (bytes < session_output_high(session) || call->lane == NULL)
        return;
    if (call->lane->kind == LANE_PRIVATE || !lane_has_behind(call))
        session_pause_lane(session, request, call->lane);
    else
        make_others_wait(session, request);
}

/* Not our turn yet, and the reply is long. */
static void
check_held(struct request *request)
{
    struct call *call = &request->call;

    if (call->lane != NULL && call->lane->kind == LANE_PRIVATE)
        session_pause_lane(request->session, request, call->lane);
}

static void
take_piece(struct request *request, const struct reply_piece *piece)
{
    struct session *session = request->session;

    request->reply_type = piece->type;
    request->reply_bytes += piece->len;
    if (TAILQ_FIRST(&session->queue) != request) {
        if (!request_hold(request, &request->reply, piece))
            return;
        if (!piece->last)
            check_held(request);
    } else if (!request->no_reply) {
        if (chain_is_empty(&session->stream.out))
            session->sent_us = loop_now_us(session->pool->env->loop);
        request->begun = true;
        stream_push(&session->stream, piece->chunk, piece->off, piece->len);
        if (!piece->last)
            check_output(request);
    }
    if (!piece->last)
        request_note_progress(request);
}

bool
request_is_gone(const struct request *request)
{
    const struct call *call = &request->call;

    if (request->job != NULL)
        return false; /* its parts have their own */
    if (request->own_lane == OWN_LANE_DIRECT)
        return !direct_may_go_again(request);
    return call->body_size > call->body.len ||
        (request->session != NULL && request->session->upload != NULL);
}

static void
redirected_upload(struct request *request)
{
    upload_on_lost(request->session);
    cell_inc(&request->pool->stats->errors_upload_moved);
    request_fail(request, retry_is_user_code(request->command)
                     ? request_text_doubtful(request, &request->attempt)
                     : request_text_gone(request, &request->attempt));
}

/* An error, to be counted once it is the answer.  True: it is not. */
static bool
take_error(struct request *request, const struct reply_piece *piece)
{
    struct view line = view_of(piece->chunk->data + piece->off, piece->len);

    if (request->reply_bytes == 0)
        request->error = error_stats_find(&request->pool->stats->errors, line);
    if (request->own_lane == OWN_LANE_DIRECT)
        return direct_take_error(request, piece);
    return scripts_take_error(request, piece);
}

/* It may have written, over a lane to which WAIT does not go or over one. */
static inline void
note_write(const struct request *request)
{
    struct session *session = request->session;
    const struct server *server = request_server(request);

    wait_note_write(session, request->command, server);
    if (unlikely(request->own_lane != OWN_LANE_NONE ||
                 private_lane_serves(session, request)))
        wait_note_elsewhere(session, session->written & server->mark);
}

static void
on_reply(struct call *call, const struct reply_piece *piece)
{
    struct request *request = CONTAINER_OF(call, struct request, call);

    if (unlikely(request->session == NULL || request->done)) {
        if (piece->last) {
            note_discard(request, request->shard);
            request_unref(&request);
        }
        return;
    }
    if (unlikely(request->ends_watch || request->refusal.chunk != NULL) &&
        (transaction_take_refusal(request, piece) ||
         key_watch_take_refusal(request, piece))) {
        request_unref(&request);
        return;
    }
    if (unlikely(piece->type == '-') && take_error(request, piece)) {
        request_unref(&request);
        return;
    }
    if (attempt_is_refused(request, &request->attempt, request->shard,
                           piece)) {
        if (request_is_gone(request))
            redirected_upload(request);
        request_unref(&request);
        return;
    }
    struct reply_piece own;
    if (unlikely(request->is_published))
        piece = published_correct(request, piece, &own);
    take_piece(request, piece);
    if (!piece->last)
        return;
    if (likely(request->session != NULL)) {
        note_write(request);
        upload_on_lost(request->session); /* an answer before its end */
        request_done(request);
    }
    request_unref(&request);
}

static void
on_lost(struct call *call, enum close_reason why, bool sent)
{
    struct request *request = CONTAINER_OF(call, struct request, call);
    struct session *session = request->session;

    if (session == NULL || request->done) {
        request_unref(&request);
        return;
    }
    if (session->pausing == request)
        request->paused = NULL; /* that lane is no more */
    chunk_unref(&request->refusal.chunk);
    if (request->begun) {
        session_close(&session, CLOSE_REPLY_CUT);
    } else if (call_was_refused(why)) {
        upload_on_lost(session);
        request_fail(request, request_text_refused(request, request->shard));
    } else if (request->own_lane == OWN_LANE_DIRECT &&
               direct_take_loss(request, why, &sent)) {
        ; /* it is answered, or held */
    } else if (request->ends_watch) {
        key_watch_take_loss(request, sent);
    } else if (session->upload != NULL) {
        upload_on_lost(session);
        session_pool_hint(request->pool, MAP_CAUSE_LOST);
        cell_inc(&request->pool->stats->errors_unreachable);
        request_fail(request,
                     request_text_lost(request, request->shard, false));
    } else {
        retry_take_loss(request, why, sent);
    }
    request_unref(&request);
}

static void
on_drain(struct call *call)
{
    struct request *request = CONTAINER_OF(call, struct request, call);

    if (request->session != NULL)
        upload_on_drain(request->session);
}

/* Others wait behind a reply that its client does not take: keep the rest for
 * it, as far as its limit goes. */
static void
on_contended(struct call *call)
{
    struct request *request = CONTAINER_OF(call, struct request, call);
    struct session *session = request->session;

    if (session == NULL || session->pausing != request)
        return;
    switch (session_excess(session)) {
    case CLOSE_NONE:
        session_resume_lane(session);
        break;
    case CLOSE_CLIENT_MEMORY:
        session_close(&session, CLOSE_CLIENT_MEMORY);
        break;
    default: /* it has stall_grace to take some of it */
        break;
    }
}

static void
on_leading(struct call *call, const struct reply_piece *piece)
{
    transaction_on_leading(CONTAINER_OF(call, struct request, call), piece);
}

const struct call_ops request_call_ops = {
    .on_reply = on_reply,
    .on_lost = on_lost,
    .on_drain = on_drain,
    .on_contended = on_contended,
    .on_leading = on_leading,
};

/* --- sending --------------------------------------------------------------------- */

static void
own_lane_submit(struct request *request)
{
    if (request->own_lane == OWN_LANE_WATCH)
        key_watch_submit(request);
    else
        direct_submit(request);
}

void
request_submit(struct request *request)
{
    struct session *session = request->session;
    struct server *server = request_server(request);
    struct lane_key key = attempt_lane_key(session, &request->attempt);

    request_weigh(request, request->call.body.len);
    if (retry_is_barred(request->command, server)) {
        request_fail_barred(request);
        return;
    }
    if (retry_is_held(request->command, server)) {
        if (request->ends_watch)
            key_watch_take_held(request);
        else if (!direct_take_held(request))
            holding_take_held(request, &request->attempt);
        return;
    }
    if (unlikely(request->wants != NULL) && script_load_ahead(request))
        return;
    if (unlikely(request->own_lane != OWN_LANE_NONE)) {
        own_lane_submit(request);
        return;
    }
    if (unlikely(request->blocks))
        blocking_suspend(request);
    if (unlikely(request->blocks ||
                 (session->is_heavy && session->in_flight == 1))) {
        private_lane_submit(session, request, false);
        return;
    }
    request->refs++; /* the call's */
    if (likely(wait_submit(request, server, key, &request->call)))
        return;
    request->refs--;
    holding_take_unreachable(request);
}

/* --- giving up -------------------------------------------------------------------- */

void
request_orphan(struct request *request)
{
    request_drop_reply(request);
    holding_drop(request, &request->attempt);
    if (request->job != NULL)
        split_job_let_go(request);
    request_leave(request);
    if (request->job != NULL) {
        split_job_abandon(request);
    } else if (request->call.state == CALL_WAITING) {
        struct request *call_ref = request;
        if (server_withdraw(request_server(request), &request->call))
            request_unref(&call_ref);
    } else if (request->call.body_open) {
        /* The rest will never come, so the server waits for ever. */
        struct lane *lane = request->call.lane;
        lane_close(&lane, CLOSE_UPLOAD_ABORTED);
    }
    chunk_unref(&request->call.body.chunk);
    request_unref(&request);
}
