/*
 * session/inquiry.c - asking whichever server can be reached first.
 */
#include "session/inquiry.h"

/* --- its end ------------------------------------------------------------------ */

/* Its session, if it is still there, waits for it no longer. */
static struct session *
leave(struct inquiry *inquiry)
{
    struct session *session = inquiry->session;

    timer_stop(&inquiry->timer);
    if (session == NULL)
        return NULL;
    inquiry->session = NULL;
    session->info->inquiry = NULL;
    session->in_flight--;
    return session;
}

static void
let_go(struct inquiry *inquiry)
{
    struct session *session = leave(inquiry);

    if (session != NULL)
        session_resume_later(session);
}

static void
end(struct inquiry *inquiry)
{
    let_go(inquiry);
    chunk_unref(&inquiry->call.body.chunk);
    generation_unref(&inquiry->generation);
    inquiry->ops->free(inquiry);
}

/* --- what comes of it --------------------------------------------------------- */

static void
on_reply(struct call *call, const struct reply_piece *piece)
{
    struct inquiry *inquiry = CONTAINER_OF(call, struct inquiry, call);

    if (!piece->last) {
        inquiry->is_long = true;
        return;
    }
    struct view reply = inquiry->is_long
        ? VIEW("")
        : view_of(piece->chunk->data + piece->off, piece->len);
    inquiry->is_long = false;
    if (!inquiry->ops->on_answer(inquiry, reply))
        end(inquiry);
}

static void
on_lost(struct call *call, enum close_reason why, bool sent UNUSED)
{
    struct inquiry *inquiry = CONTAINER_OF(call, struct inquiry, call);

    /* Without a session the pool may be about to end. */
    if (inquiry->session != NULL)
        inquiry->ops->on_failure(
            inquiry, call_was_refused(why) ? inquiry->server->refusal : NULL);
    end(inquiry);
}

static const struct call_ops inquiry_call_ops = {
    .on_reply = on_reply,
    .on_lost = on_lost,
};

/* Nobody waits for the answer; if it was not sent, there will be none. */
static void
give_up(struct inquiry *inquiry)
{
    let_go(inquiry);
    if (inquiry->call.state == CALL_WAITING &&
        server_withdraw(inquiry->server, &inquiry->call))
        end(inquiry);
}

static void
on_timeout(struct timer *timer UNUSED, void *arg)
{
    struct inquiry *inquiry = arg;
    bool was_sent = inquiry->call.state == CALL_SENT;

    inquiry->ops->on_failure(inquiry, NULL);
    give_up(inquiry);
    /* What the server makes of it may end the call, and the inquiry with it. */
    if (was_sent)
        server_on_expired(inquiry->server, &inquiry->call);
}

/* --- asking ------------------------------------------------------------------- */

bool
inquiry_ask(struct inquiry *inquiry, uint16_t user)
{
    const struct generation *generation = inquiry->generation;
    const struct session *session = inquiry->session;
    struct lane_key key = {
        .db = session->db,
        .user = user,
        .resp = session->resp,
    };

    for (uint32_t i = 0; i < generation->shard_count; i++) {
        inquiry->server = generation_server(generation, i);
        if (server_submit(inquiry->server, key, session->lane_number,
                          &inquiry->call))
            return true;
    }
    return false;
}

bool
inquiry_begin(struct inquiry *inquiry, const struct inquiry_ops *ops,
              struct session *session, uint16_t user, struct extent body)
{
    struct session_pool *pool = session->pool;

    *inquiry = (struct inquiry){
        .ops = ops,
        .session = session,
        .pool = pool,
        .generation = generation_ref(session->generation),
    };
    call_init(&inquiry->call, &inquiry_call_ops);
    inquiry->call.body = body;
    client_info_of(session)->inquiry = inquiry;
    session->in_flight++;
    timer_init(&inquiry->timer, pool->env->loop, on_timeout, inquiry);
    timer_start(&inquiry->timer, (int64_t)pool->settings->request_timeout_ms);
    if (inquiry_ask(inquiry, user))
        return true;
    (void)leave(inquiry); /* which is being looked at, and is not to be again */
    end(inquiry);
    return false;
}

void
inquiry_abandon(struct session *session)
{
    if (session->info != NULL && session->info->inquiry != NULL)
        give_up(session->info->inquiry);
}
