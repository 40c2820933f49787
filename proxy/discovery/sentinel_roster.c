/*
 * discovery/sentinel_roster.c - masters and their replicas as a roster.
 */
#include "discovery/sentinels_priv.h"

/* --- replicas ------------------------------------------------------------------ */

/* Whose word on the replicas counts: who says that the master is there. */
static bool
vouches(const struct sentinel_master *master, const struct vote *vote)
{
    return vote->kind == VOTE_ADDRESS && master->port == vote->port &&
        view_equal_nocase(view_str(master->host), vote->host);
}

void
sentinels_take_replicas(struct sentinels *sentinels, uint32_t number)
{
    const struct sentinel_replicas *lists[EPOCH_VOTES_MAX];
    struct sentinel_master *master = sentinels->masters[number];
    size_t count = 0;

    if (sentinels->settings->read_from == READ_FROM_PRIMARY)
        return;
    for (unsigned i = 0; i < sentinels->peer_count; i++) {
        const struct sentinel_peer *peer = sentinels->peers[i];
        struct vote vote = sentinel_peer_vote(peer, number);
        if (sentinels_counts(sentinels, peer) && vouches(master, &vote))
            lists[count++] = peer->votes[number].replicas;
    }
    struct sentinel_replicas *list = sentinel_replicas_merge(lists, count);
    sentinel_replicas_drop(list, view_str(master->host), master->port);
    if (!sentinel_replicas_equal(list, master->replicas))
        sentinels->has_changed = true;
    sentinel_replicas_free(&master->replicas);
    master->replicas = list;
}

static void
fill_replicas(struct roster *roster, uint32_t *next, uint32_t primary,
              const struct sentinel_replicas *list)
{
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        const struct sentinel_replica *replica = &list->items[i];
        struct roster_entry *entry = &roster->entries[*next];
        roster_set_replica(roster, (*next)++, primary, replica->host,
                           replica->port);
        entry->is_usable = replica->is_usable;
        entry->is_cut = replica->is_cut;
    }
}

/* --- masters -------------------------------------------------------------------- */

static void
fill_entry(struct roster *roster, uint32_t number,
           const struct sentinel_master *master)
{
    struct roster_entry *entry = &roster->entries[number];

    if (master->host == NULL)
        return;
    roster_set_address(roster, number, master->host, master->port);
    entry->epoch = master->epoch;
}

/* NULL: nothing is known of it. */
static const struct sentinel_master *
master_of(const struct sentinels *sentinels,
          const struct pool_settings *settings, uint32_t server)
{
    uint32_t number =
        sentinels_find(sentinels, view_str(settings->servers[server].master));

    return number < sentinels->master_count ? sentinels->masters[number]
                                            : NULL;
}

static uint32_t
count_replicas(const struct sentinels *sentinels,
               const struct pool_settings *settings)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < settings->server_count; i++) {
        const struct sentinel_master *master =
            master_of(sentinels, settings, i);
        if (master != NULL && master->replicas != NULL)
            count += (uint32_t)master->replicas->count;
    }
    return count;
}

/* Without what checking up on the replicas has found. */
static struct roster *
plain_roster(const struct sentinels *sentinels,
             const struct pool_settings *settings)
{
    bool has_replicas = settings->read_from != READ_FROM_PRIMARY;
    struct roster *roster = roster_with_replicas(
        settings, has_replicas ? count_replicas(sentinels, settings) : 0);
    uint32_t next = roster->shard_count;

    for (uint32_t i = 0; i < roster->shard_count; i++) {
        const struct sentinel_master *master =
            master_of(sentinels, settings, i);
        if (master == NULL)
            continue;
        fill_entry(roster, i, master);
        if (has_replicas)
            fill_replicas(roster, &next, i, master->replicas);
    }
    return roster;
}

struct roster *
sentinels_roster(const struct sentinels *sentinels,
                 const struct pool_settings *settings)
{
    struct roster *roster = plain_roster(sentinels, settings);

    checkups_write(sentinels->checkups, roster);
    return roster;
}

void
sentinels_check_up(struct sentinels *sentinels)
{
    /* These may still go by settings of before. */
    struct roster *roster = plain_roster(sentinels, sentinels->settings);

    checkups_take(sentinels->checkups, sentinels->settings, roster);
    roster_unref(&roster);
}
