/*
 * discovery/sentinel_peer.c - questions to one Sentinel, and its answers.
 *
 *   [AUTH]  SENTINEL MYID  (SENTINEL MASTER m, GET-MASTER-ADDR-BY-NAME m,
 *           SENTINELS m [, REPLICAS m]) for each master
 */
#include "discovery/sentinel_peer.h"

#include "base/log.h"
#include "base/mem.h"
#include "discovery/sentinels_priv.h"
#include "resp/encode.h"
#include "resp/reply_read.h"

#define QUESTIONS_A_MASTER 3 /* and one where replicas are read from */
#define SLICE ((ASK_MAX - 2) / (QUESTIONS_A_MASTER + 1))
#define LIST_MAX EPOCH_VOTES_MAX
#define TILT_US 35000000u /* Sentinel's own period, and a little */
#define QUOTED_MAX 256

static void ask_slice(struct sentinel_peer *peer);

/* --- votes ------------------------------------------------------------------------ */

static void
vote_clear(struct kept_vote *vote)
{
    mem_free(vote->host);
    sentinel_replicas_free(&vote->replicas);
    *vote = (struct kept_vote){.kind = VOTE_SILENT};
}

void
sentinel_peer_forget_votes(struct sentinel_peer *peer)
{
    for (uint32_t i = 0; i < peer->vote_count; i++)
        vote_clear(&peer->votes[i]);
    mem_free(peer->votes);
    peer->vote_count = peer->owner->master_count;
    peer->votes = mem_array(peer->vote_count, sizeof(*peer->votes));
    ask_cancel(&peer->ask);
}

static uint64_t
now_of(const struct sentinel_peer *peer)
{
    return loop_now_us(peer->owner->loop);
}

struct vote
sentinel_peer_vote(const struct sentinel_peer *peer, uint32_t master)
{
    const struct kept_vote *kept = &peer->votes[master];
    struct vote vote = {
        .kind = kept->kind,
        .voter = view_str(peer->run_id),
        .port = kept->port,
        .epoch = kept->epoch,
        .is_failing_over = kept->is_failing_over,
    };

    if (kept->host != NULL)
        vote.host = view_str(kept->host);
    if (vote.kind == VOTE_ADDRESS && now_of(peer) < peer->tilt_until_us)
        vote.kind = VOTE_SILENT;
    return vote;
}

static bool
has_replicas(const struct sentinel_peer *peer)
{
    return peer->owner->settings->read_from != READ_FROM_PRIMARY;
}

static void
vote_take(struct kept_vote *vote, const struct sentinel_instance *master)
{
    vote_clear(vote);
    vote->kind = VOTE_ADDRESS;
    vote->host = mem_view_dup(master->host);
    vote->port = master->port;
    vote->epoch = master->epoch;
    vote->is_failing_over = (master->flags & SENTINEL_FAILOVER) != 0;
}

/* --- how it went ---------------------------------------------------------------------- */

static const char *
pool_name(const struct sentinel_peer *peer)
{
    return peer->owner->settings->name;
}

static void
fail(struct sentinel_peer *peer, const char *why)
{
    char quoted[QUOTED_MAX];

    cell_inc(&peer->owner->stats.asking_failures);
    names_hint(peer->owner->names, peer->host);
    peer->is_reached = false;
    peer->failures++;
    peer->turn++;
    for (uint32_t i = 0; i < peer->vote_count; i++)
        vote_clear(&peer->votes[i]);
    log_at(peer->failures == 1 ? LOG_LEVEL_WARN : LOG_LEVEL_DEBUG,
           "Sentinel does not answer as it should",
           "pool=%s sentinel=%s:%u reason=%s", pool_name(peer), peer->host,
           peer->port, log_quote(quoted, sizeof(quoted), view_str(why)));
    sentinels_on_votes(peer->owner);
}

static void
succeed(struct sentinel_peer *peer)
{
    if (peer->failures > 0)
        log_info("Sentinel answers again", "pool=%s sentinel=%s:%u",
                 pool_name(peer), peer->host, peer->port);
    peer->failures = 0;
    peer->is_reached = true;
    peer->has_answered = true;
    peer->heard_us = now_of(peer);
    if (peer->is_seed)
        sentinels_end_listing(peer->owner, peer);
}

/* --- answers --------------------------------------------------------------------------- */

static bool
is_error(struct view reply, struct view *text)
{
    struct reply_item item;

    if (!reply_next(&reply, &item) || item.type != RESP_ERROR)
        return false;
    *text = item.text;
    return true;
}

static void
take_id(struct sentinel_peer *peer, struct view reply)
{
    struct view id = sentinel_read_id(reply);

    if (id.len == 0)
        return; /* before 6.2 it has no word for it */
    memcpy(peer->run_id, id.data, id.len);
    peer->run_id[id.len] = '\0';
    if (peer->is_seed)
        sentinels_drop_twin(peer->owner, peer);
}

static int
take_master(struct sentinel_peer *peer, uint32_t number, struct view reply,
            struct view address, struct error *error)
{
    struct sentinel_instance master;
    struct view text = VIEW("not understood");

    switch (sentinel_read_master(reply, &master)) {
    case SENTINEL_OK:
        sentinel_read_address(address, &master);
        vote_take(&peer->votes[number], &master);
        return 0;
    case SENTINEL_NO_NAME:
        vote_clear(&peer->votes[number]);
        peer->votes[number].kind = VOTE_NO_NAME;
        return 0;
    case SENTINEL_ERROR:
        (void)is_error(reply, &text);
        break;
    case SENTINEL_BAD:
        break;
    }
    return error_set(error, "SENTINEL MASTER: %.*s",
                     (int)MIN(text.len, (size_t)200), text.data);
}

static void
take_replicas(struct kept_vote *vote, struct view reply)
{
    if (vote->kind == VOTE_ADDRESS)
        vote->replicas = sentinel_replicas_read(reply, view_str(vote->host),
                                                vote->port);
}

/* Learnt ones teach nothing: a lie would spread. */
static void
take_others(struct sentinel_peer *peer, struct view reply)
{
    struct sentinel_instance list[LIST_MAX];
    size_t count;

    if (!peer->is_seed ||
        sentinel_read_list(reply, list, LIST_MAX, &count) != SENTINEL_OK)
        return;
    for (size_t i = 0; i < count; i++)
        sentinels_learn(peer->owner, peer, &list[i]);
}

static uint32_t
slice_end(const struct sentinel_peer *peer)
{
    return MIN(peer->first + SLICE, peer->vote_count);
}

static int
take_answers(struct sentinel_peer *peer, struct error *error)
{
    const struct view *answer = peer->ask.answers;
    struct view text;

    if (peer->owner->settings->sentinel_auth != NULL &&
        is_error(*answer++, &text))
        return error_set(error, "AUTH: %.*s",
                         (int)MIN(text.len, (size_t)200), text.data);
    take_id(peer, *answer++);
    for (uint32_t i = peer->first; i < slice_end(peer); i++) {
        if (take_master(peer, i, answer[0], answer[1], error) < 0)
            return -1;
        take_others(peer, answer[2]);
        answer += QUESTIONS_A_MASTER;
        if (has_replicas(peer))
            take_replicas(&peer->votes[i], *answer++);
    }
    return 0;
}

static void
on_answers(struct ask *ask, const char *why)
{
    struct sentinel_peer *peer = CONTAINER_OF(ask, struct sentinel_peer, ask);
    struct error error;

    if (why == NULL && take_answers(peer, &error) < 0)
        why = error.text;
    if (why != NULL) {
        fail(peer, why);
        return;
    }
    peer->first = slice_end(peer);
    if (peer->first < peer->vote_count)
        ask_slice(peer);
    else
        succeed(peer);
    sentinels_on_votes(peer->owner);
}

/* --- where it is ---------------------------------------------------------------------- */

enum where {
    WHERE_THERE,
    WHERE_PENDING, /* its name is being asked for */
    WHERE_NOWHERE
};

static enum where
find_where(struct sentinel_peer *peer)
{
    if (peer->is_literal)
        return WHERE_THERE;
    const struct address_list *list =
        names_find(peer->owner->names, peer->host);
    if (list->count == 0)
        return list->is_pending ? WHERE_PENDING : WHERE_NOWHERE;
    peer->address = list->items[peer->turn % list->count];
    address_set_port(&peer->address, peer->port);
    return WHERE_THERE;
}

/* --- questions ------------------------------------------------------------------------ */

static void
encode_question(struct buf *out, const char *what, const char *master)
{
    encode_array(out, master == NULL ? 2 : 3);
    encode_bulk_str(out, "SENTINEL");
    encode_bulk_str(out, what);
    if (master != NULL)
        encode_bulk_str(out, master);
}

static void
ask_slice(struct sentinel_peer *peer)
{
    const struct sentinels *owner = peer->owner;
    struct buf questions = {0};
    unsigned count = sentinels_encode_auth(owner->settings, &questions) + 1;

    encode_question(&questions, "MYID", NULL);
    for (uint32_t i = peer->first; i < slice_end(peer); i++) {
        encode_question(&questions, "MASTER", owner->masters[i]->name);
        encode_question(&questions, "GET-MASTER-ADDR-BY-NAME",
                        owner->masters[i]->name);
        encode_question(&questions, "SENTINELS", owner->masters[i]->name);
        count += QUESTIONS_A_MASTER;
        if (!has_replicas(peer))
            continue;
        encode_question(&questions, "REPLICAS", owner->masters[i]->name);
        count++;
    }
    ask_start(&peer->ask, &peer->address, buf_view(&questions), count,
              owner->settings->connect_timeout_ms);
    buf_fini(&questions);
}

void
sentinel_peer_ask(struct sentinel_peer *peer, uint64_t round)
{
    ASSERT(!peer->ask.is_active);
    peer->round = round;
    peer->first = 0;
    peer->is_pending = false;
    switch (find_where(peer)) {
    case WHERE_THERE:
        ask_slice(peer);
        break;
    case WHERE_PENDING:
        peer->is_pending = true;
        sentinels_want(peer->owner);
        break;
    case WHERE_NOWHERE:
        fail(peer, "its name does not resolve");
        break;
    }
}

/* --- events --------------------------------------------------------------------------- */

static struct sentinel_peer *
of_events(struct subscription *subscription)
{
    return CONTAINER_OF(subscription, struct sentinel_peer, events);
}

static void
on_listening(struct subscription *subscription)
{
    struct sentinel_peer *peer = of_events(subscription);

    cell_inc(&peer->owner->stats.listened);
    log_debug("Sentinel is listened to", "pool=%s sentinel=%s:%u",
              pool_name(peer), peer->host, peer->port);
    sentinels_want(peer->owner); /* who knows what was missed */
}

static void
on_lost(struct subscription *subscription, const char *why)
{
    struct sentinel_peer *peer = of_events(subscription);

    log_debug("Sentinel is not listened to", "pool=%s sentinel=%s:%u "
              "reason=\"%s\"", pool_name(peer), peer->host, peer->port, why);
}

static void
on_message(struct subscription *subscription,
           const struct sentinel_message *message)
{
    struct sentinel_peer *peer = of_events(subscription);
    struct sentinels *owner = peer->owner;
    struct sentinel_event event = sentinel_read_event(message);

    uint32_t number = sentinels_find(owner, event.master);

    if ((event.master.len > 0 && number == owner->master_count) ||
        !sentinels_counts(owner, peer))
        return; /* not one of ours */
    switch (event.kind) {
    case SENTINEL_EVENT_NOISE:
        return;
    case SENTINEL_EVENT_REPLICAS:
        if (!has_replicas(peer))
            return;
        break;
    case SENTINEL_EVENT_TILT:
        peer->tilt_until_us = now_of(peer) + TILT_US;
        break;
    case SENTINEL_EVENT_TILT_END:
        peer->tilt_until_us = 0;
        break;
    case SENTINEL_EVENT_FAILOVER:
    case SENTINEL_EVENT_PROMOTING:
    case SENTINEL_EVENT_ABORTED:
        if (number < owner->master_count)
            sentinel_master_on_failover(owner->masters[number],
                                        view_str(peer->run_id), event.kind);
        break;
    case SENTINEL_EVENT_MASTER:
    case SENTINEL_EVENT_SENTINELS:
        break;
    }
    cell_inc(&owner->stats.events);
    sentinels_hurry(owner);
}

static const struct subscription_ops events_ops = {
    .on_listening = on_listening,
    .on_lost = on_lost,
    .on_message = on_message,
};

void
sentinel_peer_listen(struct sentinel_peer *peer)
{
    const struct pool_settings *settings = peer->owner->settings;
    struct buf greeting = {0};

    if (find_where(peer) != WHERE_THERE ||
        (peer->events.state != SUBSCRIPTION_IDLE &&
         address_equal(&peer->events.address, &peer->address)))
        return;
    (void)sentinels_encode_auth(settings, &greeting);
    encode_array(&greeting, 2);
    encode_bulk_str(&greeting, "PSUBSCRIBE");
    encode_bulk_str(&greeting, "*");
    subscription_start(&peer->events, &peer->address, buf_view(&greeting),
                       settings->connect_timeout_ms);
    buf_fini(&greeting);
}

/* --- life ------------------------------------------------------------------------------ */

struct sentinel_peer *
sentinel_peer_new(struct sentinels *owner, const char *host, uint16_t port)
{
    struct sentinel_peer *peer = MEM_NEW(struct sentinel_peer);

    peer->owner = owner;
    peer->host = mem_strdup(host);
    peer->port = port;
    peer->is_literal = address_from_literal(&peer->address, host, port);
    peer->heard_us = loop_now_us(owner->loop);
    ask_init(&peer->ask, owner->loop, on_answers);
    subscription_init(&peer->events, owner->loop, &events_ops);
    sentinel_peer_forget_votes(peer);
    return peer;
}

void
sentinel_peer_free(struct sentinel_peer **peerp)
{
    struct sentinel_peer *peer = *peerp;

    *peerp = NULL;
    ask_cancel(&peer->ask);
    subscription_stop(&peer->events);
    for (uint32_t i = 0; i < peer->vote_count; i++)
        vote_clear(&peer->votes[i]);
    mem_free(peer->votes);
    mem_free(peer->host);
    mem_free(peer);
}
