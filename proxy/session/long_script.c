/*
 * session/long_script.c - a script that runs for long holds up nobody else.
 */
#include "session/long_script.h"

#include "base/log_limit.h"
#include "session/deadline.h"
#include "session/session.h"

#define LANES_FOR_BOTH 4 /* below, one kind does for all */
#define LONG_SCRIPT_US (LONG_SCRIPT_MS * UINT64_C(1000))

/* May it run for long, on a lane that others share? */
static bool
is_candidate(const struct request *request)
{
    return request->call.state == CALL_SENT &&
        request->call.lane->kind == LANE_SHARED &&
        !request->call.lane->is_left && long_script_is(request->command);
}

static void
tell(const struct request *request)
{
    const struct session_pool *pool = request->pool;
    const char *server = request->call.lane->server->name;

    log_info_limited(pool->settings->name, server,
                     "script holds up a connection",
                     "pool=%s server=%s command=%s", pool->settings->name,
                     server, request->command->name);
}

/* They go to other lanes now, but not before all is answered. */
static void
make_all_wait(struct session_pool *pool)
{
    struct request *request = NULL;

    while ((request = request_next_waiting(pool, request)) != NULL)
        request->session->barrier = true;
}

static void
on_timer(struct timer *timer, void *arg)
{
    struct session_pool *pool = arg;
    uint64_t now_us = loop_now_us(pool->env->loop);
    bool is_due = pool->script_us + 2 * LONG_SCRIPT_US > now_us;
    bool has_left = false;
    struct request *request = NULL;

    while ((request = request_next_waiting(pool, request)) != NULL) {
        if (request->progress_us + LONG_SCRIPT_US > now_us ||
            !is_candidate(request))
            continue;
        /* It need not be the first: what the server has run just before has
         * no answer yet either, since that leaves together with others. */
        if (server_leave_lane(request->call.lane)) {
            tell(request);
            has_left = true;
        } else {
            is_due = true;
        }
    }
    if (has_left)
        make_all_wait(pool);
    if (is_due)
        timer_start(timer, LONG_SCRIPT_MS);
}

void
long_script_init(struct session_pool *pool)
{
    timer_init(&pool->long_script, pool->env->loop, on_timer, pool);
}

static void
watch(struct session_pool *pool)
{
    pool->script_us = loop_now_us(pool->env->loop);
    if (!timer_is_active(&pool->long_script))
        timer_start(&pool->long_script, LONG_SCRIPT_MS);
}

/* --- lanes for scripts ------------------------------------------------------- */

/* Is there room for two kinds of lanes? */
static bool
has_room(const struct session *session)
{
    const struct generation *generation = session->generation;

    return generation->shard_count > 0 &&
        generation_server(generation, 0)->lane_max >= LANES_FOR_BOTH;
}

void
long_script_begin(struct session *session)
{
    watch(session->pool);
    if (session->is_scripting || !TAILQ_EMPTY(&session->queue) ||
        session->watch != NULL || !has_room(session))
        return;
    session->is_scripting = true;
    session->has_scripted = true;
}

void
long_script_leave(struct session *session, const struct command *command)
{
    if (TAILQ_EMPTY(&session->queue) && !long_script_is(command))
        session->is_scripting = false;
}
