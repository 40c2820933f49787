/*
 * session/transaction_reply.c - what a server says to a transaction.
 */
#include "session/direct.h"
#include "session/holding.h"
#include "session/key_watch.h"
#include "session/sentence.h"
#include "session/transaction_priv.h"

static void
forget_refusal(struct request *request)
{
    chunk_unref(&request->refusal.chunk);
    request->refusal = (struct extent){0};
}

/* Of several the first is kept; of that in front of MULTI (to ASKING) nothing
 * depends. */
void
transaction_on_leading(struct request *request, const struct reply_piece *piece)
{
    const struct call *call = &request->call;

    if (likely(piece->type != '-') || !piece->last ||
        piece->size != piece->len || request->refusal.chunk != NULL ||
        call->skip >= call->leading)
        return;
    request->refusal.chunk = chunk_ref(piece->chunk);
    request->refusal.off = piece->off;
    request->refusal.len = piece->len;
    request->multi_failed = call->skip == call->leading - 1;
}

/* The words of an error line, without '-' and CRLF. */
static struct view
words_of(const struct reply_piece *piece)
{
    return view_of(piece->chunk->data + piece->off + 1, piece->len - 3);
}

static void
tell_refusal(struct request *request, const struct reply_piece *refusal)
{
    struct view words = words_of(refusal);
    struct buf text = {0};

    if (request->multi_failed)
        buf_printf(&text,
                   "ERR proxy: shard %s did not take MULTI (%.*s), the "
                   "commands may have been executed",
                   request_server(request)->name, (int)words.len, words.data);
    else
        buf_printf(&text, "EXECABORT Transaction discarded because of: %.*s",
                   (int)words.len, words.data);
    cell_inc(&request->pool->stats->transactions_discarded);
    request_fail(request, buf_view(&text));
    buf_fini(&text);
}

/* A command in front of this one was refused, of which its client has been told
 * that it is queued.  True: this one has been answered, or is held. */
static bool
take_refusal_in_front(struct request *request,
                      const struct reply_piece *refusal)
{
    if (request->multi_failed) {
        tell_refusal(request, refusal);
        return true;
    }
    if (direct_take_error(request, refusal))
        return true;
    if (!attempt_is_refused(request, &request->attempt, request->shard,
                            refusal)) {
        transaction_note_refusal(request->session);
        return false;
    }
    if (!direct_may_go_again(request))
        request_fail(request, request_text_gone(request, &request->attempt));
    return true;
}

/* A command in front was refused, and the answer is long, which none is to a
 * command that is queued: its end is not waited for. */
static void
end_lane(struct request *request, const struct reply_piece *refusal)
{
    struct lane *lane = request->call.lane;

    request->refs++; /* instead of the call's, which ends with its lane */
    if (request->multi_failed)
        tell_refusal(request, refusal);
    else
        lane_close(&lane, CLOSE_SERVER_BAD_REPLY);
    forget_refusal(request);
}

bool
transaction_take_refusal(struct request *request,
                         const struct reply_piece *piece)
{
    if (request->refusal.chunk == NULL)
        return false;
    struct reply_piece refusal = {
        .chunk = request->refusal.chunk,
        .off = request->refusal.off,
        .len = request->refusal.len,
        .type = '-',
        .last = true,
        .size = request->refusal.len,
    };
    if (request->own_lane == OWN_LANE_DIRECT) {
        if (!piece->last) {
            end_lane(request, &refusal);
            return true;
        }
        bool is_taken = take_refusal_in_front(request, &refusal);
        forget_refusal(request);
        return is_taken;
    }
    if (piece->type != '-' || !piece->last) {
        if (piece->last)
            forget_refusal(request);
        return false;
    }
    if (!request->multi_failed && key_watch_take_refusal(request, &refusal)) {
        forget_refusal(request);
        return true;
    }
    if (request->multi_failed ||
        !attempt_is_refused(request, &request->attempt, request->shard,
                            &refusal))
        tell_refusal(request, &refusal);
    forget_refusal(request);
    return true;
}
