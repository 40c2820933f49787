/*
 * upstream/server_place.c - what a snapshot says of a server.
 */
#include <string.h>

#include "upstream/pool.h"
#include "upstream/server.h"

#define US_PER_S 1000000u

static bool
text_equal(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool
is_greeted_alike(const struct pool_settings *a, const struct pool_settings *b)
{
    return text_equal(a->redis_auth, b->redis_auth) &&
        text_equal(a->redis_user, b->redis_user) &&
        a->redis_db == b->redis_db &&
        a->server_connections == b->server_connections &&
        a->tcpkeepalive == b->tcpkeepalive &&
        a->tcp_user_timeout_ms == b->tcp_user_timeout_ms;
}

static bool
is_called(const struct server *server, const char *name,
          const struct address *address)
{
    return text_equal(server->name, name) &&
        server->address->len == address->len &&
        memcmp(&server->address->sa, &address->sa, address->len) == 0;
}

bool
server_is_at(const struct server *server, const struct server_place *place)
{
    const struct pool_map *map = &place->snapshot->pools[place->pool];

    return is_called(server, map->roster->entries[place->shard].name,
                     &map->addresses[place->shard]);
}

bool
server_is_twin(const struct server *server, const struct server *other)
{
    return is_called(server, other->name, other->address);
}

bool
server_is_same(const struct server *server, const struct server_place *place)
{
    const struct pool_map *map = &place->snapshot->pools[place->pool];

    /* One that nobody uses any more has closed its lanes for good. */
    return server->users > 0 && server->stats == place->stats &&
        server_is_at(server, place) &&
        is_greeted_alike(server->settings, map->settings);
}

void
server_set_place(struct server *server, const struct server_place *place)
{
    const struct pool_map *map = &place->snapshot->pools[place->pool];
    struct snapshot *before = server->snapshot;
    unsigned workers = server->pool->workers;

    server->snapshot = snapshot_ref(place->snapshot);
    server->settings = map->settings;
    server->shard = place->shard;
    server->name = map->roster->entries[place->shard].name;
    server->address = &map->addresses[place->shard];
    server->stats = place->stats;
    server->options.keepalive = map->settings->tcpkeepalive;
    server->options.user_timeout_ms = (int)map->settings->tcp_user_timeout_ms;
    server->lane_max =
        MAX((unsigned)(map->settings->connections_per_server / workers), 1u);
    server->connect_interval_us =
        US_PER_S * workers / map->settings->connects_per_second;
    snapshot_unref(&before);
}
