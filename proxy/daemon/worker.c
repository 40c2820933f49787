/*
 * daemon/worker.c - what a worker does with its messages.
 */
#include "daemon/worker.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/log_limit.h"
#include "base/mem.h"
#include "daemon/crash.h"
#include "session/monitor.h"
#include "session/relay.h"
#include "session/session.h"
#include "session/survey.h"

#define TRIM_MS 1000
#define US_PER_S 1000000

/* --- upward ------------------------------------------------------------------ */

static void
ask_control(struct session_env *env, const struct question *question)
{
    struct worker *worker = env->ask_arg;
    struct message message = {
        .kind = MESSAGE_QUESTION,
        .worker = worker->number,
        .question_kind = (int)question->kind,
        .pool = question->pool,
        .session_id = question->session_id,
        .id = question->request_id,
        .text = mem_view_dup(question->text),
        .text_len = question->text.len,
    };

    /* When control is that busy, the request's deadline answers. */
    if (!mailbox_post(worker->control, &message))
        log_warn_limited(NULL, NULL, "question dropped, control is busy",
                         "worker=%u", worker->number);
}

static void
tell_control(struct session_env *env, uint64_t id, struct view text)
{
    struct worker *worker = env->ask_arg;
    struct message message = {
        .kind = MESSAGE_TOLD,
        .worker = worker->number,
        .id = id,
        .text = mem_view_dup(text),
        .text_len = text.len,
    };

    /* If it is lost, gather_timeout ends the waiting. */
    (void)!mailbox_post(worker->control, &message);
}

static void
tell_if_drained(struct worker *worker)
{
    struct message message = {
        .kind = MESSAGE_DRAINED,
        .worker = worker->number,
    };

    /* If it is lost, shutdown_timeout ends the waiting. */
    if (!worker->draining || worker->told ||
        !session_env_is_empty(&worker->env))
        return;
    worker->told = true;
    (void)!mailbox_post(worker->control, &message);
}

static void
on_session_end(struct session_env *env)
{
    struct worker *worker = env->ask_arg;

    cell_dec(&worker->stats.sessions);
    tell_if_drained(worker);
}

static void
on_let_go(struct session_env *env, uint64_t epoch)
{
    struct worker *worker = env->ask_arg;
    struct message message = {
        .kind = MESSAGE_LET_GO,
        .worker = worker->number,
        .id = epoch,
    };

    /* If it is lost, the next reload's does as well. */
    (void)!mailbox_post(worker->control, &message);
}

static void
tell_incidents(struct worker *worker, size_t pool_id, struct server *server)
{
    static const struct incident_counts none;
    struct message message = {
        .kind = MESSAGE_INCIDENTS,
        .worker = worker->number,
        .pool = pool_id,
        .shard = server->shard,
        .id = worker->env.snapshot->epoch,
        .incidents = server->incidents,
    };

    if (memcmp(&server->incidents, &none, sizeof(none)) == 0)
        return;
    server->incidents = none;
    /* If it is lost, the next one tells as much. */
    (void)!mailbox_post(worker->control, &message);
}

/* Of the servers that stand in the newest edition: who else is still here is of
 * no interest to control. */
static void
tell_pool_incidents(struct worker *worker, const struct session_pool *pool)
{
    const struct generation *current = pool->pool->current;

    pool->pool->has_incidents = false;
    for (uint32_t shard = 0; shard < current->server_count; shard++)
        tell_incidents(worker, pool->id, generation_server(current, shard));
}

/* Once a turn, however many requests met the same fault. */
static void
tell_all_incidents(struct worker *worker)
{
    for (size_t i = 0; i < worker->env.pool_count; i++) {
        const struct session_pool *pool = worker->env.pools[i];
        if (unlikely(pool->pool->has_incidents))
            tell_pool_incidents(worker, pool);
    }
}

static bool
on_hint(struct session_env *env, size_t pool, enum map_cause cause,
        uint64_t asked)
{
    struct worker *worker = env->ask_arg;
    struct message message = {
        .kind = MESSAGE_HINT,
        .worker = worker->number,
        .pool = pool,
        .question_kind = (int)cause,
        .id = asked,
    };

    return mailbox_post(worker->control, &message);
}

static bool
on_lines(struct session_env *env, size_t pool, struct view lines)
{
    struct worker *worker = env->ask_arg;
    struct message message = {
        .kind = MESSAGE_SEEN,
        .worker = worker->number,
        .pool = pool,
        .text = mem_view_dup(lines),
        .text_len = lines.len,
    };

    return mailbox_post(worker->control, &message);
}

static bool
on_unwatched(struct session_env *env, size_t pool)
{
    struct worker *worker = env->ask_arg;
    struct message message = {
        .kind = MESSAGE_UNWATCHED,
        .worker = worker->number,
        .pool = pool,
    };

    return mailbox_post(worker->control, &message);
}

/* The one thing that workers tell one another. */
static bool
on_relay(struct session_env *env, unsigned number,
         const struct relayed *relayed)
{
    struct worker *worker = env->ask_arg;
    struct message message = {
        .kind = MESSAGE_RELAY,
        .worker = relayed->worker,
        .pool = relayed->pool,
        .session_id = relayed->to,
        .id = relayed->from,
        .question_kind = relayed->is_broken,
        .text = mem_view_dup(relayed->keys),
        .text_len = relayed->keys.len,
    };

    return mailbox_post(&worker->all[number]->mailbox, &message);
}

/* --- messages ------------------------------------------------------------------ */

static void
take_client(struct worker *worker, const struct message *message)
{
    struct session_pool *pool =
        session_env_find(&worker->env, message->pool);

    /* Control has closed the doors of a pool before it is removed here. */
    ASSERT(pool != NULL && !pool->is_removed);
    cell_inc(&worker->stats.sessions);
    struct session *session = session_new(pool, message->fd, message->id);
    if (worker->draining)
        session_drain(session, CLOSE_SHUTDOWN);
}

static void
take_verdict(struct worker *worker, const struct message *message)
{
    struct session_pool *pool =
        session_env_find(&worker->env, message->pool);

    ASSERT(pool != NULL && !pool->is_removed);
    pool_set_verdict(pool->pool, message->shard, message->health);
}

static void
take_survey(struct worker *worker, const struct message *asked)
{
    struct survey survey = {
        .kind = (enum question_kind)asked->question_kind,
        .id = asked->id,
        .pool = asked->pool,
        .session_id = asked->session_id,
        .text = view_of(asked->text, asked->text_len),
    };

    survey_take(&worker->env, &survey);
}

static void
take_answer(struct worker *worker, const struct message *message)
{
    struct question answer = {
        .kind = (enum question_kind)message->question_kind,
        .session_id = message->session_id,
        .request_id = message->id,
        .pool = message->pool,
        .text = view_of(message->text, message->text_len),
    };

    survey_answer(&worker->env, &answer);
}

static void
take_relayed(struct worker *worker, const struct message *message)
{
    struct relayed relayed = {
        .pool = message->pool,
        .to = message->session_id,
        .from = message->id,
        .worker = message->worker,
        .is_broken = message->question_kind != 0,
        .keys = view_of(message->text, message->text_len),
    };

    relay_take(&worker->env, &relayed);
}

static void
on_message(void *arg, struct message *message)
{
    struct worker *worker = arg;

    switch (message->kind) {
    case MESSAGE_CLIENT:
        take_client(worker, message);
        break;
    case MESSAGE_EDITION:
        session_env_take(&worker->env, message->edition);
        edition_free(&message->edition);
        break;
    case MESSAGE_SURVEY:
        take_survey(worker, message);
        break;
    case MESSAGE_ANSWER:
        take_answer(worker, message);
        break;
    case MESSAGE_VERDICT:
        take_verdict(worker, message);
        break;
    case MESSAGE_WATCH:
        monitor_set_places(&worker->env, message->pool,
                           (unsigned)message->id);
        break;
    case MESSAGE_SHOW:
        monitor_take_lines(&worker->env, message->pool,
                           view_of(message->text, message->text_len));
        break;
    case MESSAGE_RELAY:
        take_relayed(worker, message);
        break;
    case MESSAGE_DRAIN:
        worker->draining = true;
        session_env_drain(&worker->env);
        tell_if_drained(worker);
        break;
    case MESSAGE_STOP:
        loop_stop(worker->loop);
        break;
    case MESSAGE_QUESTION:
    case MESSAGE_TOLD:
    case MESSAGE_HINT:
    case MESSAGE_LET_GO:
    case MESSAGE_INCIDENTS:
    case MESSAGE_SEEN:
    case MESSAGE_UNWATCHED:
    case MESSAGE_DRAINED:
        ASSERT(!"a message for control");
    }
}

/* --- life ------------------------------------------------------------------------ */

static void
on_turn_end(void *arg)
{
    struct worker *worker = arg;

    tell_all_incidents(worker);
    cell_inc(&worker->stats.turns);
    cell_set(&worker->stats.chunk_bytes,
             loop_chunks(worker->loop)->live_bytes);
}

/* A burst must not stay in the size of the process. */
static void
on_trim(struct timer *timer, void *arg)
{
    struct worker *worker = arg;

    log_limit_tick(loop_now_us(worker->loop) / US_PER_S);
    session_env_trim(&worker->env);
    chunk_pool_trim(loop_chunks(worker->loop));
    mem_trim();
    timer_start(timer, TRIM_MS);
}

static void *
worker_main(void *arg)
{
    struct worker *worker = arg;
    struct session_env *env = &worker->env;

    mem_thread_init();
    struct crash_stack *stack = crash_join("worker", worker->number);
    session_env_init(env, worker->loop, worker->number, worker->count);
    env->budget = worker->budget;
    env->ask = ask_control;
    env->ask_arg = worker;
    env->tell = tell_control;
    env->on_session_end = on_session_end;
    env->on_let_go = on_let_go;
    loop_on_turn_end(worker->loop, on_turn_end, worker);
    env->on_hint = on_hint;
    env->on_lines = on_lines;
    env->on_unwatched = on_unwatched;
    env->on_relay = on_relay;
    timer_init(&worker->trim, worker->loop, on_trim, worker);
    timer_start(&worker->trim, TRIM_MS);
    loop_run(worker->loop);
    timer_stop(&worker->trim);
    session_env_fini(env);
    log_limit_flush();
    crash_leave(&stack);
    return NULL;
}

struct worker *
worker_new(unsigned number, unsigned count, struct mailbox *control,
           const struct budget *budget)
{
    struct worker *worker = MEM_NEW(struct worker);

    worker->number = number;
    worker->count = count;
    worker->control = control;
    worker->budget = budget;
    worker->loop = loop_new();
    mailbox_init(&worker->mailbox, worker->loop, on_message, worker);
    return worker;
}

void
worker_tell(struct worker *worker, const struct message *message)
{
    while (!mailbox_post(&worker->mailbox, message))
        usleep(1000); /* its box is full: it is taking messages */
}

void
worker_start(struct worker *worker)
{
    sigset_t all, before;

    /* Signals are control's. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed =
        pthread_create(&worker->thread, NULL, worker_main, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    ASSERT(failed == 0);
}

void
worker_stop(struct worker *worker)
{
    pthread_join(worker->thread, NULL);
}

void
worker_free(struct worker **workerp)
{
    struct worker *worker = *workerp;

    *workerp = NULL;
    mailbox_fini(&worker->mailbox);
    loop_free(&worker->loop);
    mem_free(worker);
}
