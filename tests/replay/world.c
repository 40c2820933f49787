/*
 * tests/replay/world.c - building up a proxy and taking it down again.
 */
#include "world.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "expect.h"
#include "upstream/server_stats.h"

void
world_fail(const struct world *world, const char *fmt, ...)
{
    va_list args;

    fprintf(stderr, "%s:%u: %s\n", world->talk->name, world->line,
            world->talk->lines[world->line - 1]);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fprintf(stderr, "\n");
    if (world->piece != FAKE_ANY)
        fprintf(stderr, "(with everything sent in pieces of %zu)\n",
                world->piece);
    fflush(NULL);
    _exit(1);
}

struct world *
world_new(const struct talk *talk, size_t piece)
{
    struct world *world = MEM_NEW(struct world);

    world->talk = talk;
    world->piece = piece;
    world->loop = loop_new();
    return world;
}

static void
on_question(struct session_env *env, const struct question *question)
{
    struct world *world = env->ask_arg;

    world->question = *question;
    world->is_asked = true;
}

static void
on_session_end(struct session_env *env, size_t pool)
{
    (void)env;
    (void)pool;
}

static void
make_stats(struct world *world)
{
    size_t pools = world->settings->pool_count;

    world->session_stats = mem_array(pools, sizeof(*world->session_stats));
    world->server_stats = mem_array(pools, sizeof(*world->server_stats));
    for (size_t i = 0; i < pools; i++)
        world->server_stats[i] =
            mem_array(world->settings->pools[i].server_count,
                      sizeof(**world->server_stats));
}

static void
free_stats(struct world *world)
{
    for (size_t i = 0; i < world->settings->pool_count; i++)
        mem_free(world->server_stats[i]);
    mem_free(world->server_stats);
    mem_free(world->session_stats);
}

void
world_configure(struct world *world, struct view yaml)
{
    struct buf messages = {0};
    struct error error;

    if (world->settings != NULL)
        world_fail(world, "there is a pool already");
    struct settings *settings = settings_parse("pool", yaml, &messages);
    if (settings == NULL)
        world_fail(world, "%.*s", (int)messages.len, messages.data);
    buf_fini(&messages);
    world->settings = settings;
    world->snapshot = snapshot_new(settings, &error);
    if (world->snapshot == NULL)
        world_fail(world, "%s", error.text);
    make_stats(world);
    session_env_init(&world->env, world->loop, world->snapshot, 0, 1,
                     world->session_stats, world->server_stats);
    world->env.ask = on_question;
    world->env.ask_arg = world;
    world->env.on_session_end = on_session_end;
    world_settle(world);
}

void
world_free(struct world **worldp)
{
    struct world *world = *worldp;

    *worldp = NULL;
    if (world->settings != NULL) {
        session_env_fini(&world->env);
        free_stats(world);
    }
    loop_free(&world->loop);
    snapshot_unref(&world->snapshot);
    mem_free(world);
}

void
world_settle(struct world *world)
{
    if (!world->is_holding && !fake_settle(world->loop))
        world_fail(world, "the loop does not come to rest");
}

static struct world_peer *
find_peer(struct world *world, struct view name)
{
    for (size_t i = 0; i < world->peer_count; i++) {
        if (view_equal(view_str(world->peers[i].name), name))
            return &world->peers[i];
    }
    return NULL;
}

struct fake_peer *
world_add_peer(struct world *world, struct view name, struct fake_peer *peer)
{
    struct world_peer *place = find_peer(world, name);

    if (name.len >= WORLD_NAME_MAX || world->peer_count == WORLD_PEERS_MAX)
        world_fail(world, "the name is too long, or there are too many");
    if (place != NULL && !place->peer->closed)
        world_fail(world, "%.*s is still connected", (int)name.len, name.data);
    if (place == NULL)
        place = &world->peers[world->peer_count++];
    else
        expect_nothing(world, place);
    memcpy(place->name, name.data, name.len);
    place->peer = peer;
    peer->piece = world->piece;
    return peer;
}

struct world_peer *
world_get_peer(struct world *world, struct view name)
{
    struct world_peer *place = find_peer(world, name);

    if (place == NULL)
        world_fail(world, "nobody is called %.*s", (int)name.len, name.data);
    return place;
}

size_t
world_get_server(const struct world *world, struct view name)
{
    if (world->settings == NULL)
        world_fail(world, "there is no pool yet");

    const struct pool_settings *pool = &world->settings->pools[0];
    for (size_t i = 0; i < pool->server_count; i++) {
        if (view_equal(view_str(pool->servers[i].name), name))
            return i;
    }
    world_fail(world, "no server is called %.*s", (int)name.len, name.data);
}

uint16_t
world_get_port(const struct world *world, struct view server)
{
    const struct pool_settings *pool = &world->settings->pools[0];

    return pool->servers[world_get_server(world, server)].address.port;
}
