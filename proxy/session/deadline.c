/*
 * session/deadline.c - what happens to requests that wait for too long.
 *
 * They are kept in no list of their own, since that would cost every request
 * something, and few are ever late: the pool's timer fires for the first of
 * them, or for one that has been answered since, and looks at all that are
 * unanswered then.
 */
#include "session/deadline.h"

#include "base/mem.h"
#include "session/departure.h"
#include "session/direct.h"
#include "session/holding.h"
#include "session/note.h"
#include "session/sentence.h"
#include "session/session.h"
#include "session/split_job.h"
#include "session/subscriber.h"
#include "session/tracker.h"
#include "session/upload.h"

#define OLD_US 1000000 /* then a request's bytes move out of a shared chunk */
#define SEEN_IN_MS 1024 /* unanswered ones for which a millisecond is spent */

/* --- who is unanswered --------------------------------------------------------- */

static struct request *
first_from(struct session *session)
{
    while (session != NULL && TAILQ_EMPTY(&session->queue))
        session = TAILQ_NEXT(session, link);
    return session == NULL ? NULL : TAILQ_FIRST(&session->queue);
}

static struct request *
next_in_queues(struct session_pool *pool, struct request *request)
{
    if (request == NULL)
        return first_from(TAILQ_FIRST(&pool->sessions));
    struct request *behind = TAILQ_NEXT(request, link);
    return behind != NULL ? behind
                          : first_from(TAILQ_NEXT(request->session, link));
}

struct request *
request_next_waiting(struct session_pool *pool, struct request *request)
{
    do
        request = next_in_queues(pool, request);
    while (request != NULL && !request->has_deadline);
    return request;
}

/* --- whose time runs ------------------------------------------------------------ */

void
request_stop_deadline(struct request *request)
{
    request->has_deadline = false;
}

/* Its time runs from `from_us`. */
static inline void
set_due(struct request *request, uint64_t from_us)
{
    request->progress_us = from_us;
    request->due_us = from_us +
        (uint64_t)request->pool->settings->request_timeout_ms * 1000;
}

/* Not before `least_ms` have passed. */
static void
start_timer(struct session_pool *pool, uint64_t due_us, uint64_t least_ms)
{
    uint64_t now_us = loop_now_us(pool->env->loop);
    uint64_t wait_us = due_us > now_us ? due_us - now_us : 0;

    pool->deadline_us = due_us;
    timer_start(&pool->deadline,
                (int64_t)MAX((wait_us + 999) / 1000, least_ms));
}

void
request_note_progress(struct request *request)
{
    if (request->has_deadline)
        set_due(request, loop_now_us(request->pool->env->loop));
}

void
request_start_deadline(struct request *request)
{
    struct session_pool *pool = request->pool;

    request->has_deadline = true;
    set_due(request, request->start_us);
    if (unlikely(request->due_us < pool->deadline_us))
        start_timer(pool, request->due_us, 0);
}

/* --- who is late ---------------------------------------------------------------- */

/* Answer first: what the server makes of it may end the call. */
static void
request_end_late(struct request *request, bool sent)
{
    struct server *server = request_server(request);
    bool has_run = sent && !direct_is_queueing(request);

    request->refs++;
    if (sent)
        chunk_unref(&request->call.body.chunk);
    request_fail(request, request_text_late(request, request->shard, has_run));
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
        holding_end_doubt(request);
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

/* With a ref each. */
static struct request **
find_late(struct session_pool *pool, uint64_t now_us, size_t *count)
{
    struct request **late = NULL, *request = NULL;

    *count = 0;
    while ((request = request_next_waiting(pool, request)) != NULL) {
        if (request->due_us > now_us)
            continue;
        if ((*count & (*count - 1)) == 0)
            late = mem_realloc(
                late, MAX(2 * *count, 1u) * sizeof(struct request *));
        request->refs++;
        late[(*count)++] = request;
    }
    return late;
}

/* The more there are, the longer is it until they are looked at again. */
static void
await_next(struct session_pool *pool)
{
    struct request *request = NULL;
    uint64_t due_us = UINT64_MAX;
    size_t count = 0;

    while ((request = request_next_waiting(pool, request)) != NULL) {
        due_us = MIN(due_us, request->due_us);
        count++;
    }
    pool->deadline_us = UINT64_MAX;
    if (count > 0)
        start_timer(pool, due_us, count / SEEN_IN_MS);
}

/* Whoever is told may do anything: so first see who is late, then tell. */
void
request_on_deadline(struct timer *timer, void *arg)
{
    struct session_pool *pool = arg;
    uint64_t now_us = loop_now_us(pool->env->loop);
    size_t count;
    struct request **late = find_late(pool, now_us, &count);

    (void)timer;
    for (size_t i = 0; i < count; i++) {
        if (!late[i]->has_deadline)
            ; /* it was answered with one of the others */
        else if (late[i]->session->pausing == late[i])
            request_note_progress(late[i]); /* it is the client that is slow */
        else
            request_expire(late[i]);
        request_unref(&late[i]);
    }
    mem_free(late);
    await_next(pool);
}

void
request_compact(struct request *request)
{
    struct extent *body = &request->call.body;

    request->is_compact = true;
    if (body->chunk == NULL || body->chunk->kind == CHUNK_ODD)
        return;
    struct extent own = extent_copy_alone(
        loop_chunks(request->pool->env->loop), extent_view(body));
    chunk_unref(&body->chunk);
    *body = own;
}

void
request_compact_old(struct session_pool *pool, uint64_t now_us)
{
    struct request *request = NULL;

    while ((request = request_next_waiting(pool, request)) != NULL) {
        if (request->progress_us + OLD_US <= now_us && !request->is_compact &&
            request->call.body.len < STREAM_SMALL)
            request_compact(request);
    }
}
