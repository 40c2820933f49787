/*
 * session/fanout_stream.c - whose turn it is, and who waits for it.
 */
#include "session/fanout_stream.h"

#include "base/mem.h"
#include "session/deadline.h"

/* --- heads -------------------------------------------------------------------- */

enum heads {
    HEADS_ALL,  /* all are here */
    HEADS_SOME, /* some are still to come */
    HEADS_BAD   /* one has none, or its part is held */
};

static bool
is_concat(const struct request *request)
{
    return request->job->fanout != NULL && fanout_is_concat(request->command);
}

static enum heads
read_heads(const struct request *request, struct fanout_head *whole)
{
    const struct split_job *job = request->job;
    enum heads result = HEADS_ALL;

    *whole = (struct fanout_head){0};
    for (uint32_t i = 0; i < job->split.part_count; i++) {
        if (attempt_is_held(&job->parts[i].attempt))
            return HEADS_BAD;
        if (chain_is_empty(&job->replies[i]))
            result = HEADS_SOME;
        else if (!fanout_add_head(whole, &job->replies[i]))
            return HEADS_BAD;
    }
    return result;
}

/* --- lanes that wait ------------------------------------------------------------ */

static bool
is_its_turn(const struct part_call *part)
{
    return fanout_passes(part->request) &&
        part->request->job->fanout->turn == part->index;
}

static void
pause_part(struct part_call *part)
{
    struct request *request = part->request;

    part->paused = part->call.lane;
    if (is_its_turn(part))
        session_pause_lane(request->session, request, part->paused);
    else
        lane_pause(part->paused);
}

static void
resume_part(struct part_call *part)
{
    struct request *request = part->request;
    struct session *session = request->session;
    struct lane *lane = part->paused;

    part->paused = NULL;
    if (session != NULL && session->pausing == request &&
        request->paused == lane)
        session_resume_lane(session);
    else
        lane_resume(lane);
}

/* So many bytes of this part wait.  Others behind it wait only when no more may be
 * kept for its client, and not at all while memory is short. */
static void
check_lane(struct part_call *part, size_t bytes)
{
    struct session *session = part->request->session;
    const struct call *call = &part->call;

    if (call->lane == NULL || bytes < session_output_high(session))
        return;
    if (call->lane->kind == LANE_PRIVATE || !lane_has_behind(call)) {
        pause_part(part);
        return;
    }
    if (!fanout_passes(part->request))
        return;
    enum close_reason excess = session_excess(session);
    if (excess == CLOSE_CLIENT_MEMORY)
        session_close(&session, excess);
    else if (excess != CLOSE_NONE)
        pause_part(part);
}

void
fanout_stream_contended(struct part_call *part)
{
    struct session *session = part->request->session;

    if (session == NULL || part->paused == NULL)
        return;
    enum close_reason excess =
        fanout_passes(part->request) ? session_excess(session) : CLOSE_NONE;
    if (excess == CLOSE_NONE)
        resume_part(part);
    else if (excess == CLOSE_CLIENT_MEMORY)
        session_close(&session, excess);
}

bool
fanout_makes_wait(const struct request *request)
{
    const struct split_job *job = request->job;

    for (uint32_t i = 0; job != NULL && i < job->split.part_count; i++)
        if (job->parts[i].paused != NULL &&
            lane_has_others(job->parts[i].paused))
            return true;
    return false;
}

void
fanout_stream_let_go(struct request *request)
{
    struct split_job *job = request->job;

    if (job->fanout == NULL)
        return;
    request->refs++; /* what comes may end it */
    for (uint32_t i = 0; i < job->split.part_count; i++)
        if (job->parts[i].paused != NULL)
            resume_part(&job->parts[i]);
    request_unref(&request);
}

/* --- giving --------------------------------------------------------------------- */

static void
note_output(struct session *session)
{
    if (chain_is_empty(&session->stream.out))
        session->sent_us = loop_now_us(session->pool->env->loop);
}

/* What has been kept of a part whose turn has come. */
static void
give_kept(struct request *request, struct chain *kept)
{
    struct session *session = request->session;

    if (chain_is_empty(kept))
        return;
    request_discharge(request, kept->bytes);
    note_output(session);
    chain_take(&session->stream.out, kept);
    stream_mark_dirty(&session->stream);
}

/* Its turn has come. */
static void
go_on(struct part_call *part)
{
    struct session *session = part->request->session;

    if (part->paused == NULL)
        return;
    if (session->stream.out.bytes < session_output_high(session))
        resume_part(part);
    else
        session_pause_lane(session, part->request, part->paused);
}

static void
pass_on(struct request *request)
{
    struct split_job *job = request->job;
    struct fanout_job *fanout = job->fanout;

    while (fanout->turn < job->split.part_count) {
        struct part_call *part = &job->parts[fanout->turn];
        give_kept(request, &job->replies[fanout->turn]);
        if (!part->done) {
            go_on(part);
            return;
        }
        fanout->turn++;
    }
}

static void
give_head(struct request *request, const struct fanout_head *whole)
{
    struct session *session = request->session;
    struct buf text = {0};

    buf_printf(&text, "%c%lld\r\n", whole->type, (long long)whole->count);
    note_output(session);
    stream_push_copy(&session->stream, text.data, text.len);
    request->begun = true;
    request->reply_type = whole->type;
    request->reply_bytes = text.len;
    buf_fini(&text);
}

/* Of each part what is behind its head is kept from now on. */
static void
begin(struct request *request, const struct fanout_head *whole)
{
    struct split_job *job = request->job;

    give_head(request, whole);
    for (uint32_t i = 0; i < job->split.part_count; i++) {
        struct fanout_head head = {0};
        (void)!fanout_add_head(&head, &job->replies[i]);
        chain_drop(&job->replies[i], head.len);
        request_discharge(request, head.len);
        request->reply_bytes += job->replies[i].bytes;
    }
    cell_inc(&request->pool->stats->requests_fanout_streamed);
    job->fanout->passes = true;
    pass_on(request);
}

/* --- pieces ---------------------------------------------------------------------- */

/* Is anything still to come, besides this? */
static bool
is_awaited(const struct request *request, const struct reply_piece *piece)
{
    return !piece->last || request->job->left > 1;
}

void
fanout_stream_look(struct part_call *part, const struct reply_piece *piece)
{
    struct request *request = part->request;
    struct fanout_head whole;

    if (!is_concat(request))
        return;
    request_note_progress(request);
    if (TAILQ_FIRST(&request->session->queue) != request || request->no_reply)
        return;
    if (fanout_is_stale(request)) {
        fanout_stream_let_go(request); /* all will be asked anew */
        return;
    }
    switch (read_heads(request, &whole)) {
    case HEADS_ALL:
        if (is_awaited(request, piece))
            begin(request, &whole);
        break;
    case HEADS_SOME:
        if (!piece->last)
            check_lane(part, request->job->replies[part->index].bytes);
        break;
    case HEADS_BAD:
        break;
    }
}

void
fanout_stream_take(struct part_call *part, const struct reply_piece *piece)
{
    struct request *request = part->request;
    struct session *session = request->session;
    struct chain *kept = &request->job->replies[part->index];
    size_t waiting;

    request->reply_bytes += piece->len;
    if (is_its_turn(part)) {
        note_output(session);
        stream_push(&session->stream, piece->chunk, piece->off, piece->len);
        waiting = session->stream.out.bytes;
    } else {
        chain_push(kept, piece->chunk, piece->off, piece->len);
        request_charge(request, piece->len);
        waiting = kept->bytes;
    }
    request_note_progress(request);
    if (!piece->last)
        check_lane(part, waiting);
}

void
fanout_stream_next(struct request *request)
{
    struct fanout_head whole;

    if (fanout_passes(request))
        pass_on(request);
    else if (is_concat(request) && read_heads(request, &whole) == HEADS_BAD)
        fanout_stream_let_go(request);
}

/* --- lanes of their own ------------------------------------------------------------ */

/* Its call has been or will be told by itself. */
static void
on_gone(struct lane_lease *lease UNUSED)
{
}

bool
fanout_lease(struct part_call *part, struct lane_key key)
{
    const struct session *session = part->request->session;

    if (likely(!session->is_heavy) || session->in_flight > 1 ||
        !is_concat(part->request))
        return false;
    struct lane_lease *lease = MEM_NEW(struct lane_lease);
    lease->key = key;
    lease->on_gone = on_gone;
    server_lease(part_server(part), lease);
    if (lease->lane == NULL) {
        /* Those who have one and wait for another would wait for each other. */
        server_end_lease(part_server(part), lease);
        mem_free(lease);
        return false;
    }
    part->lease = lease;
    lane_submit(lease->lane, &part->call);
    return true;
}

void
fanout_end_lease(struct part_call *part)
{
    struct lane_lease *lease = part->lease;

    if (likely(lease == NULL))
        return;
    part->lease = NULL;
    server_end_lease(part_server(part), lease);
    mem_free(lease);
}

/* --- the end of a session ----------------------------------------------------------- */

static bool
is_waited_for(const struct request *request)
{
    const struct split_job *job = request->job;

    for (uint32_t i = 0; i < job->split.part_count; i++)
        if (job->parts[i].paused != NULL || job->parts[i].lease != NULL)
            return true;
    return false;
}

struct request *
fanout_stream_hold(struct request *request)
{
    if (likely(request == NULL || request->job == NULL) ||
        request->job->fanout == NULL || !is_waited_for(request))
        return NULL;
    request->refs++;
    return request;
}

/* A lane for one part alone is closed rather than read to its end. */
void
fanout_stream_drop(struct request **requestp)
{
    struct request *request = *requestp;

    if (likely(request == NULL))
        return;
    for (uint32_t i = 0; i < request->job->split.part_count; i++)
        fanout_end_lease(&request->job->parts[i]);
    fanout_stream_let_go(request);
    request_unref(requestp);
}
