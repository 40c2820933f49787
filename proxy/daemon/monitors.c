/*
 * daemon/monitors.c - telling who is watched, and passing on what was seen.
 */
#include "daemon/monitors.h"

#include "base/log_limit.h"
#include "base/mem.h"
#include "daemon/control_priv.h"
#include "session/monitor.h"

static struct monitored *
monitored_find(struct control *control, size_t pool)
{
    struct monitored *monitored;

    LIST_FOREACH(monitored, &control->monitored, link)
    {
        if (monitored->pool == pool)
            break;
    }
    return monitored;
}

static struct monitored *
monitored_new(struct control *control, size_t pool)
{
    struct monitored *monitored = MEM_NEW(struct monitored);

    monitored->pool = pool;
    monitored->at = mem_array(control->worker_count, sizeof(bool));
    LIST_INSERT_HEAD(&control->monitored, monitored, link);
    return monitored;
}

static void
monitored_free(struct monitored *monitored)
{
    LIST_REMOVE(monitored, link);
    mem_free(monitored->at);
    mem_free(monitored);
}

static unsigned
count_places(const struct control *control, const struct monitored *monitored)
{
    unsigned count = 0;

    for (unsigned i = 0; i < control->worker_count; i++)
        count += monitored->at[i];
    return count;
}

/* A worker that is not told goes on as before, until the next time. */
static void
tell_all(struct control *control, const struct monitored *monitored)
{
    unsigned count = count_places(control, monitored);

    for (unsigned i = 0; i < control->worker_count; i++) {
        unsigned here = monitored->at[i];
        struct message message = {
            .kind = MESSAGE_WATCH,
            .pool = monitored->pool,
            .id = (here ? MONITORS_HERE : 0) |
                (count > here ? MONITORS_ELSEWHERE : 0),
        };
        (void)!mailbox_post(&control->workers[i]->mailbox, &message);
    }
}

void
monitors_begin(struct control *control, unsigned worker, size_t pool)
{
    struct monitored *monitored = monitored_find(control, pool);

    if (monitored == NULL)
        monitored = monitored_new(control, pool);
    monitored->at[worker] = true;
    tell_all(control, monitored);
}

void
monitors_end(struct control *control, unsigned worker, size_t pool)
{
    struct monitored *monitored = monitored_find(control, pool);

    if (monitored == NULL)
        return;
    monitored->at[worker] = false;
    tell_all(control, monitored);
    if (count_places(control, monitored) == 0)
        monitored_free(monitored);
}

static void
pass_to(struct worker *worker, const struct message *seen)
{
    struct message message = {
        .kind = MESSAGE_SHOW,
        .pool = seen->pool,
        .text = mem_view_dup(view_of(seen->text, seen->text_len)),
        .text_len = seen->text_len,
    };

    if (!mailbox_post(&worker->mailbox, &message))
        log_warn_limited(NULL, NULL, "lines of MONITOR dropped, worker is busy",
                         "worker=%u bytes=%zu", worker->number,
                         seen->text_len);
}

void
monitors_pass_on(struct control *control, const struct message *seen)
{
    const struct monitored *monitored = monitored_find(control, seen->pool);

    for (unsigned i = 0; monitored != NULL && i < control->worker_count; i++) {
        if (monitored->at[i] && i != seen->worker)
            pass_to(control->workers[i], seen);
    }
}

void
monitors_free(struct control *control)
{
    struct monitored *monitored;

    while ((monitored = LIST_FIRST(&control->monitored)) != NULL)
        monitored_free(monitored);
}
