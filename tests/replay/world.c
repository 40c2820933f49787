/*
 * tests/replay/world.c - building up a proxy and taking it down again.
 */
#include "world.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "expect.h"
#include "session/survey.h"
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
    world->question_text.len = 0;
    buf_append_view(&world->question_text, question->text);
    world->is_asked = true;
}

/* Control has one part only to put together. */
static void
on_told(struct session_env *env, uint64_t id, struct view text)
{
    struct world *world = env->ask_arg;
    struct question answer = world->question;

    (void)id;
    answer.text = text;
    survey_answer(env, &answer);
}

static bool
on_hint(struct session_env *env, size_t pool_id, enum map_cause cause,
        uint64_t asked)
{
    struct world *world = env->ask_arg;

    (void)pool_id;
    (void)asked;
    world->hint = cause;
    world->has_hint = true;
    world->hint_count++;
    return world->takes_hints; /* else the next comes as well */
}

static void
on_session_end(struct session_env *env)
{
    (void)env;
}

static void
on_let_go(struct session_env *env, uint64_t epoch)
{
    struct world *world = env->ask_arg;

    ledger_let_go(world->ledger, 0, epoch);
}

static void
start(struct world *world)
{
    world->ledger = ledger_new(1);
    session_env_init(&world->env, world->loop, 0, 1);
    world->env.budget = &world->budget;
    world->env.ask = on_question;
    world->env.ask_arg = world;
    world->env.tell = on_told;
    world->env.on_hint = on_hint;
    world->env.on_session_end = on_session_end;
    world->env.on_let_go = on_let_go;
}

/* Takes the ref over. */
void
world_publish(struct world *world, struct snapshot *snapshot)
{
    ledger_enter(world->ledger, snapshot);
    edition_free(&world->edition);
    world->edition = ledger_edition(world->ledger, snapshot, 0);
    session_env_take(&world->env, world->edition);
    loop_turn_again(world->loop); /* a message of the turn brings it */
    snapshot_unref(&snapshot);
    world_settle(world);
}

/* As control does where a seed has stayed; here it has to be the first. */
static void
keep_topology(const struct world *world, struct snapshot *snapshot)
{
    if (world->edition == NULL)
        return;
    const struct snapshot *before = world->edition->snapshot;
    const struct pool_settings *old = &before->settings->pools[0];
    const struct pool_settings *new = &snapshot->settings->pools[0];
    if (pool_is_cluster(old) && pool_is_cluster(new) &&
        old->seeds[0].port == new->seeds[0].port)
        snapshot_keep_topology(snapshot, 0, before, 0);
}

void
world_configure(struct world *world, struct view yaml)
{
    struct buf messages = {0};
    struct error error;

    struct settings *settings = settings_parse("pool", yaml, &messages);
    if (settings == NULL)
        world_fail(world, "%.*s", (int)messages.len, messages.data);
    buf_fini(&messages);
    struct snapshot *snapshot = snapshot_new(settings, &error);
    if (snapshot == NULL)
        world_fail(world, "%s", error.text);
    if (world->ledger == NULL)
        start(world);
    world->settings = settings;
    keep_topology(world, snapshot);
    world_publish(world, snapshot);
}

void
world_set_topology(struct world *world, const struct topology *topology)
{
    struct error error;
    struct snapshot *snapshot = snapshot_with_topology(
        world->edition->snapshot, 0, topology, &error);

    if (snapshot == NULL)
        world_fail(world, "%s", error.text);
    world_publish(world, snapshot);
}

void
world_free(struct world **worldp)
{
    struct world *world = *worldp;

    *worldp = NULL;
    if (world->settings != NULL) {
        session_env_fini(&world->env);
        edition_free(&world->edition);
        ledger_free(&world->ledger);
    }
    buf_fini(&world->question_text);
    loop_free(&world->loop);
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

    const struct roster *roster = world->edition->snapshot->pools[0].roster;
    for (size_t i = 0; i < roster->count; i++) {
        if (view_equal(view_str(roster->entries[i].name), name))
            return i;
    }
    world_fail(world, "no server is called %.*s", (int)name.len, name.data);
}

uint16_t
world_get_port(const struct world *world, struct view server)
{
    const struct roster *roster = world->edition->snapshot->pools[0].roster;

    return roster->entries[world_get_server(world, server)].address.port;
}
