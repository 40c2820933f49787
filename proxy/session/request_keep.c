/*
 * session/request_keep.c - answers that are kept until their turn.
 */
#include "session/request.h"

#include "session/session.h"
#include "session/split_job.h"

#define HELD_SMALL 16384 /* kept answers below this are made compact ... */
#define HELD_SPELL_US 1000 /* ... when they are older than this, or twice this */

void
request_charge(struct request *request, size_t bytes)
{
    cell_add(&request->pool->stats->held_bytes, bytes);
    if (request->session != NULL)
        request->session->held_bytes += bytes;
}

void
request_discharge(struct request *request, size_t bytes)
{
    cell_sub(&request->pool->stats->held_bytes, bytes);
    if (request->session != NULL)
        request->session->held_bytes -= bytes;
}

void
request_drop_reply(struct request *request)
{
    request_discharge(request, request->reply.bytes);
    chain_clear(&request->reply);
}

bool
request_hold(struct request *request, struct chain *reply,
             const struct reply_piece *piece)
{
    struct session *session = request->session;
    struct session_env *env = request->pool->env;

    chain_push(reply, piece->chunk, piece->off, piece->len);
    request_charge(request, piece->len);
    if (!request->is_held) {
        request->is_held = true;
        LIST_INSERT_HEAD(&env->held, request, held_link);
    }
    enum close_reason excess = session_excess(session);
    if (unlikely(excess != CLOSE_NONE)) {
        session_close(&session, excess);
        return false;
    }
    return true;
}

static void
compact(struct chain *reply, struct chunk_pool *pool)
{
    if (reply->bytes > 0 && reply->bytes < HELD_SMALL)
        (void)chain_compact(reply, pool);
}

void
request_compact_held(struct session_env *env)
{
    struct request *request;
    uint64_t now_us = loop_now_us(env->loop);

    if (now_us - env->held_us < HELD_SPELL_US)
        return;
    env->held_us = now_us;
    while ((request = LIST_FIRST(&env->held_before)) != NULL) {
        LIST_REMOVE(request, held_link);
        request->is_held = false;
        if (request->job != NULL)
            split_job_each_reply(request, compact);
        compact(&request->reply, loop_chunks(env->loop));
    }
    /* They become those of the spell before: the whole list, untouched. */
    request = LIST_FIRST(&env->held);
    LIST_INIT(&env->held);
    if (request != NULL) {
        LIST_FIRST(&env->held_before) = request;
        request->held_link.le_prev = &LIST_FIRST(&env->held_before);
    }
}
