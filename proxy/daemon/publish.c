/*
 * daemon/publish.c - from control's snapshot to everybody's.
 */
#include "base/log.h"
#include "daemon/control_priv.h"

static void
replace_editions(struct control *control)
{
    struct edition **editions = control->source.editions;

    for (unsigned i = 0; i < control->worker_count; i++) {
        struct edition *before = editions[i];
        editions[i] = ledger_edition(control->ledger, control->snapshot, i);
        edition_free(&before);
    }
}

static void
tell_workers(struct control *control)
{
    for (unsigned i = 0; i < control->worker_count; i++) {
        struct message message = {
            .kind = MESSAGE_EDITION,
            .edition = ledger_edition(control->ledger, control->snapshot, i),
        };
        prober_fill(control->prober, message.edition);
        worker_tell(control->workers[i], &message);
    }
}

static void
count_epochs(struct control *control)
{
    struct control_stats *stats = &control->source.control_stats;

    cell_set(&stats->epoch, control->ledger->epoch);
    cell_set(&stats->epochs_pending, ledger_behind(control->ledger));
}

void
control_publish(struct control *control, struct snapshot *snapshot)
{
    struct snapshot *before = control->snapshot;

    names_take(control->names, snapshot);
    ledger_enter(control->ledger, snapshot);
    control->snapshot = snapshot;
    control->source.snapshot = snapshot;
    memory_watch_limit(&control->memory,
                       snapshot->settings->max_memory_bytes);
    replace_editions(control);
    prober_take(control->prober);
    tell_workers(control);
    /* Newcomers reach the workers behind the edition that they are for. */
    door_commit(control->door, snapshot);
    count_epochs(control);
    snapshot_unref(&before);
    /* Whoever is out of a distribution is so in the new one. */
    prober_review(control->prober);
}

int
control_publish_live(struct control *control, size_t number, const bool *live,
                     struct error *error)
{
    struct snapshot *snapshot =
        snapshot_with_live(control->snapshot, number, live, error);

    if (snapshot == NULL || door_prepare(control->door, snapshot->settings,
                                         error) < 0) {
        snapshot_unref(&snapshot);
        return -1;
    }
    control_publish(control, snapshot);
    return 0;
}

void
control_publish_addresses(struct control *control)
{
    struct snapshot *snapshot;
    struct error error;

    if (control->state != CONTROL_RUNNING)
        return; /* the doors are closed, and stay so */
    snapshot = snapshot_copy(control->snapshot);
    if (door_prepare(control->door, snapshot->settings, &error) == 0) {
        control_publish(control, snapshot);
        return;
    }
    log_error("addresses of names are not taken up", "error=\"%s\"",
              error.text);
    snapshot_unref(&snapshot);
}

void
control_take_let_go(struct control *control, unsigned worker, uint64_t epoch)
{
    ledger_let_go(control->ledger, worker, epoch);
    count_epochs(control);
}
