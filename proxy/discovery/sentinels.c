/*
 * discovery/sentinels.c - rounds of questions, who is asked, what comes of it.
 */
#include "discovery/sentinels.h"

#include <string.h>

#include "base/dice.h"
#include "base/log.h"
#include "base/mem.h"
#include "discovery/sentinels_priv.h"
#include "upstream/handshake.h"

#define PAUSE_MIN_MS 50
#define PAUSE_MAX_MS 500
#define PAUSE_DOUBLINGS 8
#define FORGET_US 60000000 /* a learnt one that nobody lists, and is not reached */

/* --- when -------------------------------------------------------------------------- */

/* Up to a quarter is added or taken, so that proxies do not ask in step. */
static int64_t
pause_ms(struct sentinels *sentinels)
{
    unsigned doublings = MIN(sentinels->fruitless, PAUSE_DOUBLINGS);

    if (sentinels->is_wanted) {
        int64_t pause = MIN(PAUSE_MIN_MS << doublings, PAUSE_MAX_MS);
        return pause +
            (int64_t)dice_below(&sentinels->dice, (uint64_t)pause / 4 + 1);
    }
    int64_t pause = sentinels->settings->sentinel_interval_ms;
    return pause -
        (int64_t)dice_below(&sentinels->dice, (uint64_t)pause / 4 + 1);
}

/* Since the last round began. */
static void
plan(struct sentinels *sentinels)
{
    uint64_t due =
        sentinels->asked_us + (uint64_t)pause_ms(sentinels) * 1000;
    uint64_t now = loop_now_us(sentinels->loop);

    timer_start(&sentinels->next,
                due > now ? (int64_t)((due - now + 999) / 1000) : 0);
}

void
sentinels_want(struct sentinels *sentinels)
{
    if (sentinels->is_wanted)
        return;
    sentinels->is_wanted = true;
    plan(sentinels);
}

void
sentinels_hurry(struct sentinels *sentinels)
{
    sentinels->is_wanted = true;
    sentinels->fruitless = 0;
    plan(sentinels);
}

/* --- who is asked --------------------------------------------------------------------- */

static unsigned
count_bits(uint64_t bits)
{
    return (unsigned)__builtin_popcountll(bits);
}

/* Seeds that have ever answered. */
static unsigned
count_teachers(const struct sentinels *sentinels)
{
    unsigned count = 0;

    for (unsigned i = 0; i < sentinels->peer_count; i++)
        count += sentinels->peers[i]->is_seed &&
            sentinels->peers[i]->has_answered;
    return count;
}

bool
sentinels_counts(const struct sentinels *sentinels,
                 const struct sentinel_peer *peer)
{
    return peer->is_seed ||
        2 * count_bits(peer->listed_by) > count_teachers(sentinels);
}

bool
sentinels_knows(const struct sentinels *sentinels, struct view run_id)
{
    for (unsigned i = 0; i < sentinels->peer_count; i++) {
        const struct sentinel_peer *peer = sentinels->peers[i];
        if (view_equal(view_str(peer->run_id), run_id) &&
            sentinels_counts(sentinels, peer))
            return true;
    }
    return false;
}

static struct sentinel_peer *
find_peer(const struct sentinels *sentinels, struct view host, uint16_t port,
          struct view run_id)
{
    for (unsigned i = 0; i < sentinels->peer_count; i++) {
        struct sentinel_peer *peer = sentinels->peers[i];
        if ((run_id.len > 0 && view_equal(view_str(peer->run_id), run_id)) ||
            (peer->port == port &&
             view_equal_nocase(view_str(peer->host), host)))
            return peer;
    }
    return NULL;
}

static void
drop_peer(struct sentinels *sentinels, unsigned number)
{
    sentinel_peer_free(&sentinels->peers[number]);
    sentinels->peers[number] = sentinels->peers[--sentinels->peer_count];
}

/* Who does not count has to make room for one that may. */
static bool
make_room(struct sentinels *sentinels)
{
    for (unsigned i = 0; i < sentinels->peer_count &&
         sentinels->peer_count == EPOCH_VOTES_MAX; i++) {
        const struct sentinel_peer *peer = sentinels->peers[i];
        if (!sentinels_counts(sentinels, peer) && !peer->ask.is_active)
            drop_peer(sentinels, i);
    }
    return sentinels->peer_count < EPOCH_VOTES_MAX;
}

static struct sentinel_peer *
add_peer(struct sentinels *sentinels, const char *host, uint16_t port)
{
    struct sentinel_peer *peer = sentinel_peer_new(sentinels, host, port);

    sentinels->peers[sentinels->peer_count++] = peer;
    cell_set(&sentinels->stats.known, sentinels->peer_count);
    return peer;
}

static void
add_learnt(struct sentinels *sentinels, const struct sentinel_peer *seed,
           const struct sentinel_instance *found)
{
    char *host = mem_view_dup(found->host);
    struct sentinel_peer *peer = add_peer(sentinels, host, found->port);

    memcpy(peer->run_id, found->run_id.data, found->run_id.len);
    peer->run_id[found->run_id.len] = '\0';
    peer->listing = peer->listed_by = (uint64_t)1 << seed->number;
    log_info("Sentinel learnt", "pool=%s sentinel=%s:%u from=%s:%u",
             sentinels->settings->name, host, found->port, seed->host,
             seed->port);
    mem_free(host);
    sentinels_want(sentinels);
}

void
sentinels_learn(struct sentinels *sentinels, const struct sentinel_peer *seed,
                const struct sentinel_instance *found)
{
    struct sentinel_peer *peer =
        find_peer(sentinels, found->host, found->port, found->run_id);

    if (peer == NULL && found->run_id.len > 0 && make_room(sentinels)) {
        add_learnt(sentinels, seed, found);
    } else if (peer != NULL) {
        peer->listing |= (uint64_t)1 << seed->number;
        peer->listed_by |= (uint64_t)1 << seed->number;
        peer->heard_us = loop_now_us(sentinels->loop);
    }
}

void
sentinels_end_listing(struct sentinels *sentinels,
                      const struct sentinel_peer *seed)
{
    uint64_t bit = (uint64_t)1 << seed->number;

    for (unsigned i = 0; i < sentinels->peer_count; i++) {
        struct sentinel_peer *peer = sentinels->peers[i];
        if ((peer->listing & bit) == 0)
            peer->listed_by &= ~bit;
        peer->listing &= ~bit;
    }
}

void
sentinels_drop_twin(struct sentinels *sentinels,
                    const struct sentinel_peer *seed)
{
    for (unsigned i = sentinels->peer_count; i-- > 0;) {
        const struct sentinel_peer *peer = sentinels->peers[i];
        if (!peer->is_seed && strcmp(peer->run_id, seed->run_id) == 0)
            drop_peer(sentinels, i);
    }
}

static void
forget_gone(struct sentinels *sentinels)
{
    uint64_t now_us = loop_now_us(sentinels->loop);

    for (unsigned i = sentinels->peer_count; i-- > 0;) {
        const struct sentinel_peer *peer = sentinels->peers[i];
        if (peer->is_seed || peer->ask.is_active ||
            now_us - peer->heard_us < FORGET_US)
            continue;
        log_info("Sentinel forgotten", "pool=%s sentinel=%s:%u",
                 sentinels->settings->name, peer->host, peer->port);
        drop_peer(sentinels, i);
    }
}

static void
count_peers(struct sentinels *sentinels)
{
    unsigned reached = 0, listened = 0;

    for (unsigned i = 0; i < sentinels->peer_count; i++) {
        reached += sentinels->peers[i]->is_reached;
        listened += sentinels->peers[i]->events.state ==
            SUBSCRIPTION_LISTENING;
    }
    cell_set(&sentinels->stats.known, sentinels->peer_count);
    cell_set(&sentinels->stats.reached, reached);
    cell_set(&sentinels->stats.listened, listened);
}

/* --- what comes of it ------------------------------------------------------------------ */

/* Have all who were asked in this round answered or failed?  One that hangs from
 * an earlier one is not waited for; a name that is being looked up is. */
static bool
round_is_over(const struct sentinels *sentinels)
{
    for (unsigned i = 0; i < sentinels->peer_count; i++) {
        const struct sentinel_peer *peer = sentinels->peers[i];
        if ((peer->ask.is_active || peer->is_pending) &&
            peer->round == sentinels->round)
            return false;
    }
    return true;
}

static void
review(struct sentinels *sentinels, uint32_t number, bool whole)
{
    struct vote votes[EPOCH_VOTES_MAX];
    size_t count = 0;

    for (unsigned i = 0; i < sentinels->peer_count; i++) {
        const struct sentinel_peer *peer = sentinels->peers[i];
        if (sentinels_counts(sentinels, peer))
            votes[count++] = sentinel_peer_vote(peer, number);
    }
    if (sentinel_master_review(sentinels->masters[number], votes, count,
                               whole))
        sentinels_take_replicas(sentinels, number);
}

static void
tell_gates(struct sentinels *sentinels)
{
    enum gate *gates = mem_array(sentinels->master_count, sizeof(enum gate));

    for (uint32_t i = 0; i < sentinels->master_count; i++)
        gates[i] = sentinel_master_gate(sentinels->masters[i]);
    sentinels->ops->on_gates(sentinels, gates);
    mem_free(gates);
}

static void
tell(struct sentinels *sentinels, bool whole)
{
    if (sentinels->has_changed) {
        sentinels->has_changed = false;
        sentinels_check_up(sentinels);
        sentinels->fruitless = 0;
        sentinels->known_us = sentinels->asked_us;
        sentinels->ops->on_change(sentinels, sentinels->asked_us);
    } else if (whole && sentinels->is_hinted) {
        sentinels->fruitless++;
        sentinels->known_us = sentinels->asked_us;
        sentinels->ops->on_same(sentinels, sentinels->asked_us);
    }
    tell_gates(sentinels);
}

void
sentinels_on_votes(struct sentinels *sentinels)
{
    if (sentinels->is_asking)
        return;
    bool whole = !sentinels->is_whole && round_is_over(sentinels);

    for (uint32_t i = 0; i < sentinels->master_count; i++)
        review(sentinels, i, whole);
    if (whole) {
        sentinels->is_whole = true;
        count_peers(sentinels);
    }
    tell(sentinels, whole);
    if (whole)
        plan(sentinels);
}

static void
begin_round(struct sentinels *sentinels)
{
    sentinels->is_hinted = sentinels->is_wanted;
    sentinels->is_wanted = false;
    sentinels->is_whole = false;
    sentinels->round++;
    sentinels->asked_us = loop_clock_us(sentinels->loop);
    cell_inc(&sentinels->stats.rounds);
    forget_gone(sentinels);
    sentinels->is_asking = true;
    for (unsigned i = 0; i < sentinels->peer_count; i++) {
        struct sentinel_peer *peer = sentinels->peers[i];
        sentinel_peer_listen(peer);
        if (!peer->ask.is_active)
            sentinel_peer_ask(peer, sentinels->round);
    }
    sentinels->is_asking = false;
    sentinels_on_votes(sentinels);
}

static void
on_next(struct timer *timer, void *arg)
{
    struct sentinels *sentinels = arg;

    (void)timer;
    begin_round(sentinels);
    plan(sentinels);
}

void
sentinels_hint(struct sentinels *sentinels, enum map_cause cause,
               uint64_t seen_us)
{
    (void)cause;
    if (seen_us >= sentinels->known_us)
        sentinels_want(sentinels);
}

/* --- the result ------------------------------------------------------------------------- */

uint32_t
sentinels_find(const struct sentinels *sentinels, struct view name)
{
    uint32_t i = 0;

    while (i < sentinels->master_count &&
           !view_equal(view_str(sentinels->masters[i]->name), name))
        i++;
    return i;
}

/* --- settings --------------------------------------------------------------------------- */

unsigned
sentinels_encode_auth(const struct pool_settings *settings, struct buf *out)
{
    return handshake_encode_auth(settings->sentinel_user,
                                 settings->sentinel_auth, out);
}

static void
set_masters(struct sentinels *sentinels)
{
    const struct pool_settings *settings = sentinels->settings;
    uint32_t count = (uint32_t)settings->server_count;
    struct sentinel_master **masters =
        mem_array(count, sizeof(struct sentinel_master *));

    for (uint32_t i = 0; i < count; i++) {
        const struct server_settings *server = &settings->servers[i];
        uint32_t before = sentinels_find(sentinels, view_str(server->master));
        if (before < sentinels->master_count) {
            masters[i] = sentinels->masters[before];
            sentinels->masters[before] =
                sentinels->masters[--sentinels->master_count];
        } else {
            masters[i] = sentinel_master_new(sentinels, server);
        }
        masters[i]->server = server;
    }
    for (uint32_t i = 0; i < sentinels->master_count; i++)
        sentinel_master_free(&sentinels->masters[i]);
    mem_free(sentinels->masters);
    sentinels->masters = masters;
    sentinels->master_count = count;
}

static void
drop_all_peers(struct sentinels *sentinels)
{
    while (sentinels->peer_count > 0)
        drop_peer(sentinels, 0);
}

static void
set_seeds(struct sentinels *sentinels)
{
    const struct pool_settings *settings = sentinels->settings;

    drop_all_peers(sentinels);
    for (size_t i = 0; i < settings->sentinel_count; i++) {
        const struct address_text *text = &settings->sentinels[i];
        if (find_peer(sentinels, view_str(text->host), text->port,
                      VIEW("")) != NULL)
            continue;
        struct sentinel_peer *peer =
            add_peer(sentinels, text->host, text->port);
        peer->is_seed = true;
        peer->number = (unsigned)i;
    }
}

void
sentinels_configure(struct sentinels *sentinels,
                    const struct pool_settings *settings)
{
    sentinels->settings = settings;
    set_masters(sentinels);
    set_seeds(sentinels);
    sentinels_check_up(sentinels);
    sentinels->is_wanted = true;
    sentinels->fruitless = 0;
    timer_start(&sentinels->next, 0);
}

/* --- life ------------------------------------------------------------------------------- */

static void
on_checkups(void *arg)
{
    struct sentinels *sentinels = arg;

    /* Nothing was asked of the Sentinels. */
    sentinels->ops->on_change(sentinels, sentinels->known_us);
}

struct sentinels *
sentinels_new(struct loop *loop, struct names *names,
              const struct pool_settings *settings,
              const struct sentinels_ops *ops, void *arg)
{
    struct sentinels *sentinels = MEM_NEW(struct sentinels);

    sentinels->loop = loop;
    sentinels->names = names;
    sentinels->ops = ops;
    sentinels->arg = arg;
    sentinels->dice = loop_clock_us(loop) ^ (uintptr_t)sentinels;
    timer_init(&sentinels->next, loop, on_next, sentinels);
    sentinels->checkups = checkups_new(
        names, loop,
        (struct checkup_cells){&sentinels->stats.replicas_cut,
                               &sentinels->stats.replicas_behind},
        on_checkups, sentinels);
    sentinels_configure(sentinels, settings);
    return sentinels;
}

void
sentinels_free(struct sentinels **sentinelsp)
{
    struct sentinels *sentinels = *sentinelsp;

    *sentinelsp = NULL;
    if (sentinels == NULL)
        return;
    timer_stop(&sentinels->next);
    drop_all_peers(sentinels);
    for (uint32_t i = 0; i < sentinels->master_count; i++)
        sentinel_master_free(&sentinels->masters[i]);
    mem_free(sentinels->masters);
    checkups_free(&sentinels->checkups);
    mem_free(sentinels);
}

void *
sentinels_arg(const struct sentinels *sentinels)
{
    return sentinels->arg;
}

/* --- statistics ---------------------------------------------------------------------------- */

bool
sentinels_are_ready(const struct sentinels *sentinels)
{
    for (uint32_t i = 0; i < sentinels->master_count; i++) {
        if (sentinels->masters[i]->host == NULL ||
            sentinels->masters[i]->hold == MASTER_OUTDATED)
            return false;
    }
    return true;
}

bool
sentinels_master(const struct sentinels *sentinels, uint32_t number,
                 struct sentinel_master_facts *facts)
{
    if (number >= sentinels->master_count)
        return false;
    const struct sentinel_master *master = sentinels->masters[number];
    *facts = (struct sentinel_master_facts){
        .name = master->server->name,
        .epoch = master->epoch,
        .is_somewhere = master->host != NULL,
        .age_us = loop_clock_us(sentinels->loop) - master->since_us,
        .verdict = master->verdict,
        .gate = sentinel_master_gate(master),
    };
    return true;
}

const struct sentinel_stats *
sentinels_stats(const struct sentinels *sentinels)
{
    return &sentinels->stats;
}
