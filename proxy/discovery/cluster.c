/*
 * discovery/cluster.c - rounds of questions, and what is made of the answers.
 */
#include "discovery/cluster.h"

#include "base/dice.h"
#include "base/log.h"
#include "base/mem.h"
#include "discovery/ask.h"
#include "discovery/candidates.h"
#include "discovery/checkups.h"
#include "discovery/names.h"
#include "resp/encode.h"
#include "resp/reply_read.h"
#include "upstream/handshake.h"

#define PAUSE_DOUBLINGS 16
#define PAUSE_MAX_MS 500 /* unless cluster_refresh_min is longer */
#define QUOTED_MAX 256
#define NAME_WAIT_MS 20

struct cluster {
    const struct pool_settings *settings;
    const struct cluster_ops *ops;
    void *arg;
    struct loop *loop;
    struct names *names;
    struct ask ask;
    struct timer next;          /* of the round that is due */
    struct candidates candidates;
    struct candidate *asked;    /* while ask.is_active */
    struct cluster_map *map;    /* NULL: nothing is known */
    struct checkups *checkups;  /* of its nodes */
    uint64_t asked_us;          /* when the question now under way was asked */
    uint64_t map_us;            /* when that which brought the map was */
    uint64_t confirmed_us;
    uint64_t dice;
    unsigned fruitless;         /* rounds in a row that brought nothing new */
    bool is_wanted;             /* somebody waits for news */
    bool is_hinted;             /* the round under way is for a hint */
    bool is_waiting;            /* for the name of somebody to ask */
    bool is_failing;            /* that no node gives a map has been logged */
    enum map_cause cause;
    struct cluster_stats stats;
};

static void begin_round(struct cluster *cluster);
static void ask_next(struct cluster *cluster);

/* --- when -------------------------------------------------------------------------- */

static int64_t
shortest_pause_ms(const struct cluster *cluster)
{
    int64_t min = cluster->settings->cluster_refresh_min_ms;
    unsigned doublings = MIN(cluster->fruitless, PAUSE_DOUBLINGS);

    return MIN(min << doublings, MAX(min, (int64_t)PAUSE_MAX_MS));
}

/* Up to a quarter is added or taken, so that proxies do not ask in step. */
static int64_t
pause_ms(struct cluster *cluster)
{
    if (cluster->is_wanted) {
        int64_t pause = shortest_pause_ms(cluster);
        return pause +
            (int64_t)dice_below(&cluster->dice, (uint64_t)pause / 4 + 1);
    }
    int64_t pause = cluster->settings->cluster_refresh_interval_ms;
    return pause -
        (int64_t)dice_below(&cluster->dice, (uint64_t)pause / 4 + 1);
}

/* Since the last question was asked. */
static void
plan(struct cluster *cluster)
{
    if (cluster->ask.is_active)
        return;
    uint64_t due = cluster->asked_us + (uint64_t)pause_ms(cluster) * 1000;
    uint64_t now = loop_now_us(cluster->loop);

    timer_start(&cluster->next,
                due > now ? (int64_t)((due - now + 999) / 1000) : 0);
}

static void
on_next(struct timer *timer, void *arg)
{
    (void)timer;
    begin_round(arg);
}

/* --- answers ------------------------------------------------------------------------ */

static bool
is_at(const struct cluster_node *node, const struct roster_entry *entry)
{
    return node->port == entry->address.port &&
        view_equal(view_str(node->host), view_str(entry->address.host));
}

static uint32_t
count_moved(const struct topology *topology, const struct cluster_map *known)
{
    uint32_t moved = 0;

    for (uint32_t slot = 0; slot < ROUTE_SLOTS; slot++) {
        uint16_t owner = topology->owners[slot];
        uint16_t was = known == NULL ? ROUTE_NO_OWNER : known->owners[slot];
        if (owner == ROUTE_NO_OWNER || was == ROUTE_NO_OWNER)
            moved += owner != was;
        else
            moved += !is_at(&known->nodes[was],
                            &topology->roster->entries[owner]);
    }
    return moved;
}

static void
log_change(const struct cluster *cluster, const struct topology *topology,
           const struct cluster_map *fresh)
{
    log_info("map of cluster changed",
             "pool=%s told_by=%s:%u cause=%s shards=%u replicas=%u "
             "slots_moved=%u slots_uncovered=%u epoch=%llu",
             cluster->settings->name, cluster->asked->host,
             cluster->asked->port, map_cause_name(cluster->cause),
             topology->roster->shard_count,
             topology->roster->count - topology->roster->shard_count,
             count_moved(topology, cluster->map),
             ROUTE_SLOTS - cluster_map_covered(fresh),
             (unsigned long long)cluster_map_epoch(fresh));
}

static void
note_map(struct cluster *cluster, struct cluster_map *fresh)
{
    struct cluster_map *before = cluster->map;

    cluster->map = fresh;
    cluster->confirmed_us = cluster->asked_us;
    cluster_map_free(&before);
    candidates_take_map(&cluster->candidates, fresh,
                        loop_now_us(cluster->loop));
    cell_set(&cluster->stats.map_epoch, cluster_map_epoch(fresh));
    cell_set(&cluster->stats.slots_uncovered,
             ROUTE_SLOTS - cluster_map_covered(fresh));
    cell_set(&cluster->stats.nodes_known, cluster->candidates.count);
}

static void
publish(struct cluster *cluster, struct cluster_map *fresh)
{
    struct topology topology = {.asked = cluster->asked_us};

    cluster_map_topology(fresh, &topology);
    log_change(cluster, &topology, fresh);
    cell_inc(&cluster->stats.map_changes);
    cluster->map_us = cluster->asked_us;
    cluster->fruitless = 0;
    note_map(cluster, fresh);
    checkups_take(cluster->checkups, cluster->settings, topology.roster);
    checkups_write(cluster->checkups, topology.roster);
    cluster->ops->on_map(cluster, &topology);
    roster_unref(&topology.roster);
}

/* The same map, but what is known of its nodes has changed. */
static void
on_checkups(void *arg)
{
    struct cluster *cluster = arg;
    struct topology topology = {.asked = cluster->map_us};

    if (cluster->map == NULL)
        return;
    cluster_map_topology(cluster->map, &topology);
    checkups_write(cluster->checkups, topology.roster);
    cluster->ops->on_map(cluster, &topology);
    roster_unref(&topology.roster);
}

static void
confirm(struct cluster *cluster, struct cluster_map *fresh)
{
    note_map(cluster, fresh);
    if (!cluster->is_hinted) {
        cluster->fruitless = 0;
        return;
    }
    cluster->fruitless++;
    cluster->map_us = cluster->asked_us;
    cluster->ops->on_same(cluster, cluster->asked_us);
}

static void
take_map(struct cluster *cluster, struct cluster_map *fresh)
{
    cluster->asked->failures = 0;
    if (cluster->is_failing)
        log_info("cluster is heard again", "pool=%s told_by=%s:%u",
                 cluster->settings->name, cluster->asked->host,
                 cluster->asked->port);
    cluster->is_failing = false;
    if (cluster->map == NULL || !cluster_map_equal(cluster->map, fresh))
        publish(cluster, fresh);
    else
        confirm(cluster, fresh);
    cluster->asked = NULL;
    plan(cluster);
}

/* The next of this round is asked; after the last, all of them again later. */
static void
take_failure(struct cluster *cluster, const char *why)
{
    char quoted[QUOTED_MAX];

    cell_inc(&cluster->stats.node_failures);
    cluster->asked->failures++;
    names_hint(cluster->names, cluster->asked->host);
    log_at(cluster->asked->failures == 1 ? LOG_LEVEL_WARN : LOG_LEVEL_DEBUG,
           "node gives no map of its cluster", "pool=%s node=%s:%u reason=%s",
           cluster->settings->name, cluster->asked->host, cluster->asked->port,
           log_quote(quoted, sizeof(quoted), view_str(why)));
    cluster->asked = NULL;
    ask_next(cluster);
}

static struct cluster_map *
read_answers(struct cluster *cluster, struct error *error)
{
    const struct view *answers = cluster->ask.answers;
    bool has_auth = cluster->settings->redis_auth != NULL;
    struct view rest = answers[0];
    struct reply_item item;

    if (has_auth && reply_next(&rest, &item) && item.type == RESP_ERROR) {
        error_set(error, "AUTH: %.*s", (int)MIN(item.text.len, (size_t)100),
                  item.text.data);
        return NULL;
    }
    return cluster_map_read(answers[has_auth], answers[has_auth + 1],
                            cluster->asked->host, error);
}

static void
on_answers(struct ask *ask, const char *why)
{
    struct cluster *cluster = CONTAINER_OF(ask, struct cluster, ask);
    struct error error;

    if (why != NULL) {
        take_failure(cluster, why);
        return;
    }
    struct cluster_map *fresh = read_answers(cluster, &error);
    if (fresh != NULL &&
        cluster_map_merge(fresh, cluster->map, &error) < 0) {
        cell_inc(&cluster->stats.node_rejections);
        cluster_map_free(&fresh);
    }
    if (fresh == NULL)
        take_failure(cluster, error.text);
    else
        take_map(cluster, fresh);
}

/* --- rounds --------------------------------------------------------------------------- */

static unsigned
encode_questions(const struct pool_settings *settings, struct buf *out)
{
    unsigned count = handshake_encode_auth(settings->redis_user,
                                           settings->redis_auth, out) + 2;

    encode_array(out, 2);
    encode_bulk_str(out, "CLUSTER");
    encode_bulk_str(out, "SLOTS");
    encode_array(out, 2);
    encode_bulk_str(out, "CLUSTER");
    encode_bulk_str(out, "NODES");
    return count;
}

static void
ask_candidate(struct cluster *cluster, const struct address *address)
{
    struct buf questions = {0};
    unsigned count = encode_questions(cluster->settings, &questions);

    cluster->asked_us = loop_clock_us(cluster->loop);
    ask_start(&cluster->ask, address, buf_view(&questions), count,
              cluster->settings->connect_timeout_ms);
    buf_fini(&questions);
}

/* --- where to ask ---------------------------------------------------------- */

enum where {
    WHERE_THERE,
    WHERE_PENDING, /* its name is being asked for */
    WHERE_NOWHERE
};

/* Its IP address, as others say, and what its name leads to: all of them in turn,
 * the next after each failure. */
static enum where
find_where(struct cluster *cluster, const struct candidate *candidate,
           struct address *address)
{
    if (address_from_literal(address, candidate->host, candidate->port))
        return WHERE_THERE;
    bool has_ip = candidate->ip != NULL &&
        address_from_literal(address, candidate->ip, candidate->port);
    const struct address_list *list =
        names_find(cluster->names, candidate->host);
    uint32_t count = list->count + has_ip;
    if (count == 0)
        return list->is_pending ? WHERE_PENDING : WHERE_NOWHERE;
    uint32_t turn = candidate->failures % count;
    if (turn >= has_ip) {
        *address = list->items[turn - has_ip];
        address_set_port(address, candidate->port);
    }
    return WHERE_THERE;
}

static void
note_nowhere(const struct cluster *cluster, struct candidate *candidate)
{
    if (candidate->failures++ == 0)
        log_warn("node gives no map of its cluster",
                 "pool=%s node=%s:%u reason=\"its name does not resolve\"",
                 cluster->settings->name, candidate->host, candidate->port);
}

static void
end_round(struct cluster *cluster)
{
    if (cluster->is_waiting) { /* nobody has been asked for nothing yet */
        cluster->is_wanted = true;
        timer_start(&cluster->next, NAME_WAIT_MS);
        return;
    }
    cell_inc(&cluster->stats.map_failures);
    cluster->fruitless++;
    cluster->is_wanted = true;
    if (!cluster->is_failing)
        log_error("no node of the cluster gives a map",
                  "pool=%s nodes_asked=%u", cluster->settings->name,
                  cluster->candidates.count);
    cluster->is_failing = true;
    plan(cluster);
}

static void
ask_next(struct cluster *cluster)
{
    struct address address;
    uint64_t now_us = loop_now_us(cluster->loop);

    while ((cluster->asked = candidates_next(&cluster->candidates,
                                             now_us)) != NULL) {
        switch (find_where(cluster, cluster->asked, &address)) {
        case WHERE_THERE:
            ask_candidate(cluster, &address);
            return;
        case WHERE_PENDING:
            cluster->is_waiting = true;
            break;
        case WHERE_NOWHERE:
            note_nowhere(cluster, cluster->asked);
            break;
        }
    }
    end_round(cluster);
}

static void
begin_round(struct cluster *cluster)
{
    cluster->is_hinted = cluster->is_wanted;
    if (!cluster->is_wanted) {
        cluster->cause = MAP_CAUSE_INTERVAL;
        candidates_forgive(&cluster->candidates, loop_now_us(cluster->loop));
    }
    cluster->is_wanted = false;
    cluster->is_waiting = false;
    cell_inc(&cluster->stats.refreshes[cluster->cause]);
    candidates_begin_round(&cluster->candidates);
    ask_next(cluster);
}

void
cluster_hint(struct cluster *cluster, enum map_cause cause, uint64_t seen_us)
{
    if (seen_us < cluster->map_us || cluster->is_wanted)
        return; /* a newer map is on its way, or will be */
    cluster->is_wanted = true;
    cluster->cause = cause;
    plan(cluster);
}

/* --- life ------------------------------------------------------------------------------- */

struct cluster *
cluster_new(struct loop *loop, struct names *names,
            const struct pool_settings *settings,
            const struct cluster_ops *ops, void *arg)
{
    struct cluster *cluster = MEM_NEW(struct cluster);

    cluster->loop = loop;
    cluster->names = names;
    cluster->settings = settings;
    cluster->ops = ops;
    cluster->arg = arg;
    cluster->dice = loop_clock_us(loop) ^ (uintptr_t)cluster;
    cluster->is_wanted = true;
    cluster->cause = MAP_CAUSE_START;
    cell_set(&cluster->stats.slots_uncovered, ROUTE_SLOTS);
    ask_init(&cluster->ask, loop, on_answers);
    cluster->checkups =
        checkups_new(names, loop,
                     (struct checkup_cells){&cluster->stats.replicas_cut,
                                            &cluster->stats.replicas_behind},
                     on_checkups, cluster);
    timer_init(&cluster->next, loop, on_next, cluster);
    candidates_init(&cluster->candidates);
    candidates_set_seeds(&cluster->candidates, settings, loop_now_us(loop));
    timer_start(&cluster->next, 0);
    return cluster;
}

void
cluster_free(struct cluster **clusterp)
{
    struct cluster *cluster = *clusterp;

    *clusterp = NULL;
    if (cluster == NULL)
        return;
    ask_cancel(&cluster->ask);
    timer_stop(&cluster->next);
    candidates_fini(&cluster->candidates);
    checkups_free(&cluster->checkups);
    cluster_map_free(&cluster->map);
    mem_free(cluster);
}

void
cluster_configure(struct cluster *cluster,
                  const struct pool_settings *settings)
{
    struct topology topology;

    cluster->settings = settings;
    candidates_set_seeds(&cluster->candidates, settings,
                         loop_now_us(cluster->loop));
    if (cluster->map != NULL) {
        cluster_map_topology(cluster->map, &topology);
        checkups_take(cluster->checkups, settings, topology.roster);
        roster_unref(&topology.roster);
    }
    if (!cluster->ask.is_active)
        plan(cluster);
}

void *
cluster_arg(const struct cluster *cluster)
{
    return cluster->arg;
}

bool
cluster_is_covered(const struct cluster *cluster)
{
    return cell_get(&cluster->stats.slots_uncovered) == 0;
}

uint64_t
cluster_confirmed_us(const struct cluster *cluster)
{
    return cluster->confirmed_us;
}

const struct cluster_stats *
cluster_stats(const struct cluster *cluster)
{
    return &cluster->stats;
}
