/*
 * session/split_reply.c - what lanes say of the parts of a split request.
 */
#include "session/note.h"
#include "session/sentence.h"
#include "session/session.h"
#include "session/split_job_priv.h"
#include "session/wait.h"

/* All that is kept for the request, with this piece, is more than may be kept for a
 * client, which need not be closed then: nothing of it has left. */
static bool
is_too_large(const struct part_call *part, const struct reply_piece *piece)
{
    const struct request *request = part->request;
    size_t limit = request->pool->settings->client_output_limit_bytes;

    return unlikely(request->session->held_bytes + piece->len > limit) &&
        split_job_kept(request) + piece->len > limit;
}

static void
on_part_reply(struct call *call, const struct reply_piece *piece)
{
    struct part_call *part = CONTAINER_OF(call, struct part_call, call);
    struct request *request = part->request;
    struct session *session = request->session;

    if (session == NULL || part->done) {
        if (piece->last) {
            note_discard(request, part_shard(part));
            request_unref(&request);
        }
        return;
    }
    if (attempt_is_refused(request, &part->attempt, part_shard(part), piece)) {
        request_unref(&request);
        return;
    }
    if (is_too_large(part, piece)) {
        split_job_give_up_rest(request, VIEW("ERR proxy: the answer is larger "
                                             "than client_output_limit allows"));
        if (piece->last)
            request_unref(&request);
        return;
    }
    bool alive =
        request_hold(request, &part_job(part)->replies[part->index], piece);
    if (alive && piece->last) {
        if (part->attempt.at_replica)
            cell_inc(&request->pool->stats->replica_reads);
        wait_note_write(session, request->command, part_server(part));
        part_done(part);
    }
    if (piece->last)
        request_unref(&request);
}

static void
on_part_lost(struct call *call, enum close_reason why, bool sent)
{
    struct part_call *part = CONTAINER_OF(call, struct part_call, call);
    struct request *request = part->request;

    if (request->session != NULL && !part->done &&
        why == CLOSE_SERVER_DATABASE) {
        part_fail(part, request_text_database(request, part_shard(part)));
        request_unref(&request);
        return;
    }
    if (request->session == NULL || part->done ||
        holding_take_loss(request, &part->attempt, part_shard(part), sent)) {
        request_unref(&request);
        return;
    }
    if (sent) {
        cell_inc(&request->pool->stats->errors_lost);
        part_fail(part, request_text_lost(request, part_shard(part),
                                          part_may_have_run(part, true)));
    } else {
        part_fail_unreachable(part);
    }
    request_unref(&request);
}

const struct call_ops part_call_ops = {
    .on_reply = on_part_reply,
    .on_lost = on_part_lost,
};
