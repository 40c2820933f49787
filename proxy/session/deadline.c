/*
 * session/deadline.c - what happens to requests that wait for too long.
 *
 * All requests of a pool have the same time, so its list of unanswered ones is
 * almost sorted by itself: the newest, and those whose long reply goes on, at
 * the end.  Only when the settings have changed does a newer one have to pass
 * some that have more time.
 */
#include "session/deadline.h"

#include "session/departure.h"
#include "session/holding.h"
#include "session/note.h"
#include "session/sentence.h"
#include "session/session.h"
#include "session/split_job.h"
#include "session/subscriber.h"
#include "session/tracker.h"
#include "session/upload.h"

#define OLD_US 1000000 /* then a request's bytes move out of a shared chunk */

void
request_stop_deadline(struct request *request)
{
    if (!request->has_deadline)
        return;
    request->has_deadline = false;
    TAILQ_REMOVE(&request->pool->deadlines, request, deadline_link);
}

static void
insert_by_due(struct session_pool *pool, struct request *request)
{
    struct request *before = TAILQ_LAST(&pool->deadlines, request_list);

    while (unlikely(before != NULL && before->due_us > request->due_us))
        before = TAILQ_PREV(before, request_list, deadline_link);
    if (before != NULL)
        TAILQ_INSERT_AFTER(&pool->deadlines, before, request, deadline_link);
    else
        TAILQ_INSERT_HEAD(&pool->deadlines, request, deadline_link);
}

/* Its time runs from `from_us`. */
static void
set_due(struct request *request, uint64_t from_us)
{
    struct session_pool *pool = request->pool;

    request->progress_us = from_us;
    request->due_us =
        from_us + (uint64_t)pool->settings->request_timeout_ms * 1000;
    insert_by_due(pool, request);
}

static void
start_timer(struct session_pool *pool, const struct request *first)
{
    uint64_t now_us = loop_now_us(pool->env->loop);
    uint64_t wait_us = first->due_us > now_us ? first->due_us - now_us : 0;

    pool->deadline_us = first->due_us;
    timer_start(&pool->deadline, (int64_t)((wait_us + 999) / 1000));
}

void
request_note_progress(struct request *request)
{
    if (!request->has_deadline)
        return;
    TAILQ_REMOVE(&request->pool->deadlines, request, deadline_link);
    set_due(request, loop_now_us(request->pool->env->loop));
}

void
request_start_deadline(struct request *request)
{
    struct session_pool *pool = request->pool;

    request->has_deadline = true;
    set_due(request, request->start_us);
    if (unlikely(!timer_is_active(&pool->deadline) ||
                 request->due_us < pool->deadline_us))
        start_timer(pool, request);
}

/* Answer first: what the server makes of it may end the call. */
static void
request_end_late(struct request *request, bool sent)
{
    struct server *server = request_server(request);

    request->refs++;
    if (sent)
        chunk_unref(&request->call.body.chunk);
    request_fail(request, request_text_late(request, request->shard, sent));
    if (sent)
        server_on_expired(server, &request->call);
    request_unref(&request);
}

/* Part of the answer has left, so its client can only be closed. */
static void
request_cut(struct request *request)
{
    struct session *session = request->session;
    struct server *server = request_server(request);
    bool is_split = request->job != NULL;

    request->refs++;
    session_close(&session, CLOSE_REPLY_CUT);
    if (!is_split)
        server_on_expired(server, &request->call);
    request_unref(&request);
}

void
request_expire(struct request *request)
{
    struct session *session = request->session;
    /* A server does nothing before the whole of a request is there. */
    bool sent =
        request->call.state == CALL_SENT && !request->call.body_open;

    request_stop_deadline(request);
    request->was_late = true;
    if (request->leaves) {
        departure_on_late(request);
        return;
    }
    cell_inc(&request->pool->stats->errors_timeout);
    if (request->begun) {
        request_cut(request);
        return;
    }
    if (request->job != NULL) {
        split_job_expire(request);
        return;
    }
    if (request->listens) {
        subscriber_on_late(request);
        return;
    }
    if (request->tracks) {
        tracker_on_late(request);
        return;
    }
    if (request->call.body.chunk == NULL) {
        request_fail(request, VIEW(REQUEST_TEXT_NO_ANSWER));
        return;
    }
    if (request->attempt.hold == HOLD_DOUBT) {
        holding_drop(request, &request->attempt);
        request_done(request); /* by the script's answer, as it may be one */
        return;
    }
    if (attempt_is_held(&request->attempt)) {
        struct view text = request_text_unserved(request, &request->attempt);
        holding_drop(request, &request->attempt);
        request_fail(request, text);
        return;
    }
    upload_on_lost(session);
    note_late(request, request->shard, sent);
    if (!sent && server_withdraw(request_server(request), &request->call)) {
        struct request *call_ref = request;
        request_unref(&call_ref);
    }
    request_end_late(request, sent);
}

void
request_on_deadline(struct timer *timer, void *arg)
{
    struct session_pool *pool = arg;
    uint64_t now_us = loop_now_us(pool->env->loop);
    struct request *request;

    (void)timer;
    while ((request = TAILQ_FIRST(&pool->deadlines)) != NULL) {
        if (request->due_us > now_us) {
            start_timer(pool, request);
            return;
        }
        if (request->session->pausing == request)
            request_note_progress(request); /* it is the client that is slow */
        else
            request_expire(request);
    }
}

void
request_compact(struct request *request)
{
    struct extent *body = &request->call.body;

    request->is_compact = true;
    if (body->chunk == NULL || body->chunk->kind == CHUNK_ODD)
        return;
    struct chunk *own =
        chunk_new_exact(loop_chunks(request->pool->env->loop), body->len);
    memcpy(own->data, body->chunk->data + body->off, body->len);
    own->fill = body->len;
    chunk_unref(&body->chunk);
    body->chunk = own;
    body->off = 0;
}

void
request_compact_old(struct session_pool *pool, uint64_t now_us)
{
    struct request *request;

    TAILQ_FOREACH(request, &pool->deadlines, deadline_link)
    {
        if (request->progress_us + OLD_US > now_us)
            break;
        if (!request->is_compact && request->call.body.len < STREAM_SMALL)
            request_compact(request);
    }
}
