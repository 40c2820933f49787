/*
 * daemon/gather.c - questions about all workers.
 */
#include "daemon/gather.h"

#include "base/log_limit.h"
#include "base/mem.h"
#include "daemon/control_priv.h"
#include "session/client_line.h"

static void
answer(struct control *control, const struct gather *gather)
{
    struct message message = {
        .kind = MESSAGE_ANSWER,
        .question_kind = (int)gather->kind,
        .pool = gather->pool,
        .session_id = gather->session_id,
        .id = gather->request_id,
        .text = mem_view_dup(buf_view(&gather->text)),
        .text_len = gather->text.len,
    };

    if (!mailbox_post(&control->workers[gather->worker]->mailbox, &message))
        log_warn_limited(NULL, NULL, "answer dropped, worker is busy",
                         "worker=%u", gather->worker);
}

static void
gather_end(struct control *control, struct gather *gather)
{
    TAILQ_REMOVE(&control->gathers, gather, link);
    timer_stop(&gather->deadline);
    buf_fini(&gather->text);
    buf_fini(&gather->words);
    mem_free(gather);
}

/* Of the lines of all clients those that were asked for. */
static void
pick_lines(struct gather *gather)
{
    struct buf picked = {0};

    client_lines_pick(buf_view(&gather->text), buf_view(&gather->words),
                      &picked);
    buf_fini(&gather->text);
    gather->text = picked;
}

static void
gather_finish(struct control *control, struct gather *gather)
{
    if (gather->kind == QUESTION_CLIENT_IDS)
        pick_lines(gather);
    answer(control, gather);
    gather_end(control, gather);
}

static void
on_gather_deadline(struct timer *timer, void *arg)
{
    struct gather *gather = arg;

    (void)timer;
    log_warn_limited(NULL, NULL, "workers left out of an answer", "count=%u",
                     gather->left);
    gather_finish(gather->owner, gather);
}

static struct gather *
gather_new(struct control *control, const struct message *question)
{
    struct gather *gather = MEM_NEW(struct gather);

    gather->id = ++control->next_gather_id;
    gather->kind = (enum question_kind)question->question_kind;
    gather->worker = question->worker;
    gather->pool = question->pool;
    gather->session_id = question->session_id;
    gather->request_id = question->id;
    gather->owner = control;
    buf_append(&gather->words, question->text, question->text_len);
    TAILQ_INSERT_TAIL(&control->gathers, gather, link);
    timer_init(&gather->deadline, control->loop, on_gather_deadline, gather);
    return gather;
}

static bool
ask_worker(struct worker *worker, const struct gather *gather)
{
    struct message message = {
        .kind = MESSAGE_SURVEY,
        .question_kind = (int)gather->kind,
        .pool = gather->pool,
        .session_id = gather->session_id,
        .id = gather->id,
        .text = mem_view_dup(buf_view(&gather->words)),
        .text_len = gather->words.len,
    };

    return mailbox_post(&worker->mailbox, &message);
}

static void
ask_workers(struct control *control, struct gather *gather)
{
    for (unsigned i = 0; i < control->worker_count; i++)
        gather->left += ask_worker(control->workers[i], gather);
    if (gather->left == 0)
        gather_finish(control, gather);
    else
        timer_start(&gather->deadline,
                    control->snapshot->settings->gather_timeout_ms);
}

/* Nothing for a pool that is gone from the configuration. */
static void
render_info(struct control *control, struct gather *gather)
{
    size_t number = edition_find(control->source.editions[0], gather->pool);

    if (number < control->snapshot->settings->pool_count)
        admin_render_info(&control->source, number, buf_view(&gather->words),
                          &gather->text);
}

/* Workers only add; control remembers what there was. */
static void
reset_stats(struct control *control, size_t pool)
{
    const struct account *account = ledger_find(control->ledger, pool);

    for (unsigned i = 0; account != NULL && i < control->worker_count; i++)
        session_stats_reset(account->blocks[i]);
}

/* Is it about what control has by itself?  Then its text is there. */
static bool
answer_alone(struct control *control, struct gather *gather)
{
    switch ((int)gather->kind) {
    case QUESTION_INFO:
        render_info(control, gather);
        return true;
    case QUESTION_RESETSTAT:
        reset_stats(control, gather->pool);
        return true;
    case QUESTION_MEMORY_STATS:
    case QUESTION_MEMORY_TEXT:
        admin_render_memory(&control->source, buf_view(&gather->words),
                            &gather->text);
        return true;
    default:
        return false;
    }
}

void
gather_take_question(struct control *control, const struct message *question)
{
    struct gather *gather = gather_new(control, question);

    if (gather->kind == QUESTION_MONITOR)
        monitors_begin(control, question->worker, question->pool);
    if (!answer_alone(control, gather)) {
        ask_workers(control, gather);
        return;
    }
    answer(control, gather);
    gather_end(control, gather);
}

void
gather_take_told(struct control *control, const struct message *told)
{
    struct gather *gather;

    TAILQ_FOREACH(gather, &control->gathers, link) {
        if (gather->id == told->id)
            break;
    }
    if (gather == NULL)
        return; /* too late */
    buf_append(&gather->text, told->text, told->text_len);
    if (--gather->left == 0)
        gather_finish(control, gather);
}

void
gather_end_all(struct control *control)
{
    struct gather *gather;

    while ((gather = TAILQ_FIRST(&control->gathers)) != NULL)
        gather_end(control, gather);
}
