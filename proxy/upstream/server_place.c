/*
 * upstream/server_place.c - what a snapshot says of a server.
 */
#include <string.h>

#include "upstream/pool.h"
#include "upstream/server_priv.h"

#define US_PER_S 1000000u

static bool
text_equal(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* What is said first on a connection depends on the kind of pool as well. */
static bool
is_greeted_alike(const struct pool_settings *a, const struct pool_settings *b)
{
    return pool_is_cluster(a) == pool_is_cluster(b) &&
        pool_is_named(a) == pool_is_named(b) &&
        text_equal(a->redis_auth, b->redis_auth) &&
        text_equal(a->redis_user, b->redis_user) &&
        a->redis_db == b->redis_db &&
        a->server_connections == b->server_connections &&
        a->tcpkeepalive == b->tcpkeepalive &&
        a->tcp_user_timeout_ms == b->tcp_user_timeout_ms;
}

static bool
is_written_alike(const struct address_text *a, const struct address_text *b)
{
    return text_equal(a->host, b->host) && text_equal(a->path, b->path) &&
        a->port == b->port;
}

/* A master that Sentinels name is the same wherever it is. */
static bool
is_called(const struct server *server, const char *name,
          const struct address_text *at)
{
    return text_equal(server->name, name) &&
        (pool_is_named(server->settings) || is_written_alike(server->at, at));
}

bool
server_is_at(const struct server *server, const struct server_place *place)
{
    const struct roster_entry *entry =
        &place->snapshot->pools[place->pool].roster->entries[place->shard];

    return is_called(server, entry->name, &entry->address);
}

bool
server_is_twin(const struct server *server, const struct server *other)
{
    return is_called(server, other->name, other->at);
}

/* A master that was somewhere else; its lanes are cut. */
static bool
is_elsewhere(const struct server *server, const struct roster_entry *entry)
{
    return entry->is_master && server->at != NULL &&
        !is_written_alike(server->at, &entry->address);
}

/* One that is still being connected goes elsewhere if need be. */
static bool
has_lanes_there(const struct server *server, const struct address_list *list)
{
    const struct lane *lane;

    if (server->addresses == list)
        return true;
    TAILQ_FOREACH(lane, &server->lanes, link)
    {
        if (lane->state != LANE_CONNECTING &&
            address_list_find(list, &lane->address) == list->count)
            return false;
    }
    return true;
}

bool
server_is_same(const struct server *server, const struct server_place *place)
{
    const struct pool_map *map = &place->snapshot->pools[place->pool];

    /* One that nobody uses any more has closed its lanes for good. */
    return server->users > 0 && server->stats == place->stats &&
        server_is_at(server, place) &&
        (is_elsewhere(server, &map->roster->entries[place->shard]) ||
         has_lanes_there(server, map->addresses[place->shard])) &&
        is_greeted_alike(server->settings, map->settings);
}

/* --- addresses -------------------------------------------------------------- */

/* Where it has connections stays the first, if it is still there. */
static void
choose_first(struct server *server, const struct address_list *list)
{
    const struct address_list *before = server->addresses;
    uint32_t i = list->count;

    if (server->is_first_good)
        i = address_list_find(list, &before->items[server->first_address]);
    server->is_first_good = i < list->count;
    server->first_address = server->is_first_good ? i : 0;
}

/* Whatever was thought of the server was of other addresses. */
static void
go_elsewhere(struct server *server)
{
    struct lane *lane;

    server->failures = 0;
    server->is_silent = false;
    TAILQ_FOREACH(lane, &server->lanes, link)
    {
        lane_follow_addresses(lane);
    }
    /* Whoever is told now may do anything, so not from in here. */
    if (!TAILQ_EMPTY(&server->parked) || !TAILQ_EMPTY(&server->waiters))
        server_serve_within(server, 0);
}

void
server_set_addresses(struct server *server, struct address_list *list)
{
    struct address_list *before = server->addresses;

    if (before == list)
        return;
    choose_first(server, list);
    server->addresses = address_list_ref(list);
    if (before != NULL && !address_list_is_alike(before, list))
        go_elsewhere(server);
    address_list_unref(&before);
}

void
server_note_address(struct server *server, const struct address *address,
                    bool is_good)
{
    uint32_t count = server->addresses->count;
    uint32_t i = address_list_find(server->addresses, address);

    if (i == count)
        return;
    server->first_address = is_good ? i : (i + 1) % count;
    server->is_first_good = is_good;
}

/* --- placing ---------------------------------------------------------------- */

void
server_set_place(struct server *server, const struct server_place *place)
{
    const struct pool_map *map = &place->snapshot->pools[place->pool];
    const struct roster_entry *entry = &map->roster->entries[place->shard];
    struct snapshot *before = server->snapshot;
    unsigned workers = server->pool->workers;

    server->snapshot = snapshot_ref(place->snapshot);
    server->settings = map->settings;
    server->shard = place->shard;
    server->name = entry->name;
    server->is_promoting |= entry->gate == GATE_PROMOTING &&
        server->gate != GATE_PROMOTING;
    server->is_newly_held |= gate_holds(entry->gate) &&
        !gate_holds(server->gate);
    server->gate = entry->gate;
    if (is_elsewhere(server, entry))
        server->has_moved = true;
    server->at = &entry->address;
    server->stats = place->stats;
    server->options.keepalive = map->settings->tcpkeepalive;
    server->options.user_timeout_ms = (int)map->settings->tcp_user_timeout_ms;
    server->lane_max =
        MAX((unsigned)(map->settings->connections_per_server / workers), 1u);
    server->connect_interval_us =
        US_PER_S * workers / map->settings->connects_per_second;
    server_set_addresses(server, map->addresses[place->shard]);
    snapshot_unref(&before);
}
