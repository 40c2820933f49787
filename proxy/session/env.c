/*
 * session/env.c - the sessions of one worker: turns, ticks, questions.
 */
#include "session/env.h"

#include "base/mem.h"
#include "session/blocking.h"
#include "session/board.h"
#include "session/deadline.h"
#include "session/fanout_stream.h"
#include "session/holding.h"
#include "session/late_writes.h"
#include "session/learning.h"
#include "session/long_script.h"
#include "session/monitor.h"
#include "session/latency.h"
#include "session/pause.h"
#include "session/request.h"
#include "session/session.h"
#include "session/subscriber.h"
#include "session/tracking.h"
#include "session/wait.h"
#include "session/slow_log.h"
#include "session/unblock.h"

#define TICK_MS 1000       /* idle clients are looked for this often */
#define SILENT_US 1000000 /* a request that waits for longer makes us ask */
#define TICK_BUSY_MS 100   /* while somebody makes a lane wait */

static void session_env_sweep(struct session_env *env);

/* --- the end of a turn ----------------------------------------------------------- */

static void
on_turn_end(void *arg)
{
    struct session_env *env = arg;
    struct session *session;

    while ((session = TAILQ_FIRST(&env->resume)) != NULL) {
        TAILQ_REMOVE(&env->resume, session, resume_link);
        session_resume(session);
    }
    request_compact_held(env);
    for (size_t i = 0; i < env->pool_count; i++)
        if (unlikely(env->pools[i]->pool->lost_marks != 0))
            wait_note_losses(env->pools[i]);
    if (unlikely(env->has_lines))
        monitor_flush_all(env);
    if (unlikely(env->sweep))
        session_env_sweep(env);
}

/* --- ticks -------------------------------------------------------------------------- */

/* The kernel says that there is room only when there is much: ask it what the
 * client has taken, since a slow one may take long for so much. */
static void
note_taken(struct session *session, uint64_t now_us)
{
    size_t unsent = stream_unsent(&session->stream);

    if (unsent < session->pausing->unsent)
        session->sent_us = now_us;
    session->pausing->unsent = unsent;
}

static bool
makes_others_wait(const struct request *request)
{
    return (request->paused != NULL && lane_has_others(request->paused)) ||
        fanout_makes_wait(request);
}

/* Somebody who takes no byte while others wait behind its answer, or NULL. */
static struct session *
find_stalled(struct session_pool *pool, uint64_t now_us)
{
    uint64_t grace_us = (uint64_t)pool->settings->stall_grace_ms * 1000;
    struct session *session;

    TAILQ_FOREACH(session, &pool->pausing, pausing_link)
    {
        note_taken(session, now_us);
        if (session->sent_us + grace_us < now_us &&
            makes_others_wait(session->pausing))
            break;
    }
    return session;
}

/* Each close lets a lane go on, so who pauses one has to be asked anew. */
static void
close_stalled(struct session_pool *pool, uint64_t now_us)
{
    struct session *session;

    while ((session = find_stalled(pool, now_us)) != NULL)
        session_close(&session, CLOSE_CLIENT_STALLED);
}

static void
close_if_idle(struct session *session, uint64_t now_us)
{
    const struct pool_settings *settings = session->pool->settings;
    uint64_t idle_us = (uint64_t)settings->client_idle_timeout_ms * 1000;
    uint64_t upload_us = (uint64_t)settings->upload_idle_timeout_ms * 1000;

    if ((session->upload != NULL || session->is_gathering) &&
        session->stream.reading &&
        session->used_us + upload_us < now_us)
        session_close(&session, CLOSE_CLIENT_UPLOAD_IDLE);
    else if (idle_us > 0 && session->in_flight == 0 &&
             session_monitor(session) == NULL && !session->is_postponed &&
             !subscriber_is_listening(session) &&
             session->used_us + idle_us < now_us &&
             session->sent_us + idle_us < now_us)
        session_close(&session, CLOSE_CLIENT_IDLE);
}

static void
close_idle(struct session_pool *pool, uint64_t now_us)
{
    struct session *session = TAILQ_FIRST(&pool->sessions);

    if (pool->settings->client_idle_timeout_ms == 0 &&
        pool->upload_count == 0 && pool->gather_count == 0)
        return;
    while (session != NULL) {
        struct session *next = TAILQ_NEXT(session, link);
        close_if_idle(session, now_us);
        session = next;
    }
}

/* Nobody waits behind a closed connection, though so much stands behind what is
 * waited for that nothing is read. */
static bool
is_deaf(const struct session *session)
{
    return (session->is_postponed || blocking_is_on(session)) &&
        !session->stream.reading && session->state == SESSION_OPEN;
}

/* Clients that have left unheard; are there any that may? */
static bool
close_left(struct session_pool *pool)
{
    const struct session_stats *stats = pool->stats;
    struct session *session = TAILQ_FIRST(&pool->sessions);
    bool any = false;

    if (cell_get(&stats->requests_in_flight) == 0 &&
        cell_get(&stats->clients_blocked) == 0)
        return false;
    while (session != NULL) {
        struct session *next = TAILQ_NEXT(session, link);
        if (is_deaf(session)) {
            any = true;
            if (stream_peer_has_left(&session->stream))
                session_close(&session, CLOSE_CLIENT_EOF);
        }
        session = next;
    }
    return any;
}

static bool
has_old_request(struct session_pool *pool, uint64_t now_us)
{
    struct request *request = request_next_waiting(pool, NULL);

    while (request != NULL && request->progress_us + SILENT_US > now_us)
        request = request_next_waiting(pool, request);
    return request != NULL;
}

/* A request waits for long: its primary may be frozen, and another have taken its
 * place, of which no lost connection and no MOVED will tell. */
static bool
hint_if_silent(struct session_pool *pool, uint64_t now_us)
{
    if (!pool_is_followed(pool->settings) || !has_old_request(pool, now_us))
        return false;
    session_pool_hint(pool, MAP_CAUSE_SILENT);
    return true;
}

static void
on_tick(struct timer *timer, void *arg)
{
    struct session_pool *pool = arg;
    uint64_t now_us = loop_now_us(pool->env->loop);
    bool is_busy = hint_if_silent(pool, now_us) || !TAILQ_EMPTY(&pool->pausing);

    close_stalled(pool, now_us);
    close_idle(pool, now_us);
    is_busy |= close_left(pool);
    request_compact_old(pool, now_us);
    monitor_tick(pool);
    boards_tick(pool, now_us);
    tracking_tick(pool, now_us);
    timer_start(timer, is_busy ? TICK_BUSY_MS : TICK_MS);
}

/* --- pools ---------------------------------------------------------------------------- */

/* Those that are down are not connected to. */
static void
session_pool_start(struct session_pool *pool,
                   const struct edition_pool *blocks)
{
    const struct generation *current = pool->pool->current;

    for (uint32_t i = 0; i < current->server_count; i++)
        server_set_verdict(generation_server(current, i), blocks->health[i]);
    if (pool->settings->preconnect)
        pool_preconnect(pool->pool);
}

static struct session_pool *
session_pool_new(struct session_env *env, const struct edition *edition,
                 size_t number)
{
    const struct edition_pool *blocks = &edition->pools[number];
    struct session_pool *pool = MEM_NEW(struct session_pool);

    pool->env = env;
    pool->id = blocks->id;
    pool->settings = edition->snapshot->pools[number].settings;
    pool->stats = blocks->stats;
    pool->scripts = blocks->scripts;
    pool->audience = blocks->audience;
    slow_log_configure(pool);
    pool->map_asked = edition->snapshot->pools[number].asked;
    pool->pool = pool_new(env->loop, edition->snapshot, number,
                          blocks->servers, env->workers);
    session_pool_start(pool, blocks);
    pool->deadline_us = UINT64_MAX;
    TAILQ_INIT(&pool->sessions);
    TAILQ_INIT(&pool->pausing);
    timer_init(&pool->deadline, env->loop, request_on_deadline, pool);
    timer_init(&pool->tick, env->loop, on_tick, pool);
    long_script_init(pool);
    timer_start(&pool->tick, TICK_MS);
    return pool;
}

static void
session_pool_free(struct session_pool *pool)
{
    timer_stop(&pool->deadline);
    timer_stop(&pool->tick);
    timer_stop(&pool->long_script);
    monitoring_free(pool);
    pause_free(pool);
    boards_free(pool);
    tracking_free(pool);
    slow_log_free(pool);
    latency_free(pool);
    pool_free(&pool->pool);
    mem_free(pool->shown);
    learning_free(&pool->learning); /* requests were pointing at it */
    mem_free(pool);
}

void
session_pool_hint(struct session_pool *pool, enum map_cause cause)
{
    struct session_env *env = pool->env;

    if (!pool_is_followed(pool->settings) || env->on_hint == NULL)
        return;
    pool->hint_cause = cause;
    pool->hint_is_due = pool->hint_is_open;
    if (!pool->hint_is_open)
        pool->hint_is_open =
            env->on_hint(env, pool->id, cause, pool->map_asked);
}

/* A newer map, or the same anew: it may have been asked for before the last of
 * what was seen here. */
static void
take_asked(struct session_pool *pool, uint64_t asked)
{
    if (asked <= pool->map_asked)
        return;
    pool->map_asked = asked;
    pool->hint_is_open = false;
    if (pool->hint_is_due)
        session_pool_hint(pool, pool->hint_cause);
}

static void
session_pool_take(struct session_pool *pool, const struct edition *edition,
                  size_t number)
{
    const struct edition_pool *blocks = &edition->pools[number];
    struct session *session;

    take_asked(pool, edition->snapshot->pools[number].asked);
    if (!pool_take(pool->pool, edition->snapshot, number, blocks->servers))
        return;
    pool->settings = edition->snapshot->pools[number].settings;
    slow_log_configure(pool);
    session_pool_start(pool, blocks);
    late_writes_look(pool);
    unblock_held(pool);
    boards_follow(pool);
    tracking_follow(pool);
    monitor_follow(pool);
    TAILQ_FOREACH(session, &pool->sessions, link)
    {
        session_catch_up(session);
        if (unlikely(session->holding != NULL))
            holding_hurry(session);
    }
}

static void
session_pool_remove(struct session_pool *pool)
{
    struct session *session;

    pool->is_removed = true;
    TAILQ_INSERT_TAIL(&pool->env->removed, pool, link);
    TAILQ_FOREACH(session, &pool->sessions, link)
    {
        session_drain(session, CLOSE_POOL_REMOVED);
    }
}

/* --- editions ------------------------------------------------------------------------- */

struct session_pool *
session_env_find(struct session_env *env, size_t id)
{
    struct session_pool *pool;

    for (size_t i = 0; i < env->pool_count; i++) {
        if (env->pools[i]->id == id)
            return env->pools[i];
    }
    TAILQ_FOREACH(pool, &env->removed, link)
    {
        if (pool->id == id)
            break;
    }
    return pool;
}

static void
remove_missing(struct session_env *env, const struct edition *edition)
{
    size_t count = edition->snapshot->settings->pool_count;

    for (size_t i = 0; i < env->pool_count; i++) {
        if (edition_find(edition, env->pools[i]->id) == count)
            session_pool_remove(env->pools[i]);
    }
}

void
session_env_take(struct session_env *env, const struct edition *edition)
{
    size_t count = edition->snapshot->settings->pool_count;
    struct session_pool **pools = mem_array(count, sizeof(struct session_pool *));
    struct snapshot *before = env->snapshot;

    for (size_t i = 0; i < count; i++) {
        pools[i] = session_env_find(env, edition->pools[i].id);
        if (pools[i] != NULL)
            session_pool_take(pools[i], edition, i);
        else
            pools[i] = session_pool_new(env, edition, i);
    }
    remove_missing(env, edition);
    mem_free(env->pools);
    env->pools = pools;
    env->pool_count = count;
    env->snapshot = snapshot_ref(edition->snapshot);
    snapshot_unref(&before);
    env->sweep = true;
}

/* --- what is done with ------------------------------------------------------------------ */

static void
sweep_removed(struct session_env *env)
{
    struct session_pool *pool = TAILQ_FIRST(&env->removed);

    while (pool != NULL) {
        struct session_pool *next = TAILQ_NEXT(pool, link);
        if (pool->session_count == 0) {
            TAILQ_REMOVE(&env->removed, pool, link);
            session_pool_free(pool);
        }
        pool = next;
    }
}

static bool
has_let_go(const struct session_env *env)
{
    for (size_t i = 0; i < env->pool_count; i++) {
        if (pool_has_old_servers(env->pools[i]->pool))
            return false;
    }
    return TAILQ_EMPTY(&env->removed);
}

static void
session_env_sweep(struct session_env *env)
{
    env->sweep = false;
    for (size_t i = 0; i < env->pool_count; i++)
        pool_sweep(env->pools[i]->pool);
    sweep_removed(env);
    if (env->let_go == env->snapshot->epoch || !has_let_go(env))
        return;
    env->let_go = env->snapshot->epoch;
    env->on_let_go(env, env->let_go);
}

/* --- life ----------------------------------------------------------------------------- */

void
session_env_init(struct session_env *env, struct loop *loop, unsigned worker,
                 unsigned workers)
{
    *env = (struct session_env){
        .loop = loop,
        .worker = worker,
        .workers = workers,
    };
    TAILQ_INIT(&env->resume);
    TAILQ_INIT(&env->removed);
    LIST_INIT(&env->held);
    LIST_INIT(&env->held_before);
    loop_on_turn_end(loop, on_turn_end, env);
}

static void
close_all(struct session_pool *pool)
{
    struct session *session;

    while ((session = TAILQ_FIRST(&pool->sessions)) != NULL)
        session_close(&session, CLOSE_SHUTDOWN);
}

static void
free_requests(struct session_env *env)
{
    while (env->free_requests != NULL) {
        struct request *request = env->free_requests;
        env->free_requests = TAILQ_NEXT(request, link);
        mem_free(request);
    }
    env->free_request_count = 0;
}

void
session_env_trim(struct session_env *env)
{
    free_requests(env);
}

static void
end_pool(struct session_pool *pool)
{
    close_all(pool);
    session_pool_free(pool);
}

void
session_env_fini(struct session_env *env)
{
    struct session_pool *pool;

    for (size_t i = 0; i < env->pool_count; i++)
        end_pool(env->pools[i]);
    while ((pool = TAILQ_FIRST(&env->removed)) != NULL) {
        TAILQ_REMOVE(&env->removed, pool, link);
        end_pool(pool);
    }
    free_requests(env);
    if (env->scan != NULL) {
        request_scan_fini(env->scan);
        mem_free(env->scan);
        env->scan = NULL;
    }
    buf_fini(&env->out);
    mem_free(env->pools);
    snapshot_unref(&env->snapshot);
}

void
session_env_drain(struct session_env *env)
{
    env->draining = true;
    for (size_t i = 0; i < env->pool_count; i++) {
        struct session *session;
        TAILQ_FOREACH(session, &env->pools[i]->sessions, link)
        {
            session_drain(session, CLOSE_SHUTDOWN);
        }
    }
}

bool
session_env_is_empty(const struct session_env *env)
{
    const struct session_pool *pool;

    for (size_t i = 0; i < env->pool_count; i++) {
        if (env->pools[i]->session_count > 0)
            return false;
    }
    TAILQ_FOREACH(pool, &env->removed, link)
    {
        if (pool->session_count > 0)
            return false;
    }
    return true;
}
