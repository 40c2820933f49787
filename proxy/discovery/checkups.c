/*
 * discovery/checkups.c - the rounds of one pool's nodes.
 */
#include "discovery/checkups.h"

#include <string.h>

#include "base/dice.h"
#include "base/log.h"
#include "base/mem.h"
#include "config/zones.h"
#include "discovery/ask.h"
#include "discovery/names.h"
#include "discovery/replica_state.h"
#include "resp/encode.h"
#include "resp/reply_read.h"
#include "upstream/handshake.h"

#define REVIEW_MS 50     /* answers that come so near each other are one */
#define MISSES_MAX 3     /* in a row, after which its latency is forgotten */
#define SPACING_SHARE 16 /* samples in the time of replica_max_lag */

struct checkup {
    struct checkups *all;
    struct ask ask;
    struct timer timer;
    char id[NODE_ID_MAX + 1];
    char *name;
    char *zone; /* as it says itself, or NULL */
    char *host; /* an address or a name, NULL: not known; ... */
    char *ip;   /* ... and then its address, as others say, or NULL */
    uint16_t port;
    uint32_t number;  /* in the roster */
    uint32_t primary; /* number of the one it replicates, or its own */
    struct latency latency;
    unsigned misses;
    struct offset_history history; /* of a primary */
    enum replica_state state;
    uint64_t lag_us;
    bool is_near;
};

struct checkups {
    struct loop *loop;
    struct names *names;
    const struct pool_settings *settings;
    struct checkup_cells cells;
    checkups_fn on_change;
    void *arg;
    struct checkup **items; /* as the roster numbers them */
    uint32_t count;
    uint32_t shard_count;
    struct timer review;
    bool has_news;
    uint64_t dice;
};

/* --- judging ----------------------------------------------------------------- */

static void
set_state(struct checkup *checkup, enum replica_state state)
{
    if (checkup->state == state)
        return;
    log_info("state of replica changed",
             "pool=%s server=%s from=\"%s\" to=\"%s\" lag_ms=%llu",
             checkup->all->settings->name, checkup->name,
             replica_state_name(checkup->state), replica_state_name(state),
             (unsigned long long)checkup->lag_us / 1000);
    checkup->state = state;
    checkup->all->has_news = true;
}

static void
take_primary(struct checkup *checkup, uint64_t offset)
{
    uint64_t max_us =
        (uint64_t)checkup->all->settings->replica_max_lag_ms * 1000;

    offset_history_add(&checkup->history,
                       (struct offset_sample){loop_now_us(checkup->all->loop),
                                              offset},
                       max_us / SPACING_SHARE);
}

static void
take_replica(struct checkup *checkup, const struct replication *told)
{
    const struct checkups *all = checkup->all;
    const struct checkup *primary = all->items[checkup->primary];
    uint64_t max_us = (uint64_t)all->settings->replica_max_lag_ms * 1000;

    checkup->lag_us = offset_history_lag(&primary->history, told->offset);
    set_state(checkup,
              replica_judge(checkup->state, told->is_linked, checkup->lag_us,
                            max_us));
}

/* The roster may not know of a failover yet: then it says nothing. */
static void
take_replication(struct checkup *checkup, const struct replication *told)
{
    bool is_primary = checkup->number < checkup->all->shard_count;

    if (is_primary && !told->is_replica)
        take_primary(checkup, told->offset);
    else if (!is_primary && told->is_replica)
        take_replica(checkup, told);
}

static void
take_zone(struct checkup *checkup, struct view reply)
{
    struct reply_item item;

    if (!reply_next(&reply, &item) || item.is_null || item.type != RESP_BULK)
        return;
    struct view zone = info_field(item.text, VIEW("availability_zone"));
    if (zone.len == 0 ||
        (checkup->zone != NULL && view_equal(view_str(checkup->zone), zone)))
        return;
    mem_free(checkup->zone);
    checkup->zone = mem_view_dup(zone);
    checkup->all->has_news = true;
}

/* --- who is near ------------------------------------------------------------- */

/* Is it one that would be read from? */
static bool
is_eligible(const struct checkup *checkup)
{
    return checkup->number == checkup->primary ||
        checkup->state == REPLICA_FRESH;
}

/* In each shard, those with the lowest latency. */
static void
find_near(struct checkups *all)
{
    uint32_t *lowest = mem_array(all->shard_count, sizeof(uint32_t));

    memset(lowest, 0xff, all->shard_count * sizeof(uint32_t));
    for (uint32_t i = 0; i < all->count; i++) {
        const struct checkup *checkup = all->items[i];
        uint32_t *place = &lowest[checkup->primary];
        if (is_eligible(checkup))
            *place = MIN(*place, latency_shortest(&checkup->latency));
    }
    for (uint32_t i = 0; i < all->count; i++) {
        struct checkup *checkup = all->items[i];
        bool is_near =
            latency_is_near(latency_shortest(&checkup->latency),
                            lowest[checkup->primary], checkup->is_near);
        all->has_news |= is_near != checkup->is_near;
        checkup->is_near = is_near;
    }
    mem_free(lowest);
}

static void
count_states(const struct checkups *all)
{
    uint64_t counts[REPLICA_BEHIND + 1] = {0};

    for (uint32_t i = 0; i < all->count; i++)
        counts[all->items[i]->state]++;
    cell_set(all->cells.cut, counts[REPLICA_CUT]);
    cell_set(all->cells.behind, counts[REPLICA_BEHIND]);
}

static void
on_review(struct timer *timer, void *arg)
{
    struct checkups *all = arg;

    (void)timer;
    if (all->settings->read_from == READ_FROM_NEAREST && all->count > 0)
        find_near(all);
    count_states(all);
    if (!all->has_news)
        return;
    all->has_news = false;
    all->on_change(all->arg);
}

/* --- asking ------------------------------------------------------------------ */

static void
plan(struct checkup *checkup)
{
    struct checkups *all = checkup->all;
    uint64_t pause = (uint64_t)all->settings->replica_check_interval_ms;

    pause -= dice_below(&all->dice, pause / 4 + 1);
    timer_start(&checkup->timer, (int64_t)pause);
}

static bool
has_auth(const struct checkup *checkup)
{
    return checkup->all->settings->redis_auth != NULL;
}

static void
on_answers(struct ask *ask, const char *why)
{
    struct checkup *checkup = CONTAINER_OF(ask, struct checkup, ask);
    struct replication told;

    plan(checkup);
    if (why != NULL ||
        !replication_read(ask->answers[has_auth(checkup)], &told)) {
        if (++checkup->misses >= MISSES_MAX)
            checkup->latency.count = 0;
    } else {
        checkup->misses = 0;
        take_replication(checkup, &told);
        if (ask->took_us > 0)
            latency_add(&checkup->latency, ask->took_us);
        if (ask->wanted > has_auth(checkup) + 1u)
            take_zone(checkup, ask->answers[has_auth(checkup) + 1]);
    }
    if (!timer_is_active(&checkup->all->review))
        timer_start(&checkup->all->review, REVIEW_MS);
}

static void
encode_info(struct buf *out, const char *section)
{
    encode_array(out, 2);
    encode_bulk_str(out, "INFO");
    encode_bulk_str(out, section);
}

static unsigned
encode_questions(const struct pool_settings *settings, struct buf *out)
{
    unsigned count = handshake_encode_auth(settings->redis_user,
                                           settings->redis_auth, out) + 1;

    encode_info(out, "replication");
    if (settings->read_from == READ_FROM_ZONE) {
        encode_info(out, "server");
        count++;
    }
    return count;
}

/* What its name leads to, and then its IP address: the next after each failure.
 * False: nothing is known yet. */
static bool
find_where(const struct checkup *checkup, struct address *address)
{
    if (checkup->host == NULL)
        return false;
    if (address_from_literal(address, checkup->host, checkup->port))
        return true;
    bool has_ip = checkup->ip != NULL &&
        address_from_literal(address, checkup->ip, checkup->port);
    const struct address_list *list =
        names_find(checkup->all->names, checkup->host);
    uint32_t count = list->count + has_ip;
    uint32_t turn = count == 0 ? 0 : checkup->misses % count;
    if (turn < list->count) {
        *address = list->items[turn];
        address_set_port(address, checkup->port);
    }
    return count > 0;
}

static void
on_timer(struct timer *timer, void *arg)
{
    struct checkup *checkup = arg;
    const struct pool_settings *settings = checkup->all->settings;
    struct buf questions = {0};
    struct address address;

    (void)timer;
    if (!find_where(checkup, &address)) {
        plan(checkup);
        return;
    }
    unsigned count = encode_questions(settings, &questions);
    ask_start(&checkup->ask, &address, buf_view(&questions), count,
              settings->connect_timeout_ms);
    buf_fini(&questions);
}

/* --- the nodes --------------------------------------------------------------- */

static char *
text_dup(const char *text)
{
    return text == NULL ? NULL : mem_strdup(text);
}

static struct checkup *
checkup_new(struct checkups *all, const struct roster_entry *entry)
{
    struct checkup *checkup = MEM_NEW(struct checkup);

    checkup->all = all;
    memcpy(checkup->id, entry->id, sizeof(checkup->id));
    checkup->name = mem_strdup(entry->name);
    checkup->host = text_dup(entry->address.host);
    checkup->ip = text_dup(entry->ip);
    checkup->port = entry->address.port;
    ask_init(&checkup->ask, all->loop, on_answers);
    checkup->ask.keeps = true;
    timer_init(&checkup->timer, all->loop, on_timer, checkup);
    timer_start(&checkup->timer, 0);
    return checkup;
}

static void
checkup_free(struct checkup *checkup)
{
    timer_stop(&checkup->timer);
    ask_cancel(&checkup->ask);
    mem_free(checkup->name);
    mem_free(checkup->host);
    mem_free(checkup->ip);
    mem_free(checkup->zone);
    mem_free(checkup);
}

static bool
text_equal(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool
is_of(const struct checkup *checkup, const struct roster_entry *entry)
{
    return strcmp(checkup->id, entry->id) == 0 &&
        strcmp(checkup->name, entry->name) == 0 &&
        text_equal(checkup->ip, entry->ip) &&
        text_equal(checkup->host, entry->address.host) &&
        checkup->port == entry->address.port;
}

/* The same node as before, or a new one. */
static struct checkup *
take_node(struct checkups *all, const struct roster_entry *entry)
{
    for (uint32_t i = 0; i < all->count; i++) {
        struct checkup *checkup = all->items[i];
        if (checkup != NULL && is_of(checkup, entry)) {
            all->items[i] = NULL;
            return checkup;
        }
    }
    return checkup_new(all, entry);
}

static void
place(struct checkup *checkup, uint32_t number, uint32_t primary)
{
    /* Of another primary the offsets tell nothing. */
    if (checkup->primary != primary || number == primary)
        checkup->state = REPLICA_FRESH;
    if (number != primary)
        checkup->history.count = 0;
    checkup->number = number;
    checkup->primary = primary;
}

static void
forget_all(struct checkups *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        if (all->items[i] != NULL)
            checkup_free(all->items[i]);
    }
    mem_free(all->items);
    all->items = NULL;
    all->count = all->shard_count = 0;
}

void
checkups_take(struct checkups *all, const struct pool_settings *settings,
              const struct roster *roster)
{
    bool is_wanted = settings->read_from != READ_FROM_PRIMARY;
    uint32_t count = is_wanted ? roster->count : 0;
    struct checkup **items = mem_array(count, sizeof(struct checkup *));

    all->has_news |=
        is_wanted && all->settings != NULL && settings != all->settings;
    all->settings = settings;
    for (uint32_t i = 0; i < count; i++) {
        items[i] = take_node(all, &roster->entries[i]);
        place(items[i], i, roster->entries[i].primary);
    }
    forget_all(all);
    all->items = items;
    all->count = count;
    all->shard_count = is_wanted ? roster->shard_count : 0;
    timer_start(&all->review, REVIEW_MS);
}

static const struct checkup *
find_checkup(const struct checkups *all, const struct roster_entry *entry)
{
    for (uint32_t i = 0; i < all->count; i++) {
        if (is_of(all->items[i], entry))
            return all->items[i];
    }
    return NULL;
}

/* What the operator says, else the nodes of each other, else itself. */
static void
write_zone(const struct checkups *all, const struct checkup *checkup,
           struct roster_entry *entry)
{
    const char *ip = entry->ip != NULL ? entry->ip : entry->address.host;
    const char *zone = zones_find(all->settings, ip, entry->address.port);

    if (zone == NULL && entry->zone == NULL && checkup != NULL)
        zone = checkup->zone;
    if (zone == NULL)
        return;
    mem_free(entry->zone);
    entry->zone = mem_strdup(zone);
}

/* Who finds it cut off is right: they have not looked at the same time. */
static void
write_state(const struct checkup *checkup, struct roster_entry *entry)
{
    bool is_well = entry->is_usable || entry->is_cut;

    entry->is_usable &= checkup->state == REPLICA_FRESH;
    entry->is_cut = is_well && !entry->is_usable &&
        checkup->state != REPLICA_BEHIND;
}

void
checkups_write(const struct checkups *all, struct roster *roster)
{
    for (uint32_t i = 0; i < roster->count; i++) {
        struct roster_entry *entry = &roster->entries[i];
        const struct checkup *checkup = find_checkup(all, entry);
        write_zone(all, checkup, entry);
        if (checkup == NULL)
            continue;
        entry->is_near = checkup->is_near;
        if (i < roster->shard_count)
            continue;
        write_state(checkup, entry);
    }
}

/* --- life -------------------------------------------------------------------- */

struct checkups *
checkups_new(struct names *names, struct loop *loop,
             struct checkup_cells cells, checkups_fn on_change, void *arg)
{
    struct checkups *all = MEM_NEW(struct checkups);

    all->names = names;
    all->loop = loop;
    all->cells = cells;
    all->on_change = on_change;
    all->arg = arg;
    all->dice = loop_clock_us(loop) ^ (uintptr_t)all;
    timer_init(&all->review, loop, on_review, all);
    return all;
}

void
checkups_free(struct checkups **allp)
{
    struct checkups *all = *allp;

    *allp = NULL;
    if (all == NULL)
        return;
    timer_stop(&all->review);
    forget_all(all);
    mem_free(all);
}
