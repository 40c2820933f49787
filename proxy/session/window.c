/*
 * session/window.c - how much a client may ask for at a time.
 *
 * Fewer requests are in flight the larger their answers lately were, and none
 * more while it does not take what it has got.
 */
#include "session/session.h"

#define REQUESTS_HIGH (1u << 20) /* unanswered bytes with which it stops */
#define REQUESTS_SHORT 65536     /* the same while memory is short */
#define HEAVY_REPLIES 8    /* light replies in a row that end heaviness */

/* Nothing that it has not taken is kept for it, or not too much. */
static inline bool
takes_what_it_gets(const struct session *session)
{
    if (likely(session->held_bytes + session->stream.out.bytes == 0))
        return true;
    return session->stream.out.bytes <=
        session->pool->settings->output_low_water_bytes &&
        (session->in_flight == 0 || !session_is_over_limit(session));
}

/* What it has asked for is in memory until it is answered.  Nearly always that is
 * little, whatever the process has. */
static inline bool
has_asked_much(const struct session *session)
{
    return unlikely(session->asked_bytes >= REQUESTS_SHORT) &&
        session->asked_bytes >=
        (session_is_short(session) ? REQUESTS_SHORT : REQUESTS_HIGH);
}

static inline bool
has_window(const struct session *session)
{
    if (session->upload != NULL || session->holding != NULL)
        return false;
    if (session->in_flight > 0 &&
        (session->barrier || session->is_heavy || session_is_behind(session) ||
         session->in_flight >= session->window || has_asked_much(session)))
        return false;
    return takes_what_it_gets(session);
}

bool
session_has_window(const struct session *session)
{
    return has_window(session);
}

bool
session_has_room(const struct session *session)
{
    return session->state == SESSION_OPEN && session->unfolding == NULL &&
        has_window(session);
}

static void
session_set_heavy(struct session *session, bool heavy)
{
    if (session->is_heavy == heavy)
        return;
    session->is_heavy = heavy;
    session->light_replies = 0;
    if (heavy)
        cell_inc(&session->pool->stats->heavy_clients);
    else
        cell_dec(&session->pool->stats->heavy_clients);
}

static void
note_weight(struct session *session, uint64_t bytes)
{
    if (bytes > session->pool->settings->large_reply_bytes) {
        cell_inc(&session->pool->stats->large_replies);
        session_set_heavy(session, true);
        session->light_replies = 0;
    } else if (session->is_heavy &&
               ++session->light_replies >= HEAVY_REPLIES) {
        session_set_heavy(session, false);
    }
}

/* One more than before, up to what the settings allow for answers of this size.
 * It is decided by products, since a division for each answer is dear. */
static uint32_t
next_window(const struct pool_settings *settings, uint32_t window,
            uint64_t reply_size)
{
    uint64_t bytes = settings->pipeline_window_bytes;
    uint64_t limit = settings->pipeline_limit;

    if (likely(window < limit && (window + 1) * reply_size <= bytes))
        return window + 1;
    if (window <= limit && window * reply_size <= bytes)
        return window;
    return (uint32_t)MIN(MAX(bytes / reply_size, 1u), limit);
}

/* It and those before are so small that the widest window has room for as many: it
 * stays, and so does what is remembered, since anything larger counts for more. */
static inline bool
is_usual(const struct session *session, uint64_t bytes)
{
    const struct pool_settings *settings = session->pool->settings;
    uint64_t limit = settings->pipeline_limit;

    if (session->window != limit || session->is_heavy ||
        bytes > settings->large_reply_bytes)
        return false;
    return MAX(bytes, (uint64_t)session->reply_size) * limit <=
        settings->pipeline_window_bytes;
}

void
session_note_reply(struct session *session, uint64_t bytes)
{
    const struct pool_settings *settings = session->pool->settings;

    if (likely(is_usual(session, bytes)))
        return;
    uint32_t faded = session->reply_size - session->reply_size / 8;
    uint32_t size = (uint32_t)MIN(bytes, (uint64_t)UINT32_MAX);

    session->reply_size = MAX(MAX(faded, size), 1u);
    session->window = next_window(settings, session->window,
                                  session->reply_size);
    note_weight(session, bytes);
}

enum close_reason
session_excess(const struct session *session)
{
    const struct pool_settings *settings = session->pool->settings;
    size_t kept = session->held_bytes + session->stream.out.bytes;

    if (kept > settings->large_reply_bytes && session_is_short(session))
        return CLOSE_CLIENT_MEMORY;
    if (kept > settings->client_output_limit_bytes)
        return CLOSE_CLIENT_OUTPUT_LIMIT;
    return CLOSE_NONE;
}
