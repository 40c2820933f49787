/*
 * session/pause.c - who waits, and until when.
 */
#include "session/pause.h"

#include "base/mem.h"
#include "session/functions.h"
#include "session/scripts.h"
#include "session/survey_priv.h"
#include "session/transaction.h"

#define PAUSE_MAX_MS INT64_C(1000000000000) /* longer than we shall see */
#define QUIET_MS 2 /* how often it is looked whether all is answered */

/* Somebody waits until what was under way is answered. */
struct pause_wait {
    LIST_ENTRY(pause_wait) link;
    struct survey survey; /* without its text */
    uint64_t last;        /* request that was accepted before */
};

struct pause {
    enum pause_mode mode; /* PAUSE_NONE: it is over, or has not begun */
    uint64_t end_us;
    struct timer end;
    struct timer quiet;
    LIST_HEAD(, pause_wait) waits;
    struct functions *functions; /* of which it is known who writes, or NULL */
};

/* --- what was under way -------------------------------------------------- */

/* Has it been given to a server before, and not been answered? */
static bool
is_under_way(const struct request *request, uint64_t last)
{
    return request->id <= last && !request->done && !request->blocks &&
        (request->job != NULL || request->call.body.chunk != NULL);
}

static bool
session_is_under_way(const struct session *session, uint64_t last)
{
    const struct request *request;

    TAILQ_FOREACH(request, &session->queue, link)
    {
        if (request->id > last)
            return false;
        if (is_under_way(request, last))
            return true;
    }
    return false;
}

static bool
is_quiet(const struct session_pool *pool, uint64_t last)
{
    const struct session *session;

    TAILQ_FOREACH(session, &pool->sessions, link)
    {
        if (session_is_under_way(session, last))
            return false;
    }
    return true;
}

static void
wait_end(struct session_pool *pool, struct pause_wait *wait)
{
    LIST_REMOVE(wait, link);
    survey_tell(pool->env, &wait->survey, VIEW(""));
    mem_free(wait);
}

static void
on_quiet(struct timer *timer, void *arg)
{
    struct session_pool *pool = arg;
    struct pause *pause = pool->pause;
    struct pause_wait *wait = LIST_FIRST(&pause->waits);

    while (wait != NULL) {
        struct pause_wait *next = LIST_NEXT(wait, link);
        if (is_quiet(pool, wait->last))
            wait_end(pool, wait);
        wait = next;
    }
    if (!LIST_EMPTY(&pause->waits))
        timer_start(timer, QUIET_MS);
}

/* --- its end ------------------------------------------------------------- */

static void
set_postponed(struct session *session, bool is_postponed)
{
    struct cell *count = &session->pool->stats->clients_blocked;

    cell_add(count, (uint64_t)is_postponed);
    cell_sub(count, (uint64_t)session->is_postponed);
    session->is_postponed = is_postponed;
}

void
pause_leave(struct session *session)
{
    set_postponed(session, false);
}

static void
let_go_on(struct session_pool *pool)
{
    struct session *session;

    TAILQ_FOREACH(session, &pool->sessions, link)
    {
        if (session->is_postponed) {
            set_postponed(session, false);
            session_resume_later(session);
        }
    }
}

static void
pause_end(struct session_pool *pool)
{
    struct pause *pause = pool->pause;

    if (pause == NULL)
        return;
    while (!LIST_EMPTY(&pause->waits))
        wait_end(pool, LIST_FIRST(&pause->waits));
    timer_stop(&pause->end);
    timer_stop(&pause->quiet);
    functions_free(&pause->functions);
    pause->mode = PAUSE_NONE;
    pause->end_us = 0;
    pool->attention &= (uint8_t)~ATTENTION_PAUSE;
    let_go_on(pool);
}

void
pause_free(struct session_pool *pool)
{
    pause_end(pool);
    mem_free(pool->pause);
    pool->pause = NULL;
}

static void
on_end(struct timer *timer UNUSED, void *arg)
{
    pause_end(arg);
}

void
pause_survey_end(struct session_pool *pool, const struct survey *survey)
{
    pause_end(pool);
    survey_tell(pool->env, survey, VIEW(""));
}

/* --- its beginning ------------------------------------------------------- */

static struct pause *
pause_get(struct session_pool *pool)
{
    struct loop *loop = pool->env->loop;

    pool->attention |= ATTENTION_PAUSE;
    if (pool->pause != NULL)
        return pool->pause;
    pool->pause = MEM_NEW(struct pause);
    LIST_INIT(&pool->pause->waits);
    timer_init(&pool->pause->end, loop, on_end, pool);
    timer_init(&pool->pause->quiet, loop, on_quiet, pool);
    return pool->pause;
}

/* Of two pauses the stricter mode counts, and the later end. */
static void
pause_begin(struct session_pool *pool, int64_t for_ms, enum pause_mode mode)
{
    uint64_t now_us = loop_now_us(pool->env->loop);
    struct pause *pause = pause_get(pool);

    pause->mode = MAX(pause->mode, mode);
    pause->end_us = MAX(pause->end_us, now_us + (uint64_t)for_ms * 1000);
    timer_start(&pause->end, (int64_t)((pause->end_us - now_us) / 1000));
}

void
pause_survey_begin(struct session_pool *pool, const struct survey *survey)
{
    struct view text = survey->text, word = view_take(&text, ' ');
    uint64_t for_ms = 0, mode = PAUSE_ALL;
    struct pause_wait *wait;

    (void)!view_to_u64(word, &for_ms);
    (void)!view_to_u64(text, &mode);
    pause_begin(pool, MIN((int64_t)for_ms, PAUSE_MAX_MS),
                (enum pause_mode)mode);
    wait = MEM_NEW(struct pause_wait);
    wait->survey = *survey;
    wait->survey.text = VIEW("");
    wait->last = pool->env->next_request_id;
    LIST_INSERT_HEAD(&pool->pause->waits, wait, link);
    on_quiet(&pool->pause->quiet, pool);
}

/* --- who waits ----------------------------------------------------------- */

static bool
writes(const struct session *session, const struct command *command)
{
    if (command->id == COMMAND_ID_EXEC)
        return transaction_writes(session);
    return (command->flags & (COMMAND_WRITE | COMMAND_MAY_REPLICATE)) != 0;
}

bool
pause_must_wait_early(struct session *session, const struct command *command)
{
    const struct pause *pause = session->pool->pause;

    /* Monitors are replicas to a server, which never wait. */
    if (pause == NULL || pause->mode == PAUSE_NONE ||
        session_monitor(session) != NULL || command->id == COMMAND_ID_QUIT ||
        (pause->mode == PAUSE_WRITE && !writes(session, command)))
        return false;
    set_postponed(session, true);
    return true;
}

/* What it is not known of waits until it is; then all are looked at again. */
static bool
calls_what_only_reads(const struct incoming *in)
{
    struct session_pool *pool = in->session->pool;
    struct functions **functionsp = &pool->pause->functions;

    if (in->command->id != COMMAND_ID_FCALL)
        return false;
    if (*functionsp != NULL && functions_have_failed(*functionsp))
        functions_free(functionsp);
    if (*functionsp == NULL)
        *functionsp = functions_ask(pool, let_go_on);
    return functions_only_reads(*functionsp, command_arg(&in->args, 1));
}

bool
pause_must_wait(const struct incoming *in)
{
    const struct pause *pause = in->session->pool->pause;

    if (in->session->unfolding != NULL)
        return false; /* EXEC came before */
    if (pause != NULL && pause->mode == PAUSE_WRITE &&
        (scripts_only_reads(in) || calls_what_only_reads(in)))
        return false;
    return pause_must_wait_early(in->session, in->command);
}
