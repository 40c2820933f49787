/*
 * daemon/watch.c - asking a server how it is, and telling the workers.
 *
 * The counters of verdicts and probes stand in the blocks of the first worker,
 * where control alone writes them.
 */
#include "daemon/watch.h"

#include "base/log.h"
#include "base/mem.h"
#include "net/address.h"
#include "upstream/pool.h"

#define US_PER_MS 1000
#define RETRY_MS 100 /* a worker's mailbox was full, or we had no socket */
#define LATE_MS 100  /* of a timer, on a busy machine */
#define LIST_TEXT_MAX 512

static struct server_stats *
watch_block(const struct watch *watch, unsigned worker)
{
    const struct edition *edition = watch->prober->editions[worker];

    return edition->pools[watch->pool->number].servers[watch->shard];
}

static struct server_stats *
watch_stats(const struct watch *watch)
{
    return watch_block(watch, 0);
}

static uint64_t
watch_now_us(const struct watch *watch)
{
    return loop_now_us(watch->prober->loop);
}

/* --- verdicts ----------------------------------------------------------------- */

static void
watch_publish(struct watch *watch)
{
    const struct prober *prober = watch->prober;
    struct message message = {
        .kind = MESSAGE_VERDICT,
        .pool = watch->pool->id,
        .shard = watch->shard,
        .health = watch->health.state,
    };

    watch->is_unpublished = false;
    for (unsigned i = 0; i < prober->worker_count; i++) {
        if (!mailbox_post(&prober->workers[i]->mailbox, &message))
            watch->is_unpublished = true;
    }
}

static void
watch_count(const struct watch *watch)
{
    struct server_stats *stats = watch_stats(watch);

    switch (watch->health.state) {
    case HEALTH_UP:
    case HEALTH_HALF_OPEN:
        break;
    case HEALTH_SUSPECT:
        cell_inc(&stats->suspicions);
        break;
    case HEALTH_DOWN:
        cell_inc(&stats->downs);
        break;
    }
    cell_set(&stats->up, watch->health.state != HEALTH_DOWN);
}

static void
watch_log(const struct watch *watch, enum health_state before,
          uint64_t lasted_us, const char *better)
{
    const struct server *server = watch->server;
    enum health_state state = watch->health.state;
    bool is_worse = state == HEALTH_SUSPECT || state == HEALTH_DOWN;
    char addr[LIST_TEXT_MAX];

    log_at(state == HEALTH_DOWN ? LOG_LEVEL_WARN : LOG_LEVEL_INFO,
           "health of server changed",
           "pool=%s server=%s addr=%s from=\"%s\" to=\"%s\" "
           "after_ms=%llu reason=\"%s\"",
           server->settings->name, server->name,
           address_list_format(server->addresses, addr, sizeof(addr)),
           health_state_name(before), health_state_name(state),
           (unsigned long long)lasted_us / US_PER_MS,
           is_worse ? incident_text(watch->health.reason) : better);
}

/* Those who only suspect serve as before. */
static bool
is_news(enum health_state before, enum health_state now)
{
    return before == HEALTH_DOWN || before == HEALTH_HALF_OPEN ||
        now == HEALTH_DOWN;
}

static void
watch_note_state(struct watch *watch, const struct health *before)
{
    enum health_state state = watch->health.state;

    if (before->state == state)
        return;
    watch_count(watch);
    watch_log(watch, before->state,
              watch->health.changed_us - before->changed_us, "it has answered");
    if (is_news(before->state, state))
        watch_publish(watch);
    if (pool_ejects(watch->server->settings))
        timer_start(&watch->prober->review, 0);
}

/* --- when to probe --------------------------------------------------------------- */

static void
watch_start_timer(struct watch *watch, int64_t ms)
{
    watch->due_us = watch_now_us(watch) + (uint64_t)ms * US_PER_MS;
    timer_start(&watch->timer, ms);
}

/* A pause less up to half of it, so that proxies do not ask in step. */
static void
watch_plan(struct watch *watch)
{
    uint64_t pause_us = UINT32_MAX;

    if (watch->call.state != CALL_IDLE)
        return; /* the timer is the probe's */
    bool is_due = health_probe_pause(&watch->health, &pause_us);
    /* A server that is out has no requests to prove itself. */
    if (watch->is_ejected)
        pause_us = MIN(pause_us, watch->health.limits.retry_max_us);
    if (!is_due && !watch->is_ejected && !watch->is_unpublished) {
        timer_stop(&watch->timer);
        return;
    }
    uint32_t pause_ms = (uint32_t)(pause_us / US_PER_MS);
    if (watch->is_unpublished)
        pause_ms = MIN(pause_ms, RETRY_MS);
    pause_ms -= pool_random(watch->pool->pool, pause_ms / 2 + 1);
    watch_start_timer(watch, pause_ms);
}

/* Failures are counted before responses and read after them, so that one that
 * is being counted never makes the difference rise. */
static uint64_t
watch_answers_of(const struct watch *watch, unsigned worker)
{
    const struct server_stats *stats = watch_block(watch, worker);
    uint64_t responses = cell_get(&stats->responses);

    return responses - cell_get(&stats->failure_replies);
}

static uint64_t
watch_count_answers(const struct watch *watch)
{
    uint64_t answers = 0;

    for (unsigned i = 0; i < watch->prober->worker_count; i++)
        answers += watch_answers_of(watch, i);
    return answers;
}

/* Have workers got answers since we last looked? */
static void
watch_look_at_answers(struct watch *watch)
{
    struct health before = watch->health;
    uint64_t answers = watch_count_answers(watch);

    if (answers <= watch->answers)
        return;
    watch->answers = answers;
    (void)health_on_answer(&watch->health, watch_now_us(watch));
    watch_note_state(watch, &before);
}

/* --- probes ----------------------------------------------------------------------- */

/* It may be elsewhere by now. */
static void
watch_tell_failure(const struct watch *watch, enum incident what)
{
    const struct prober *prober = watch->prober;

    if (what != INCIDENT_REFUSAL && what != INCIDENT_NOT_READY &&
        what != INCIDENT_EXPIRED && prober->on_failure != NULL &&
        watch->server->at->host != NULL)
        prober->on_failure(prober->on_failure_arg, watch->server->at->host);
}

void
watch_on_incident(struct watch *watch, enum incident what)
{
    watch_tell_failure(watch, what);
    if (what == INCIDENT_ADDRESS)
        return;
    watch_look_at_answers(watch);

    struct health before = watch->health;
    (void)health_on_incident(&watch->health, what, watch_now_us(watch));
    watch_note_state(watch, &before);
    watch_plan(watch);
}

static void
watch_probe_failed(struct watch *watch, enum incident what)
{
    cell_inc(&watch_stats(watch)->probe_failures);
    watch_on_incident(watch, what);
}

static void
watch_probe_answered(struct watch *watch)
{
    struct health before = watch->health;

    (void)health_on_probe_answer(&watch->health, watch_now_us(watch));
    watch_note_state(watch, &before);
    if (watch->is_ejected)
        timer_start(&watch->prober->review, 0);
    watch_plan(watch);
}

static struct watch *
watch_of(struct call *call)
{
    return CONTAINER_OF(call, struct watch, call);
}

/* Who was ejected for being busy is not asked by clients whether it still is. */
static enum ping_result
watch_judge(const struct watch *watch, const struct reply_piece *piece)
{
    enum ping_result result =
        health_judge_ping(view_of(piece->chunk->data + piece->off, piece->len));

    return result == PING_BUSY && watch->is_ejected ? PING_NOT_READY : result;
}

static void
on_reply(struct call *call, const struct reply_piece *piece)
{
    struct watch *watch = watch_of(call);

    if (!piece->last)
        return;
    switch (watch_judge(watch, piece)) {
    case PING_ALIVE:
    case PING_BUSY:
        watch_probe_answered(watch);
        break;
    case PING_NOT_READY:
        watch_probe_failed(watch, INCIDENT_NOT_READY);
        break;
    case PING_ODD:
        watch_probe_failed(watch, INCIDENT_PROBE);
        break;
    }
}

static void
on_lost(struct call *call, enum close_reason why, bool sent)
{
    struct watch *watch = watch_of(call);

    (void)sent;
    if (why == CLOSE_POOL_REMOVED)
        timer_stop(&watch->timer); /* watch_place() or watch_free() follows */
    else if (why == CLOSE_NO_SOCKET || why == CLOSE_SERVER_MOVED)
        watch_start_timer(watch, RETRY_MS); /* it was not even asked */
    else
        watch_probe_failed(watch, INCIDENT_PROBE);
}

static const struct call_ops probe_ops = {
    .on_reply = on_reply,
    .on_lost = on_lost,
};

static void
watch_probe(struct watch *watch)
{
    struct server *server = watch->server;
    struct lane_key key = {
        .db = 0,
        .resp = 2,
        .is_readonly = pool_is_named(server->settings) &&
            watch->shard >= watch->pool->pool->current->shard_count,
    };

    if (server_has_no_address(server)) {
        if (pool_is_named(server->settings))
            watch_start_timer(watch, RETRY_MS); /* Sentinels will say */
        else
            watch_on_incident(watch, INCIDENT_NO_ADDRESS);
        return;
    }
    if (server->addresses->is_pending) { /* there is nobody to ask yet */
        watch_start_timer(watch, RETRY_MS);
        return;
    }
    cell_inc(&watch_stats(watch)->probes);
    server->retry_at_us = 0; /* our pauses, not the server's */
    if (!server_submit(server, key, 0, &watch->call)) {
        watch_probe_failed(watch, INCIDENT_PROBE);
        return;
    }
    watch_start_timer(watch, server->settings->probe_timeout_ms);
}

/* It has taken too long; what comes later on that connection is of no use. */
static void
watch_give_up(struct watch *watch)
{
    struct lane *lane = watch->call.lane;

    if (lane != NULL)
        lane_close(&lane, CLOSE_SERVER_SILENT); /* tells on_lost */
    else if (server_withdraw(watch->server, &watch->call))
        watch_plan(watch); /* it had no connection to be sent on */
}

static void
on_timer(struct timer *timer, void *arg)
{
    struct watch *watch = arg;
    uint64_t answers = watch->answers;

    (void)timer;
    if (watch->is_unpublished)
        watch_publish(watch);
    if (watch->call.state != CALL_IDLE) {
        /* After a pause of our own, see first what has come. */
        if (watch_now_us(watch) > watch->due_us + LATE_MS * US_PER_MS)
            watch_start_timer(watch, LATE_MS);
        else
            watch_give_up(watch);
        return;
    }
    watch_look_at_answers(watch);
    if (watch->health.state == HEALTH_UP && watch->answers != answers)
        watch_plan(watch);
    else
        watch_probe(watch);
}

/* --- life ------------------------------------------------------------------------------- */

struct watch *
watch_new(struct prober *prober, struct watched_pool *pool)
{
    struct watch *watch = MEM_NEW(struct watch);

    watch->prober = prober;
    watch->pool = pool;
    health_init(&watch->health, watch_now_us(watch));
    call_init(&watch->call, &probe_ops);
    watch->call.body =
        (struct extent){chunk_ref(prober->ping), 0, prober->ping->fill};
    timer_init(&watch->timer, prober->loop, on_timer, watch);
    return watch;
}

static void
set_limits(struct watch *watch, const struct pool_settings *settings)
{
    watch->health.limits = (struct health_limits){
        .failures = MAX(settings->server_failure_limit, 1u),
        .window_us = (uint64_t)settings->failure_window_ms * US_PER_MS,
        .probe_us = (uint64_t)settings->probe_interval_ms * US_PER_MS,
        .retry_min_us = (uint64_t)settings->reconnect_min_ms * US_PER_MS,
        .retry_max_us = (uint64_t)settings->reconnect_max_ms * US_PER_MS,
    };
}

/* What was found out is of another address.  The edition that is about to be told
 * has the verdict. */
static void
watch_on_move(struct watch *watch)
{
    struct health before = watch->health;

    if (watch->server->addresses->count > 0 &&
        health_on_move(&watch->health, watch_now_us(watch)))
        watch_log(watch, before.state,
                  watch->health.changed_us - before.changed_us,
                  "it is somewhere else now");
    if (watch->call.state == CALL_IDLE)
        watch_start_timer(watch, 0);
}

static void
watch_follow_addresses(struct watch *watch)
{
    struct address_list *before = watch->addresses;
    struct address_list *now = watch->server->addresses;

    if (before == now)
        return;
    watch->addresses = address_list_ref(now);
    if (before != NULL && !address_list_is_alike(before, now))
        watch_on_move(watch);
    address_list_unref(&before);
}

void
watch_place(struct watch *watch, uint32_t shard)
{
    bool is_new = watch->server == NULL;
    uint64_t pause_us = watch->health.limits.probe_us;

    watch->shard = shard;
    watch->server = generation_server(watch->pool->pool->current, shard);
    set_limits(watch, watch->server->settings);
    watch_follow_addresses(watch);
    cell_set(&watch_stats(watch)->up, watch->health.state != HEALTH_DOWN);
    cell_set(&watch_stats(watch)->live, !watch->is_ejected);
    if (is_new)
        watch->answers = watch_count_answers(watch);
    /* A reload a second must not put every probe off. */
    if (!timer_is_active(&watch->timer) ||
        pause_us != watch->health.limits.probe_us)
        watch_plan(watch);
}

void
watch_free(struct watch **watchp)
{
    struct watch *watch = *watchp;

    *watchp = NULL;
    if (watch == NULL)
        return;
    ASSERT(watch->call.state == CALL_IDLE);
    timer_stop(&watch->timer);
    chunk_unref(&watch->call.body.chunk);
    address_list_unref(&watch->addresses);
    mem_free(watch);
}
