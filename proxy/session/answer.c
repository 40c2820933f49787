/*
 * session/answer.c - answers of the proxy's own.
 */
#include "session/request.h"

#include <stdarg.h>
#include <stdio.h>

#include "command/missing.h"
#include "resp/encode.h"
#include "session/carrying.h"
#include "session/identity.h"
#include "session/note.h"
#include "session/sentence.h"
#include "session/session.h"

#define TEXT_MAX 256

/* An error that the client is told, for a command or for none. */
static void
count_error(struct session_stats *stats, const struct command *command,
            struct view line)
{
    error_stats_note(&stats->errors, line);
    if (command != NULL)
        cell_inc(&session_stats_account(stats, command)->all.failed);
}

/* Finish with a whole answer of the proxy's own, which is freed. */
static void
request_finish_with(struct request *request, struct buf *answer)
{
    struct chunk_pool *pool = loop_chunks(request->pool->env->loop);

    request_drop_reply(request);
    if (unlikely(request->carrying != NULL))
        carrying_end(request);
    identity_answered(request);
    chain_copy(&request->reply, pool, answer->data, answer->len);
    request_charge(request, answer->len);
    request->reply_bytes = answer->len;
    buf_fini(answer);
    request_done(request);
}

void
request_answer(struct request *request, struct view reply)
{
    struct buf answer = {0};

    buf_append_view(&answer, reply);
    request_finish_with(request, &answer);
}

void
request_fail(struct request *request, struct view text)
{
    struct session_stats *stats = request->pool->stats;
    struct buf line = {0};

    encode_error(&line, text);
    if (unlikely(request->carrying != NULL))
        carrying_explain(request, &line);
    cell_inc(&stats->forward_error);
    count_error(stats, request->command, buf_view(&line));
    note_refusal(request->session, request->command, text);
    request_finish_with(request, &line);
}

void
request_note_error(struct request *request)
{
    char line[ERROR_CODE_MAX + 1];
    size_t len = MIN(request->reply.bytes, sizeof(line));

    chain_peek(&request->reply, line, len);
    request->error =
        error_stats_find(&request->pool->stats->errors, view_of(line, len));
}

bool
request_nil_answer(struct request *request, const struct extent *body,
                   struct buf *out)
{
    if (request->pool->settings->on_server_down != DOWN_NIL ||
        body->chunk == NULL || request->carrying != NULL ||
        request->own_lane == OWN_LANE_DIRECT)
        return false;
    struct view bytes = view_of(body->chunk->data + body->off, body->len);
    if (!missing_reply(request->command, bytes, request->session->resp, out))
        return false;
    cell_inc(&request->pool->stats->answered_nil);
    return true;
}

void
request_fail_unreachable(struct request *request)
{
    struct buf answer = {0};

    if (request_nil_answer(request, &request->call.body, &answer)) {
        request_finish_with(request, &answer);
        return;
    }
    cell_inc(&request->pool->stats->errors_unreachable);
    request_fail(request, request_text_unreachable(request, request->shard));
}

void
request_fail_lost(struct request *request)
{
    cell_inc(&request->pool->stats->errors_lost);
    request_fail(request, request_text_lost(request, request->shard, true));
}

void
request_count_barred(const struct request *request, uint32_t shard)
{
    struct session_stats *stats = request->pool->stats;

    if (generation_server(request->generation, shard)->gate == GATE_STUCK)
        cell_inc(&stats->errors_failover);
    else
        cell_inc(&stats->errors_no_quorum);
}

void
request_fail_barred(struct request *request)
{
    request_count_barred(request, request->shard);
    request_fail(request, request_text_barred(request, request->shard));
}

void
request_fail_fmt(struct request *request, const char *fmt, ...)
{
    char text[TEXT_MAX];
    va_list args;

    va_start(args, fmt);
    int len = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    request_fail(request, view_of(text, MIN((size_t)len, sizeof(text) - 1)));
}

/* It has been answered in the turn in which it came. */
static void
count_answer(struct session_stats *stats, const struct command *command,
             struct view reply)
{
    cell_inc(&stats->replies);
    cell_add(&stats->reply_bytes, reply.len);
    if (command != NULL)
        histogram_add(&session_stats_account(stats, command)->all.latency, 0);
}

void
request_answer_now(struct session *session, const struct command *command,
                   struct view reply)
{
    if (reply.len > 0 && reply.data[0] == '-')
        count_error(session->pool->stats, command, reply);
    if (!TAILQ_EMPTY(&session->queue)) {
        struct request *request = request_new(session, command);
        chain_copy(&request->reply, loop_chunks(session->pool->env->loop),
                   reply.data, reply.len);
        request_charge(request, reply.len);
        request->reply_bytes = reply.len;
        request->no_reply = false;
        request->done = true;
        return;
    }
    if (reply.len > 0)
        stream_push_copy(&session->stream, reply.data, reply.len);
    count_answer(session->pool->stats, command, reply);
}
