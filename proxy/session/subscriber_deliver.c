/*
 * session/subscriber_deliver.c - what is said to a client between its replies.
 */
#include "session/subscriber.h"
#include "session/tracker.h"

#define US_PER_MS 1000

void
subscriber_mark_over(struct subscriber *subscriber)
{
    if (subscriber->is_over)
        return;
    subscriber->is_over = true;
    TAILQ_INSERT_TAIL(&subscriber->board->over, subscriber, over_link);
}

static bool
is_over_limit(struct subscriber *subscriber)
{
    struct session *session = subscriber->session;
    const struct pool_settings *settings = session->pool->settings;
    size_t bytes = session->stream.out.bytes + subscriber->held.bytes;
    uint64_t now_us = loop_now_us(session->pool->env->loop);

    if (settings->pubsub_output_limit_bytes > 0 &&
        bytes > settings->pubsub_output_limit_bytes)
        return true;
    if (settings->pubsub_output_soft_limit_bytes == 0 ||
        bytes <= settings->pubsub_output_soft_limit_bytes) {
        subscriber->soft_since_us = 0;
        return false;
    }
    if (subscriber->soft_since_us == 0)
        subscriber->soft_since_us = now_us;
    return now_us - subscriber->soft_since_us >
        (uint64_t)settings->pubsub_output_soft_time_ms * US_PER_MS;
}

/* May what servers say by themselves come into the output now? */
static bool
is_between_replies(const struct session *session)
{
    const struct request *head = TAILQ_FIRST(&session->queue);

    return session->unfolding == NULL &&
        (head == NULL || !head->begun || head->done);
}

void
subscriber_push(struct subscriber *subscriber, struct view head,
                const struct extent *rest)
{
    struct session *session = subscriber->session;
    bool is_now = is_between_replies(session);
    struct chain *out = is_now ? &session->stream.out : &subscriber->held;

    if (session->state != SESSION_OPEN || subscriber->is_over)
        return;
    if (chain_is_empty(&session->stream.out))
        session->sent_us = loop_now_us(session->pool->env->loop);
    if (head.len > 0)
        chain_copy(out, loop_chunks(session->pool->env->loop), head.data,
                   head.len);
    chain_push_dense(out, rest->chunk, rest->off, rest->len);
    if (is_now)
        stream_mark_dirty(&session->stream);
    if (unlikely(is_over_limit(subscriber)))
        subscriber_mark_over(subscriber);
}

/* As an array, or as RESP3 has it: the rest of the two is the same. */
void
subscriber_deliver(struct subscriber *subscriber, const struct extent *message)
{
    const struct session *session = subscriber->session;
    uint32_t skip = session->resp == 3;
    struct extent rest = {message->chunk, message->off + skip,
                          message->len - skip};

    if (session->state != SESSION_OPEN || subscriber->is_over)
        return;
    cell_inc(&session->pool->stats->messages);
    subscriber_push(subscriber, skip > 0 ? VIEW(">") : VIEW(""), &rest);
}

void
subscriber_flush(struct session *session)
{
    struct subscriber *subscriber = session->subscriber;

    if (session->unfolding != NULL)
        return;
    if (!chain_is_empty(&subscriber->held)) {
        chain_take(&session->stream.out, &subscriber->held);
        stream_mark_dirty(&session->stream);
    }
    if (unlikely(subscriber->tracker != NULL))
        tracker_flush(subscriber->tracker);
    else
        subscriber_free_if_done(session);
}
