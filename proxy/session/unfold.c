/*
 * session/unfold.c - the commands of a transaction, one after the other.
 */
#include "session/unfold.h"

#include "base/mem.h"
#include "session/body_words.h"
#include "session/subscriber.h"
#include "session/tracker.h"

struct unfolding {
    struct extent bytes; /* what is left */
    bool is_silent;      /* CLIENT REPLY OFF or SKIP */
};

void
unfold_begin(const struct incoming *in, struct extent bytes, uint32_t count)
{
    struct session *session = in->session;
    struct buf *header = &session->pool->env->out;

    session->unfolding = MEM_NEW(struct unfolding);
    session->unfolding->bytes = bytes;
    session->unfolding->is_silent = session->reply_off;
    cell_inc(&session->pool->stats->transactions_split);
    if (!session->reply_off) {
        header->len = 0;
        buf_printf(header, "*%u\r\n", count);
        request_answer_now(session, in->command, buf_view(header));
    }
    session_resume_later(session);
}

void
unfold_free(struct session *session)
{
    struct unfolding *unfolding = session->unfolding;

    if (unfolding == NULL)
        return;
    session->unfolding = NULL;
    chunk_unref(&unfolding->bytes.chunk);
    mem_free(unfolding);
}

/* False when it has to wait, or when the session has ended by it. */
static bool
take_one(struct session *session, struct request_scan *scan)
{
    struct extent *bytes = &session->unfolding->bytes;
    struct request_limits limits = body_limits();
    enum resp_result result = request_scan(
        scan, &limits, bytes->chunk->data + bytes->off, bytes->len);

    ASSERT(result == RESP_OK); /* it was scanned when it was queued */
    bool taken = request_accept(session, bytes->chunk, bytes->off, scan);
    if (session->unfolding == NULL)
        return false;
    if (taken) {
        bytes->off += (uint32_t)scan->size;
        bytes->len -= (uint32_t)scan->size;
    }
    request_scan_reset(scan);
    return taken;
}

/* The array is whole: what was held back behind it may leave. */
static void
end(struct session *session)
{
    unfold_free(session);
    tracker_forget_caching(session);
    if (session->subscriber != NULL)
        subscriber_flush(session);
}

void
unfold_go(struct session *session)
{
    struct unfolding *unfolding = session->unfolding;
    bool reply_off = session->reply_off;
    struct request_scan scan;
    bool more = true;

    if (session->barrier && session->in_flight > 0)
        return;
    session->barrier = false;
    session->reply_off = unfolding->is_silent;
    request_scan_init(&scan);
    while (more && unfolding->bytes.len > 0 &&
           session_has_window(session))
        more = take_one(session, &scan);
    request_scan_fini(&scan);
    session->reply_off = reply_off;
    if (session->unfolding == NULL)
        return;
    if (unfolding->bytes.len == 0 && session->in_flight == 0)
        end(session);
    else
        session->barrier = true; /* it goes on when these are answered */
}
