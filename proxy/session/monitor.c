/*
 * session/monitor.c - who watches, and what they are shown.
 */
#include "session/monitor.h"

#include "base/log_limit.h"
#include "base/mem.h"
#include "session/client_line.h"
#include "session/monitor_line.h"
#include "session/script_watch.h"
#include "session/survey_priv.h"
#include "session/transaction_priv.h"

#define LINES_MAX 1048576 /* of one turn before they go out */
#define LINES_KEPT 65536  /* a buffer that is larger is given back */

struct monitor {
    TAILQ_ENTRY(monitor) link;
    struct session *session;
};

/* Of a pool that somebody watches. */
struct monitoring {
    TAILQ_HEAD(, monitor) monitors; /* at this worker */
    struct buf lines;
    unsigned places;
    struct script_watch *scripts; /* with monitor_scripts, or NULL */
};

/* --- giving lines out ---------------------------------------------------- */

static void
give(struct session *session, struct view lines)
{
    struct stream *stream = &session->stream;
    uint64_t limit = session->pool->settings->client_output_limit_bytes;

    if (session->state != SESSION_OPEN)
        return;
    if (chain_is_empty(&stream->out))
        session->sent_us = loop_now_us(session->pool->env->loop);
    stream_push_copy(stream, lines.data, lines.len);
    if (stream->out.bytes > limit)
        session_close(&session, CLOSE_CLIENT_OUTPUT_LIMIT);
}

static void
give_to_all(struct monitoring *monitoring, struct view lines)
{
    struct monitor *monitor = TAILQ_FIRST(&monitoring->monitors);

    while (monitor != NULL) {
        struct monitor *next = TAILQ_NEXT(monitor, link);
        give(monitor->session, lines);
        monitor = next;
    }
}

static void
give_to_others(struct session_pool *pool, struct view lines)
{
    struct session_env *env = pool->env;

    if (env->on_lines != NULL && env->on_lines(env, pool->id, lines))
        return;
    cell_add(&pool->stats->monitor_lost_bytes, lines.len);
    log_warn_limited(pool->settings->name, NULL, "lines of MONITOR dropped",
                     "pool=%s bytes=%zu", pool->settings->name, lines.len);
}

static void
monitor_flush(struct session_pool *pool)
{
    struct monitoring *monitoring = pool->monitoring;
    struct view lines = buf_view(&monitoring->lines);

    if (lines.len == 0)
        return;
    give_to_all(monitoring, lines);
    if ((monitoring->places & MONITORS_ELSEWHERE) != 0)
        give_to_others(pool, lines);
    monitoring->lines.len = 0;
    if (monitoring->lines.cap > LINES_KEPT)
        buf_fini(&monitoring->lines);
}

void
monitor_flush_all(struct session_env *env)
{
    env->has_lines = false;
    for (size_t i = 0; i < env->pool_count; i++) {
        if (env->pools[i]->monitoring != NULL)
            monitor_flush(env->pools[i]);
    }
}

/* --- what is seen -------------------------------------------------------- */

static void
show(struct session *session, const struct command *command,
     const struct command_args *args, bool has_more)
{
    struct session_pool *pool = session->pool;
    struct monitoring *monitoring = pool->monitoring;

    /* As servers have it, which do not show what administrators do. */
    if ((command->flags & COMMAND_ADMIN) != 0)
        return;
    monitor_line(&monitoring->lines, session->db, client_peer(session),
                 command, args, has_more);
    pool->env->has_lines = true;
}

static bool
show_queued(struct session *session, const struct command *command,
            const struct command_args *args)
{
    show(session, command, args, false);
    return true;
}

void
monitor_begin(struct sighting *sighting, const struct incoming *in)
{
    struct session *session = in->session;
    const struct transaction *transaction = session->transaction;

    if (session->pool->monitoring == NULL)
        return;
    *sighting = (struct sighting){
        .mark = session->pool->monitoring->lines.len,
        .refusals = cell_get(&session->pool->stats->forward_error),
        .was_queueing = transaction != NULL,
    };
    (void)client_peer(session); /* it may be closed when it is shown */
    /* Those of a transaction that is split are shown one by one. */
    if (in->command->id == COMMAND_ID_EXEC && transaction != NULL &&
        !transaction->is_spoilt && !transaction->is_split)
        transaction_each_queued(session, show_queued);
}

void
monitor_end(const struct sighting *sighting, const struct incoming *in)
{
    struct session *session = in->session;
    struct monitoring *monitoring = session->pool->monitoring;

    if (monitoring == NULL)
        return;
    if (cell_get(&session->pool->stats->forward_error) != sighting->refusals) {
        monitoring->lines.len = sighting->mark;
        return;
    }
    if (sighting->was_queueing && session->transaction != NULL)
        return;
    show(session, in->command, &in->args, false);
    if (monitoring->lines.len > LINES_MAX)
        monitor_flush(session->pool);
}

void
monitor_note_upload(struct session *session, const struct command *command,
                    const struct command_args *args)
{
    if (session->pool->monitoring != NULL)
        show(session, command, args, true);
}

bool
monitor_forbids(const struct incoming *in)
{
    return session_monitor(in->session) != NULL &&
        (in->command->flags &
         (COMMAND_WRITE | COMMAND_READONLY | COMMAND_MAY_REPLICATE)) != 0;
}

/* --- who watches --------------------------------------------------------- */

void
monitor_join(struct session *session)
{
    struct monitoring *monitoring = session->pool->monitoring;

    if (monitoring == NULL || session_monitor(session) != NULL)
        return;
    struct monitor *monitor = MEM_NEW(struct monitor);
    monitor->session = session;
    client_info_of(session)->monitor = monitor;
    TAILQ_INSERT_TAIL(&monitoring->monitors, monitor, link);
}

void
monitor_leave(struct session *session)
{
    struct monitor *monitor = session_monitor(session);

    if (likely(monitor == NULL))
        return;
    TAILQ_REMOVE(&session->pool->monitoring->monitors, monitor, link);
    session->info->monitor = NULL;
    mem_free(monitor);
}

void
monitoring_free(struct session_pool *pool)
{
    struct monitoring *monitoring = pool->monitoring;

    if (monitoring == NULL)
        return;
    ASSERT(TAILQ_EMPTY(&monitoring->monitors));
    script_watch_free(&monitoring->scripts);
    pool->monitoring = NULL;
    pool->attention &= (uint8_t)~ATTENTION_MONITORS;
    buf_fini(&monitoring->lines);
    mem_free(monitoring);
}

/* Where there are monitors the servers are listened to as well. */
static void
watch_scripts(struct session_pool *pool)
{
    struct monitoring *monitoring = pool->monitoring;
    bool is_wanted = pool->settings->monitor_scripts &&
        (monitoring->places & MONITORS_HERE) != 0;

    if (!is_wanted)
        script_watch_free(&monitoring->scripts);
    else if (monitoring->scripts == NULL)
        monitoring->scripts = script_watch_new(pool);
    else
        script_watch_follow(monitoring->scripts);
}

void
monitor_follow(struct session_pool *pool)
{
    if (unlikely(pool->monitoring != NULL))
        watch_scripts(pool);
}

void
monitor_survey(struct session_pool *pool, const struct survey *survey)
{
    const struct monitoring *monitoring = pool->monitoring;

    if (monitoring != NULL && monitoring->scripts != NULL)
        script_watch_survey(monitoring->scripts, survey);
    else
        survey_tell(pool->env, survey, VIEW(""));
}

void
monitor_set_places(struct session_env *env, size_t pool_id, unsigned places)
{
    struct session_pool *pool = session_env_find(env, pool_id);

    if (pool == NULL)
        return;
    if (pool->monitoring == NULL && places != 0) {
        pool->monitoring = MEM_NEW(struct monitoring);
        TAILQ_INIT(&pool->monitoring->monitors);
        pool->attention |= ATTENTION_MONITORS;
    }
    if (pool->monitoring == NULL)
        return;
    pool->monitoring->places = places;
    if (places == 0 && TAILQ_EMPTY(&pool->monitoring->monitors))
        monitoring_free(pool);
    else
        watch_scripts(pool);
}

void
monitor_take_lines(struct session_env *env, size_t pool_id, struct view lines)
{
    struct session_pool *pool = session_env_find(env, pool_id);

    if (pool != NULL && pool->monitoring != NULL)
        give_to_all(pool->monitoring, lines);
}

/* Has a client of ours asked to be one, and has no answer yet? */
static bool
is_awaited(const struct session_pool *pool)
{
    const struct session *session;

    TAILQ_FOREACH(session, &pool->sessions, link)
    {
        const struct request *head = TAILQ_FIRST(&session->queue);
        if (head != NULL && head->command != NULL &&
            head->command->id == COMMAND_ID_MONITOR)
            return true;
    }
    return false;
}

static void
tell_unwatched(struct session_pool *pool)
{
    struct session_env *env = pool->env;

    if (env->on_unwatched != NULL && env->on_unwatched(env, pool->id))
        pool->monitoring->places &= ~(unsigned)MONITORS_HERE;
}

void
monitor_tick(struct session_pool *pool)
{
    const struct monitoring *monitoring = pool->monitoring;

    if (unlikely(monitoring != NULL) && monitoring->scripts != NULL)
        script_watch_tick(monitoring->scripts,
                          loop_now_us(pool->env->loop));
    if (likely(monitoring == NULL) ||
        !TAILQ_EMPTY(&monitoring->monitors) || is_awaited(pool))
        return;
    if (monitoring->places == 0)
        monitoring_free(pool);
    else if ((monitoring->places & MONITORS_HERE) != 0)
        tell_unwatched(pool);
}
