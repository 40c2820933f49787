/*
 * daemon/masters.c - between the asking of Sentinels and the snapshots.
 */
#include "daemon/masters.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "daemon/control_priv.h"

/* --- from discovery ------------------------------------------------------------ */

static size_t
number_of(const struct watched_masters *watched)
{
    return edition_find(watched->control->source.editions[0], watched->id);
}

static const struct pool_settings *
settings_of(const struct watched_masters *watched)
{
    return &watched->control->snapshot->settings->pools[number_of(watched)];
}

static uint64_t
find_epoch(struct sentinels *sentinels, const char *master)
{
    const struct watched_masters *watched = sentinels_arg(sentinels);

    return epochs_find(watched->control->epochs, settings_of(watched)->name,
                       master);
}

static void
on_epoch(struct sentinels *sentinels, const char *master, uint64_t epoch)
{
    const struct watched_masters *watched = sentinels_arg(sentinels);

    epochs_raise(watched->control->epochs, settings_of(watched)->name, master,
                 epoch);
}

static void
publish(struct control *control, struct snapshot *snapshot)
{
    struct error error;

    if (door_prepare(control->door, snapshot->settings, &error) == 0) {
        control_publish(control, snapshot);
        return;
    }
    log_error("addresses of masters are not taken up", "error=\"%s\"",
              error.text);
    snapshot_unref(&snapshot);
}

static void
on_change(struct sentinels *sentinels, uint64_t asked_us)
{
    struct watched_masters *watched = sentinels_arg(sentinels);
    struct control *control = watched->control;

    if (control->state != CONTROL_RUNNING)
        return; /* the doors are closed, and stay so */
    publish(control,
            snapshot_with_roster(
                control->snapshot, number_of(watched),
                sentinels_roster(sentinels, settings_of(watched)), asked_us));
}

static bool
are_gates(const struct roster *roster, const enum gate *gates)
{
    for (uint32_t i = 0; i < roster->shard_count; i++) {
        if (roster->entries[i].gate != gates[i])
            return false;
    }
    return true;
}

static void
on_gates(struct sentinels *sentinels, const enum gate *gates)
{
    struct watched_masters *watched = sentinels_arg(sentinels);
    struct control *control = watched->control;
    size_t number = number_of(watched);

    if (control->state == CONTROL_RUNNING &&
        !are_gates(control->snapshot->pools[number].roster, gates))
        publish(control, snapshot_with_gates(control->snapshot, number, gates));
}

/* Those who have asked must hear that it was for nothing. */
static void
on_same(struct sentinels *sentinels, uint64_t asked_us)
{
    struct watched_masters *watched = sentinels_arg(sentinels);
    struct control *control = watched->control;

    if (control->state == CONTROL_RUNNING)
        publish(control,
                snapshot_with_asked(control->snapshot, number_of(watched),
                                    asked_us));
}

static const struct sentinels_ops sentinels_ops = {
    .find_epoch = find_epoch,
    .on_epoch = on_epoch,
    .on_change = on_change,
    .on_gates = on_gates,
    .on_same = on_same,
};

/* --- from workers ---------------------------------------------------------------- */

static struct watched_masters *
find_id(struct control *control, size_t id)
{
    struct watched_masters *watched;

    TAILQ_FOREACH(watched, &control->masters, link)
    {
        if (watched->id == id)
            break;
    }
    return watched;
}

void
masters_take_hint(struct control *control, const struct message *message)
{
    struct watched_masters *watched = find_id(control, message->pool);

    if (watched != NULL)
        sentinels_hint(watched->sentinels,
                       (enum map_cause)message->question_kind, message->id);
}

/* --- from the settings ------------------------------------------------------------- */

static void
watched_free(struct watched_masters *watched)
{
    TAILQ_REMOVE(&watched->control->masters, watched, link);
    sentinels_free(&watched->sentinels);
    mem_free(watched);
}

static bool
shares_a_sentinel(const struct pool_settings *a, const struct pool_settings *b)
{
    for (size_t i = 0; i < a->sentinel_count; i++) {
        for (size_t j = 0; j < b->sentinel_count; j++) {
            if (strcmp(a->sentinels[i].text, b->sentinels[j].text) == 0)
                return true;
        }
    }
    return false;
}

static void
keep(struct control *control, struct snapshot *snapshot, size_t number)
{
    const struct settings *settings = control->snapshot->settings;
    const struct pool_settings *wanted = &snapshot->settings->pools[number];

    for (size_t i = 0; i < settings->pool_count; i++) {
        const struct pool_settings *now = &settings->pools[i];
        if (!pool_is_named(now) || strcmp(now->name, wanted->name) != 0)
            continue;
        struct watched_masters *watched =
            find_id(control, control->source.editions[0]->pools[i].id);
        if (watched == NULL)
            continue;
        if (shares_a_sentinel(now, wanted))
            snapshot_set_roster(snapshot, number,
                                sentinels_roster(watched->sentinels, wanted),
                                &control->snapshot->pools[i]);
        else
            watched_free(watched); /* who is asked are others now */
    }
}

void
masters_keep(struct control *control, struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->settings->pool_count; i++) {
        if (pool_is_named(&snapshot->settings->pools[i]))
            keep(control, snapshot, i);
    }
}

static void
take_pool(struct control *control, size_t number)
{
    const struct pool_settings *settings =
        &control->snapshot->settings->pools[number];
    size_t id = control->source.editions[0]->pools[number].id;
    struct watched_masters *watched = find_id(control, id);

    if (watched == NULL) {
        watched = MEM_NEW(struct watched_masters);
        watched->control = control;
        watched->id = id;
        watched->sentinels =
            sentinels_new(control->loop, control->names, settings,
                          &sentinels_ops, watched);
        TAILQ_INSERT_TAIL(&control->masters, watched, link);
    } else {
        sentinels_configure(watched->sentinels, settings);
    }
    watched->is_claimed = true;
}

void
masters_take(struct control *control)
{
    const struct settings *settings = control->snapshot->settings;
    struct watched_masters *watched, *next;

    epochs_set_path(control->epochs, settings->state_file);
    TAILQ_FOREACH(watched, &control->masters, link)
    {
        watched->is_claimed = false;
    }
    for (size_t i = 0; i < settings->pool_count; i++) {
        if (pool_is_named(&settings->pools[i]))
            take_pool(control, i);
    }
    for (watched = TAILQ_FIRST(&control->masters); watched != NULL;
         watched = next) {
        next = TAILQ_NEXT(watched, link);
        if (!watched->is_claimed)
            watched_free(watched);
    }
}

void
masters_free(struct control *control)
{
    while (!TAILQ_EMPTY(&control->masters))
        watched_free(TAILQ_FIRST(&control->masters));
}

struct sentinels *
masters_find(struct control *control, size_t number)
{
    struct watched_masters *watched =
        find_id(control, control->source.editions[0]->pools[number].id);

    return watched == NULL ? NULL : watched->sentinels;
}
