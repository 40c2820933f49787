/*
 * discovery/sentinel_master.c - what is believed of one master, and for how long.
 *
 *             a switch is believed
 *        +-----------------------------------+
 *        v                                   |
 *   FOLLOWED --a failover has begun-----> FAILING_OVER
 *        |                                   |
 *        +-----a higher epoch is told----> OUTDATED
 *        ^                                   |
 *        +-- later most stand by the lower --+
 */
#include "base/log.h"
#include "base/mem.h"
#include "discovery/sentinels_priv.h"
#include "resp/encode.h"
#include "upstream/handshake.h"

#define SETTLE_US 1000000  /* a true switch is known to most by then */
#define MUTE_US 60000000   /* so long one who was alone cannot hold again */
#define STALE_NEWS_US 500000
#define DOUBTS_MIN 2       /* rounds before it is said */
#define DISAGREE_US 3000000 /* they greet each other every two seconds */
#define HELLO "__sentinel__:hello"

static uint64_t
now_of(const struct sentinel_master *master)
{
    return loop_now_us(master->owner->loop);
}

static const char *
pool_name(const struct sentinel_master *master)
{
    return master->owner->settings->name;
}

/* --- holding ------------------------------------------------------------------ */

static void
set_text(char *place, size_t size, struct view text)
{
    size_t len = MIN(text.len, size - 1);

    if (len > 0)
        memcpy(place, text.data, len);
    place[len] = '\0';
}

static bool
is_muted(const struct sentinel_master *master, struct view run_id)
{
    return now_of(master) < master->muted_until_us &&
        view_equal(run_id, view_str(master->muted));
}

static void
set_hold(struct sentinel_master *master, enum master_hold hold)
{
    if (master->hold == hold)
        return;
    master->hold = hold;
    master->is_stuck = false;
    master->is_announced &= hold != MASTER_FOLLOWED;
    master->owner->fruitless = 0;
}

static bool
may_hold(const struct sentinel_master *master, struct view run_id)
{
    return master->host != NULL && !is_muted(master, run_id);
}

static void
begin_hold(struct sentinel_master *master, enum master_hold hold,
           struct view run_id)
{
    master->held_us = now_of(master);
    master->is_aborted = false;
    master->is_promoting = false;
    set_text(master->held_by, sizeof(master->held_by), run_id);
    set_hold(master, hold);
    cell_inc(&master->owner->stats.holds);
}

/* Somebody tells of a higher epoch than ours. */
static void
take_higher(struct sentinel_master *master, struct view run_id, uint64_t epoch)
{
    if (master->hold == MASTER_OUTDATED || !may_hold(master, run_id))
        return;
    begin_hold(master, MASTER_OUTDATED, run_id);
    master->held_epoch = epoch;
    log_warn("writes to a master are held: a Sentinel tells of a higher epoch",
             "pool=%s master=%s address=%s:%u epoch=%llu told=%llu",
             pool_name(master), master->name, master->host, master->port,
             (unsigned long long)master->epoch, (unsigned long long)epoch);
}

/* News of the last failover may come behind its result. */
static bool
may_fail_over(const struct sentinel_master *master, struct view run_id)
{
    return master->owner->settings->failover_hold_ms > 0 &&
        master->hold == MASTER_FOLLOWED && may_hold(master, run_id) &&
        (master->moved_us == 0 ||
         now_of(master) >= master->moved_us + STALE_NEWS_US);
}

/* What was acknowledged since may be lost. */
static void
note_late(struct sentinel_master *master)
{
    cell_inc(&master->owner->stats.holds_late);
    log_warn("a failover was heard of too late: writes to the old address may "
             "be lost", "pool=%s master=%s address=%s:%u epoch=%llu",
             pool_name(master), master->name, master->host, master->port,
             (unsigned long long)master->epoch);
}

/* What is written from here on might not reach who is promoted. */
static void
hold_for_failover(struct sentinel_master *master, struct view run_id)
{
    begin_hold(master, MASTER_FAILING_OVER, run_id);
    master->is_announced = true;
    log_info("writes to a master are held: a failover has begun",
             "pool=%s master=%s address=%s:%u epoch=%llu", pool_name(master),
             master->name, master->host, master->port,
             (unsigned long long)master->epoch);
}

void
sentinel_master_on_failover(struct sentinel_master *master,
                            struct view run_id, enum sentinel_event_kind event)
{
    bool is_promoting = event == SENTINEL_EVENT_PROMOTING;

    if (event == SENTINEL_EVENT_ABORTED) {
        master->is_aborted = true;
        return;
    }
    if (may_fail_over(master, run_id)) {
        hold_for_failover(master, run_id);
        if (is_promoting)
            note_late(master);
    }
    if (is_promoting && master->hold == MASTER_FAILING_OVER)
        master->is_promoting = true;
    sentinels_on_votes(master->owner);
}

/* Most stand by what we have. */
static void
let_go(struct sentinel_master *master)
{
    if (!master->is_aborted) {
        set_text(master->muted, sizeof(master->muted),
                 view_str(master->held_by));
        master->muted_until_us = now_of(master) + MUTE_US;
    }
    cell_inc(&master->owner->stats.holds_unfounded);
    log_warn("writes to a master go on: the Sentinels stand by its epoch",
             "pool=%s master=%s address=%s:%u epoch=%llu held_ms=%llu",
             pool_name(master), master->name, master->host, master->port,
             (unsigned long long)master->epoch,
             (unsigned long long)(now_of(master) - master->held_us) / 1000);
    set_hold(master, MASTER_FOLLOWED);
}

/* All have been asked, and what was believed still is: for how long do we wait
 * for something else? */
static bool
may_go_on(const struct sentinel_master *master,
          const struct epoch_result *result)
{
    uint64_t asked_us = master->owner->asked_us;
    uint64_t patience_us =
        (uint64_t)master->owner->settings->failover_hold_ms * 1000;

    switch (master->hold) {
    case MASTER_FOLLOWED:
        return false;
    case MASTER_FAILING_OVER:
        if (master->is_aborted && asked_us > master->held_us)
            return result->failing_over == 0;
        return asked_us >= master->held_us + patience_us &&
            2 * result->failing_over < result->knowing;
    case MASTER_OUTDATED:
        return asked_us >= master->held_us + SETTLE_US;
    }
    return false;
}

/* Too long: better no answer than one that is lost. */
static void
look_at_patience(struct sentinel_master *master)
{
    uint64_t patience_us =
        (uint64_t)master->owner->settings->failover_hold_ms * 1000;

    if (master->hold == MASTER_FOLLOWED || master->is_stuck ||
        now_of(master) < master->held_us + MAX(patience_us, 2 * SETTLE_US))
        return;
    master->is_stuck = true;
    cell_inc(&master->owner->stats.holds_stuck);
    log_warn("writes to a master are refused: its failover does not come to an "
             "end", "pool=%s master=%s address=%s:%u epoch=%llu held_ms=%llu",
             pool_name(master), master->name, master->host, master->port,
             (unsigned long long)master->epoch,
             (unsigned long long)(now_of(master) - master->held_us) / 1000);
}

enum gate
sentinel_master_gate(const struct sentinel_master *master)
{
    if (master->lacks_quorum && master->owner->settings->rejects_without_quorum)
        return GATE_NO_QUORUM;
    if (master->hold == MASTER_FOLLOWED)
        return GATE_OPEN;
    if (master->is_stuck)
        return GATE_STUCK;
    return master->is_promoting ? GATE_PROMOTING : GATE_HELD;
}

/* --- hello on the master -------------------------------------------------------- */

static struct sentinel_master *
of_hello(struct subscription *subscription)
{
    return CONTAINER_OF(subscription, struct sentinel_master, hello);
}

static void
on_hello_listening(struct subscription *subscription)
{
    struct sentinel_master *master = of_hello(subscription);

    log_debug("hello is listened to", "pool=%s master=%s", pool_name(master),
              master->name);
}

static void
on_hello_lost(struct subscription *subscription, const char *why)
{
    struct sentinel_master *master = of_hello(subscription);

    log_debug("hello is not listened to", "pool=%s master=%s reason=\"%s\"",
              pool_name(master), master->name, why);
}

/* Anybody may publish there; only who is a Sentinel of ours is heard. */
static void
on_hello(struct subscription *subscription,
         const struct sentinel_message *message)
{
    struct sentinel_master *master = of_hello(subscription);
    struct sentinel_hello hello;

    if (!view_equal(message->channel, VIEW(HELLO)) ||
        !sentinel_read_hello(message->payload, &hello) ||
        !view_equal(hello.master, view_str(master->name)) ||
        hello.epoch <= master->epoch ||
        !sentinels_knows(master->owner, hello.run_id))
        return;
    cell_inc(&master->owner->stats.events);
    take_higher(master, hello.run_id, hello.epoch);
    sentinels_hurry(master->owner);
    sentinels_on_votes(master->owner);
}

static const struct subscription_ops hello_ops = {
    .on_listening = on_hello_listening,
    .on_lost = on_hello_lost,
    .on_message = on_hello,
};

/* Of a name that leads to several, whichever comes first.  False: it is not known
 * yet. */
static bool
find_where(const struct sentinel_master *master, struct address *address)
{
    if (address_from_literal(address, master->host, master->port))
        return true;
    const struct address_list *list =
        names_find(master->owner->names, master->host);
    if (list->count == 0)
        return false;
    *address = list->items[0];
    address_set_port(address, master->port);
    return true;
}

/* On the master, wherever it is by now. */
static void
listen_to_hello(struct sentinel_master *master)
{
    const struct pool_settings *settings = master->owner->settings;
    struct buf greeting = {0};
    struct address address;

    if (!find_where(master, &address)) {
        subscription_stop(&master->hello);
        return;
    }
    if (master->hello.state != SUBSCRIPTION_IDLE &&
        address_equal(&master->hello.address, &address))
        return;
    (void)handshake_encode_auth(settings->redis_user, settings->redis_auth,
                                &greeting);
    encode_array(&greeting, 2);
    encode_bulk_str(&greeting, "SUBSCRIBE");
    encode_bulk_str(&greeting, HELLO);
    subscription_start(&master->hello, &address, buf_view(&greeting),
                       settings->connect_timeout_ms);
    buf_fini(&greeting);
}

/* --- believing --------------------------------------------------------------------- */

static bool
is_where(const struct sentinel_master *master, const struct vote *vote)
{
    return master->host != NULL && master->port == vote->port &&
        view_equal_nocase(view_str(master->host), vote->host);
}

static void
move(struct sentinel_master *master, const struct vote *vote,
     const struct epoch_result *result)
{
    log_info("master is believed to be at",
             "pool=%s master=%s address=%.*s:%u epoch=%llu sentinels=%u/%u "
             "was=%s:%u was_epoch=%llu",
             pool_name(master), master->name, (int)vote->host.len,
             vote->host.data, vote->port, (unsigned long long)vote->epoch,
             result->supporters, result->known,
             master->host == NULL ? "" : master->host, master->port,
             (unsigned long long)master->epoch);
    if (master->host != NULL) {
        cell_inc(&master->owner->stats.switches);
        if (master->owner->settings->failover_hold_ms > 0 &&
            !master->is_announced)
            note_late(master);
        master->moved_us = now_of(master);
    }
    mem_free(master->host);
    master->host = mem_view_dup(vote->host);
    master->port = vote->port;
    master->since_us = loop_clock_us(master->owner->loop);
    master->owner->has_changed = true;
    sentinel_replicas_drop(master->replicas, vote->host, vote->port);
    listen_to_hello(master);
}

static void
believe(struct sentinel_master *master, const struct epoch_result *result)
{
    const struct vote *vote = result->vouched;
    bool is_newer = vote->epoch > master->epoch;

    if (is_newer || master->host == NULL)
        master->owner->ops->on_epoch(master->owner, master->name, vote->epoch);
    if (!is_where(master, vote))
        move(master, vote, result);
    master->epoch = vote->epoch;
    if ((is_newer && master->hold == MASTER_FAILING_OVER) ||
        (master->hold == MASTER_OUTDATED && vote->epoch >= master->held_epoch))
        set_hold(master, MASTER_FOLLOWED);
    master->lacks_quorum = false;
    if (master->verdict != EPOCH_BELIEVED)
        log_info("master is vouched for again",
                 "pool=%s master=%s sentinels=%u/%u", pool_name(master),
                 master->name, result->supporters, result->known);
    master->verdict = EPOCH_BELIEVED;
    master->doubts = 0;
}

/* --- not believing ------------------------------------------------------------------- */

static void
count_verdict(struct sentinel_stats *stats, enum epoch_verdict verdict)
{
    switch (verdict) {
    case EPOCH_BELIEVED:
        break;
    case EPOCH_NOBODY_REACHED:
        cell_inc(&stats->refused_unreachable);
        break;
    case EPOCH_NOBODY_KNOWS:
        cell_inc(&stats->refused_unknown);
        break;
    case EPOCH_TOO_FEW:
        cell_inc(&stats->refused_few);
        break;
    case EPOCH_DISAGREED:
        cell_inc(&stats->refused_split);
        break;
    case EPOCH_OLD:
        cell_inc(&stats->refused_old);
        break;
    }
}

/* In the middle of a switch they disagree, until they have greeted each other. */
static void
doubt(struct sentinel_master *master, const struct epoch_result *result)
{
    count_verdict(&master->owner->stats, result->verdict);
    sentinels_want(master->owner);
    if (master->doubts++ == 0)
        master->doubted_us = now_of(master);
    if (master->doubts < DOUBTS_MIN ||
        (result->verdict == EPOCH_DISAGREED &&
         now_of(master) < master->doubted_us + DISAGREE_US))
        return;
    if (master->verdict != result->verdict)
        log_error("no address of the master is vouched for",
                  "pool=%s master=%s reason=\"%s\" sentinels=%u reached=%u "
                  "agreed=%u needed=%u epoch=%llu",
                  pool_name(master), master->name,
                  epoch_verdict_text(result->verdict), result->known,
                  result->reached, result->supporters, result->needed,
                  (unsigned long long)master->epoch);
    master->verdict = result->verdict;
    master->lacks_quorum = true;
}

/* Of those that tell of more than is believed. */
static const struct vote *
find_higher(const struct sentinel_master *master, const struct vote *votes,
            size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (votes[i].kind == VOTE_ADDRESS && votes[i].epoch > master->epoch &&
            !is_muted(master, votes[i].voter))
            return &votes[i];
    }
    return NULL;
}

bool
sentinel_master_review(struct sentinel_master *master,
                       const struct vote *votes, size_t count, bool whole)
{
    struct epoch_rules rules = {
        .quorum = (unsigned)master->owner->settings->sentinel_quorum,
        .floor = master->epoch,
    };
    struct epoch_result result;

    epoch_decide(votes, count, &rules, &result);
    if (result.verdict == EPOCH_BELIEVED)
        believe(master, &result);
    else if (whole)
        doubt(master, &result);
    const struct vote *higher = find_higher(master, votes, count);
    if (higher != NULL)
        take_higher(master, higher->voter, higher->epoch);
    if (whole && result.verdict == EPOCH_BELIEVED && may_go_on(master, &result))
        let_go(master);
    else if (whole)
        look_at_patience(master);
    if (whole && master->host != NULL)
        listen_to_hello(master);
    if (master->hold != MASTER_FOLLOWED)
        sentinels_want(master->owner);
    return whole && result.verdict == EPOCH_BELIEVED;
}

/* --- life ------------------------------------------------------------------------------ */

struct sentinel_master *
sentinel_master_new(struct sentinels *owner,
                    const struct server_settings *server)
{
    struct sentinel_master *master = MEM_NEW(struct sentinel_master);

    master->owner = owner;
    master->server = server;
    master->name = mem_strdup(server->master);
    master->epoch = owner->ops->find_epoch(owner, server->master);
    master->verdict = EPOCH_BELIEVED; /* so that the first doubt is told */
    subscription_init(&master->hello, owner->loop, &hello_ops);
    return master;
}

void
sentinel_master_free(struct sentinel_master **masterp)
{
    struct sentinel_master *master = *masterp;

    *masterp = NULL;
    if (master == NULL)
        return;
    subscription_stop(&master->hello);
    mem_free(master->name);
    mem_free(master->host);
    sentinel_replicas_free(&master->replicas);
    mem_free(master);
}
