/*
 * session/split_reply.c - what lanes say of the parts of a split request.
 */
#include "session/fanout_stream.h"
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
        !fanout_passes(request) && split_job_kept(request) + piece->len > limit;
}

/* It may be the end of the session. */
static void
take_piece(struct part_call *part, const struct reply_piece *piece)
{
    struct request *request = part->request;

    if (fanout_passes(request))
        fanout_stream_take(part, piece);
    else if (request_hold(request, &part_job(part)->replies[part->index],
                          piece))
        fanout_stream_look(part, piece);
    if (!piece->last || request->session == NULL || part->done)
        return;
    if (part->attempt.at_replica)
        cell_inc(&request->pool->stats->replica_reads);
    wait_note_write(request->session, request->command, part_server(part));
    part_done(part);
}

static void
on_part_reply(struct call *call, const struct reply_piece *piece)
{
    struct part_call *part = CONTAINER_OF(call, struct part_call, call);
    struct request *request = part->request;

    part->paused = NULL; /* or nothing had come */
    if (piece->last)
        fanout_end_lease(part);
    if (request->session == NULL || part->done) {
        if (piece->last) {
            note_discard(request, part_shard(part));
            request_unref(&request);
        }
        return;
    }
    if (attempt_is_refused(request, &part->attempt, part_shard(part), piece)) {
        fanout_stream_let_go(request);
        request_unref(&request);
        return;
    }
    if (is_too_large(part, piece))
        split_job_give_up_rest(request,
                               VIEW("ERR proxy: the answer is larger "
                                    "than client_output_limit allows"));
    else
        take_piece(part, piece);
    if (piece->last)
        request_unref(&request);
}

/* Its lane is no more. */
static void
forget_lane(struct part_call *part)
{
    struct request *request = part->request;
    struct session *session = request->session;

    if (session != NULL && session->pausing == request &&
        request->paused == part->paused)
        request->paused = NULL;
    part->paused = NULL;
    fanout_end_lease(part);
}

static void
fail_lost(struct part_call *part, enum close_reason why, bool sent)
{
    struct request *request = part->request;
    uint32_t shard = part_shard(part);

    if (call_was_refused(why)) {
        part_fail(part, request_text_refused(request, shard));
    } else if (holding_take_loss(request, &part->attempt, shard, sent)) {
        fanout_stream_let_go(request);
    } else if (sent) {
        cell_inc(&request->pool->stats->errors_lost);
        part_fail(part,
                  request_text_lost(request, shard,
                                    part_may_have_run(part, true)));
    } else {
        part_fail_unreachable(part);
    }
}

static void
on_part_lost(struct call *call, enum close_reason why, bool sent)
{
    struct part_call *part = CONTAINER_OF(call, struct part_call, call);
    struct request *request = part->request;
    struct session *session = request->session;

    forget_lane(part);
    if (session != NULL && !part->done) {
        if (request->begun)
            session_close(&session, CLOSE_REPLY_CUT);
        else
            fail_lost(part, why, sent);
    }
    request_unref(&request);
}

static void
on_part_contended(struct call *call)
{
    fanout_stream_contended(CONTAINER_OF(call, struct part_call, call));
}

const struct call_ops part_call_ops = {
    .on_reply = on_part_reply,
    .on_lost = on_part_lost,
    .on_contended = on_part_contended,
};
