/*
 * session/direct_reply.c - what a server says to a direct transaction.
 */
#include "command/outcome.h"
#include "session/direct_priv.h"
#include "session/holding.h"
#include "session/key_watch.h"
#include "session/retry.h"

static void
end(struct session *session, bool is_clean)
{
    struct direct *direct = session_direct(session);

    if (direct == NULL)
        return;
    if (!is_clean || direct->lease.lane == NULL) {
        direct_free(session);
        return;
    }
    server_end_lease(direct->server, &direct->lease);
    direct_forget(session);
}

/* What is behind it, on the same lane, is not queued either. */
static void
note_no_multi(const struct request *request)
{
    struct request *later = TAILQ_NEXT(request, link);

    for (; later != NULL; later = TAILQ_NEXT(later, link))
        later->multi_failed |= later->own_lane == OWN_LANE_DIRECT;
}

/* Nothing goes over the lane any more, nor does what waits for it. */
static void
give_up(struct request *request)
{
    struct session *session = request->session;
    bool is_told = session->transaction == NULL ||
        session->transaction->is_spoilt;

    if (request->multi_failed)
        note_no_multi(request);
    transaction_spoil(session);
    direct_drop_lane(session);
    if (!is_told) /* else it is one of these */
        direct_fail_waiting(session);
}

void
direct_on_done(struct request *request)
{
    struct session *session = request->session;
    struct direct *direct = session_direct(session);
    char type = request->reply_type;

    if (request->command->id == COMMAND_ID_EXEC) {
        end(session,
            type == '*' || type == '_' ||
                (type == '-' && direct != NULL && direct->is_over));
    } else if (type == '-') {
        transaction_note_refusal(session);
    } else if (type != '+') {
        give_up(request);
    }
}

bool
direct_may_go_again(const struct request *request)
{
    const struct session *session = request->session;
    const struct transaction *transaction = session->transaction;
    const struct direct *direct = session_direct(session);

    if (!direct_is_queueing(request))
        return direct != NULL && direct->whole.chunk != NULL;
    return session->watch == NULL && transaction != NULL &&
        !transaction->is_spoilt && !transaction->is_refused &&
        !transaction->is_forgotten;
}

/* It did not run, and may at another server, or later. */
static bool
is_elsewhere(const struct request *request, struct view line)
{
    const struct pool_settings *settings = request->pool->settings;
    enum outcome outcome = outcome_of(line);

    if (!pool_is_followed(settings))
        return false;
    return (pool_is_named(settings)
                ? retry_action_of_master(outcome, request->attempt.waits)
                : retry_action(outcome)) != RETRY_PASS_ON;
}

void
direct_break_watch(struct request *request)
{
    key_watch_break(request->session);
    direct_answer_queued(request);
}

/* The server has forgotten the transaction. */
static bool
is_abort(struct view line)
{
    struct view words = VIEW("-EXECABORT ");

    return line.len > words.len &&
        view_equal(view_of(line.data, words.len), words);
}

/* EXEC was answered with this error. */
static void
note_end(struct request *request, struct view line)
{
    if (is_elsewhere(request, line)) {
        (void)direct_become_whole(request);
        return;
    }
    struct direct *direct = session_direct(request->session);
    if (direct != NULL)
        direct->is_over = is_abort(line);
    cell_inc(&request->pool->stats->transactions_discarded);
}

bool
direct_take_error(struct request *request, const struct reply_piece *piece)
{
    struct view line = view_of(piece->chunk->data + piece->off, piece->len);
    struct session *session = request->session;

    if (!piece->last || piece->size != piece->len)
        return false;
    if (!direct_is_queueing(request)) {
        note_end(request, line);
        return false;
    }
    if (session->watch == NULL || !is_elsewhere(request, line))
        return false;
    session_pool_hint(request->pool, MAP_CAUSE_MOVED);
    direct_break_watch(request);
    return true;
}

bool
direct_take_held(struct request *request)
{
    if (!direct_is_queueing(request) || request->session->watch == NULL)
        return false;
    direct_break_watch(request);
    return true;
}

bool
direct_take_loss(struct request *request, enum close_reason why, bool *sent)
{
    if (!direct_is_queueing(request)) {
        if (!*sent)
            (void)direct_become_whole(request);
        return false;
    }
    *sent = false;
    if (request->session->watch != NULL) {
        direct_break_watch(request);
        return true;
    }
    /* We have left the lane, not the server us. */
    if (why != CLOSE_LANE_UNCLEAN ||
        !pool_is_followed(request->pool->settings) ||
        !direct_may_go_again(request))
        return false;
    request_undo(request);
    holding_take_anew(request, &request->attempt);
    return true;
}
