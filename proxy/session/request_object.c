/*
 * session/request_object.c - the memory of requests, which a worker uses again.
 */
#include "session/request.h"

#include "base/mem.h"
#include "session/carrying.h"
#include "session/session.h"
#include "session/split_job.h"

#define FREE_REQUESTS 8192 /* kept for reuse by a worker */

/* In one read with the one that will be in front of it. */
static inline bool
came_with_last(const struct session *session, uint64_t start_us)
{
    const struct request *last = TAILQ_LAST(&session->queue, request_list);

    return last != NULL && last->start_us == start_us;
}

struct request *
request_new(struct session *session, const struct command *command)
{
    struct session_env *env = session->pool->env;
    struct request *request = env->free_requests;

    if (request != NULL) {
        env->free_requests = TAILQ_NEXT(request, link);
        env->free_request_count--;
        prefetch(env->free_requests, sizeof(*request));
    } else {
        request = mem_alloc(sizeof(*request));
    }
    mem_zero(request, sizeof(*request));
    request->pool = session->pool;
    request->session = session;
    request->generation = generation_ref(session->generation);
    request->command = command;
    request->id = ++env->next_request_id;
    request->start_us = loop_now_us(env->loop);
    request->refs = 1;
    request->no_reply = session->reply_off;
    request->call.ops = &request_call_ops;
    request->follows = came_with_last(session, request->start_us);
    TAILQ_INSERT_TAIL(&session->queue, request, link);
    session->in_flight++;
    cell_inc(&session->pool->stats->requests_in_flight);
    return request;
}

static void
request_free(struct request *request)
{
    struct session_env *env = request->pool->env;

    ASSERT(request->session == NULL && !request->has_deadline);
    ASSERT(request->generation != NULL);
    if (request->is_held)
        LIST_REMOVE(request, held_link);
    if (unlikely(request->job != NULL))
        split_job_free(request);
    if (unlikely(request->carrying != NULL))
        carrying_free(request);
    if (unlikely(request->wants != NULL))
        mem_free(request->wants);
    if (!chain_is_empty(&request->reply))
        chain_clear(&request->reply);
    chunk_unref(&request->call.body.chunk);
    chunk_unref(&request->refusal.chunk);
    generation_unref(&request->generation);
    if (env->free_request_count >= FREE_REQUESTS) {
        mem_free(request);
        return;
    }
    request->link.tqe_next = env->free_requests;
    env->free_requests = request;
    env->free_request_count++;
}

void
request_unref(struct request **requestp)
{
    struct request *request = *requestp;

    *requestp = NULL;
    if (--request->refs == 0)
        request_free(request);
}
