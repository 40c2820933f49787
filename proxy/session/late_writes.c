/*
 * session/late_writes.c - counting what is under way at such a moment.
 */
#include "session/late_writes.h"

#include "base/log.h"
#include "session/retry.h"
#include "session/session.h"
#include "session/split_job_priv.h"

struct counting {
    uint32_t shard;
    unsigned count;
};

static void
count_part(struct request *request UNUSED, struct attempt *attempt, void *arg)
{
    const struct part_call *part =
        CONTAINER_OF(attempt, struct part_call, attempt);
    struct counting *counting = arg;

    counting->count += part->call.state == CALL_SENT &&
        attempt->slot == counting->shard;
}

static void
count_request(struct request *request, struct counting *counting)
{
    if (request->done || request->command == NULL ||
        retry_only_reads(request->command))
        return;
    if (request->job != NULL)
        split_job_visit(request, count_part, counting);
    else
        counting->count += request->call.state == CALL_SENT &&
            request->shard == counting->shard;
}

static unsigned
count_writes(struct session_pool *pool, uint32_t shard)
{
    struct counting counting = {.shard = shard};
    struct session *session;
    struct request *request;

    TAILQ_FOREACH(session, &pool->sessions, link)
    {
        TAILQ_FOREACH(request, &session->queue, link)
        {
            count_request(request, &counting);
        }
    }
    return counting.count;
}

void
late_writes_look(struct session_pool *pool)
{
    const struct generation *current = pool->pool->current;

    for (uint32_t i = 0; i < current->shard_count; i++) {
        struct server *server = generation_server(current, i);
        if (likely(!server->is_promoting))
            continue;
        server->is_promoting = false;
        unsigned count = count_writes(pool, i);
        if (count == 0)
            continue;
        cell_add(&pool->stats->late_writes, count);
        log_warn("writes are under way while a replica is promoted, which it "
                 "may not have", "pool=%s server=%s writes=%u",
                 pool->settings->name, server->name, count);
    }
}
