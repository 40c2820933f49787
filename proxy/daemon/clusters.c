/*
 * daemon/clusters.c - between the discovery of clusters and the snapshots.
 */
#include "daemon/clusters.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "daemon/control_priv.h"

/* --- from discovery ------------------------------------------------------------ */

static size_t
number_of(const struct watched_cluster *watched)
{
    return edition_find(watched->control->source.editions[0], watched->id);
}

/* Takes the snapshot over; NULL came with an error. */
static void
publish(struct watched_cluster *watched, struct snapshot *snapshot,
        struct error *error)
{
    struct control *control = watched->control;

    if (snapshot != NULL &&
        door_prepare(control->door, snapshot->settings, error) == 0) {
        control_publish(control, snapshot);
        return;
    }
    log_error("map of a cluster is not taken up", "error=\"%s\"",
              error->text);
    snapshot_unref(&snapshot);
}

static void
on_map(struct cluster *cluster, const struct topology *topology)
{
    struct watched_cluster *watched = cluster_arg(cluster);
    struct snapshot *now = watched->control->snapshot;
    struct error error;

    if (watched->control->state != CONTROL_RUNNING)
        return; /* the doors are closed, and stay so */
    publish(watched,
            snapshot_with_topology(now, number_of(watched), topology, &error),
            &error);
}

/* Those who have asked must hear that it was for nothing. */
static void
on_same(struct cluster *cluster, uint64_t asked_us)
{
    struct watched_cluster *watched = cluster_arg(cluster);
    struct snapshot *now = watched->control->snapshot;
    struct error error;

    if (watched->control->state == CONTROL_RUNNING)
        publish(watched,
                snapshot_with_asked(now, number_of(watched), asked_us),
                &error);
}

static const struct cluster_ops cluster_ops = {
    .on_map = on_map,
    .on_same = on_same,
};

/* --- from workers ---------------------------------------------------------------- */

static struct watched_cluster *
find_id(struct control *control, size_t id)
{
    struct watched_cluster *watched;

    TAILQ_FOREACH(watched, &control->clusters, link)
    {
        if (watched->id == id)
            break;
    }
    return watched;
}

void
clusters_take_hint(struct control *control, const struct message *message)
{
    struct watched_cluster *watched = find_id(control, message->pool);

    if (watched != NULL)
        cluster_hint(watched->cluster, (enum map_cause)message->question_kind,
                     message->id);
}

/* --- from the settings ------------------------------------------------------------- */

static bool
shares_a_seed(const struct pool_settings *a, const struct pool_settings *b)
{
    for (size_t i = 0; i < a->seed_count; i++) {
        for (size_t j = 0; j < b->seed_count; j++) {
            if (strcmp(a->seeds[i].text, b->seeds[j].text) == 0)
                return true;
        }
    }
    return false;
}

static void
watched_free(struct watched_cluster *watched)
{
    TAILQ_REMOVE(&watched->control->clusters, watched, link);
    cluster_free(&watched->cluster);
    mem_free(watched);
}

static void
keep_map(struct control *control, struct snapshot *snapshot, size_t number)
{
    const struct settings *settings = control->snapshot->settings;
    const struct pool_settings *wanted = &snapshot->settings->pools[number];

    for (size_t i = 0; i < settings->pool_count; i++) {
        const struct pool_settings *now = &settings->pools[i];
        if (!pool_is_cluster(now) || strcmp(now->name, wanted->name) != 0)
            continue;
        struct watched_cluster *watched =
            find_id(control, control->source.editions[0]->pools[i].id);
        if (shares_a_seed(now, wanted))
            snapshot_keep_topology(snapshot, number, control->snapshot, i);
        else if (watched != NULL)
            watched_free(watched); /* the pool is another cluster now */
    }
}

void
clusters_keep_maps(struct control *control, struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->settings->pool_count; i++) {
        if (pool_is_cluster(&snapshot->settings->pools[i]))
            keep_map(control, snapshot, i);
    }
}

static void
take_pool(struct control *control, size_t number)
{
    const struct pool_settings *settings =
        &control->snapshot->settings->pools[number];
    size_t id = control->source.editions[0]->pools[number].id;
    struct watched_cluster *watched = find_id(control, id);

    if (watched == NULL) {
        watched = MEM_NEW(struct watched_cluster);
        watched->control = control;
        watched->id = id;
        watched->cluster =
            cluster_new(control->loop, control->names, settings, &cluster_ops,
                        watched);
        TAILQ_INSERT_TAIL(&control->clusters, watched, link);
    } else {
        cluster_configure(watched->cluster, settings);
    }
    watched->is_claimed = true;
}

void
clusters_take(struct control *control)
{
    const struct settings *settings = control->snapshot->settings;
    struct watched_cluster *watched, *next;

    TAILQ_FOREACH(watched, &control->clusters, link)
    {
        watched->is_claimed = false;
    }
    for (size_t i = 0; i < settings->pool_count; i++) {
        if (pool_is_cluster(&settings->pools[i]))
            take_pool(control, i);
    }
    for (watched = TAILQ_FIRST(&control->clusters); watched != NULL;
         watched = next) {
        next = TAILQ_NEXT(watched, link);
        if (!watched->is_claimed)
            watched_free(watched);
    }
}

void
clusters_free(struct control *control)
{
    while (!TAILQ_EMPTY(&control->clusters))
        watched_free(TAILQ_FIRST(&control->clusters));
}

struct cluster *
clusters_find(struct control *control, size_t number)
{
    struct watched_cluster *watched =
        find_id(control, control->source.editions[0]->pools[number].id);

    return watched == NULL ? NULL : watched->cluster;
}
