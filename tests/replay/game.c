/*
 * tests/replay/game.c - one act after another, and how all ends.
 */
#include "game.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"
#include "fake_priv.h"
#include "session/session_stats.h"
#include "steps_priv.h"
#include "upstream/server_stats.h"

#define ACTS_LEAST 60
#define ACTS_MORE 240
#define PEERS_SPARE 50 /* for the end */

/* In the end: turns of a tenth of a second, and then of longer ones, in which
 * every timer of the proxy fires. */
#define SHORT_TURNS 40
#define LONG_TURNS 60
#define LAST_TURNS 20

unsigned
game_roll(struct game *game, unsigned bound)
{
    return (unsigned)dice_below(&game->dice, bound);
}

bool
game_mishap(struct game *game, unsigned times)
{
    return !game->is_calm && game_roll(game, times) == 0;
}

void
game_note(struct game *game, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(game->note, sizeof(game->note), fmt, args);
    va_end(args);
    if (game->traces)
        fprintf(stderr, "---- %s\n", game->note);
}

static void
settle(struct game *game)
{
    world_settle(game->world);
    game_clients_listen(game);
}

/* --- acts ----------------------------------------------------------------- */

static void
let_time_pass(struct game *game, uint64_t us)
{
    if (game->world->is_holding)
        return;
    game_note(game, "time +%" PRIu64 "us", us);
    if (!fake_advance(game->world->loop, us))
        world_fail(game->world, "the loop does not come to rest");
}

static void
time_passes(struct game *game)
{
    static const uint64_t times[] = {100,    1000,    20000,   100000,
                                     300000, 1000000, 1500000, 16000000};
    unsigned usual = ARRAY_LEN(times) - 2;

    let_time_pass(
        game,
        times[game_roll(game,
                        game_roll(game, 4) > 0 ? usual : ARRAY_LEN(times))]);
}

static void
all_goes_on(struct game *game)
{
    for (unsigned i = 0; i < 3; i++) {
        game_server_opens(game);
        game_server_answers(game);
        settle(game);
    }
}

/* Control knows what the one worker tells; and of INFO, anything. */
static void
question_is_answered(struct game *game)
{
    struct world *world = game->world;
    struct args args = {{VIEW("x")}};

    if (!world->is_asked)
        return;
    game_note(game, "question %d is answered", world->question.kind);
    if (world->question.kind == QUESTION_INFO)
        step_answer_question(world, &args);
    else
        step_ask_workers(world, &args);
    world->is_asked = false;
}

static void
turns_are_held(struct game *game)
{
    game->world->is_holding = !game->world->is_holding;
    game_note(game, game->world->is_holding ? "hold" : "go");
}

static void
memory_changes(struct game *game)
{
    bool is_short = game_roll(game, 2) > 0;

    game_note(game, "memory is %s", is_short ? "short" : "enough");
    budget_set_short(&game->world->budget, is_short);
}

static void
descriptors_change(struct game *game)
{
    bool are_there = game_roll(game, 2) > 0;

    game_note(game, "descriptors %s", are_there ? "are back" : "run out");
    fake_set_descriptors(game->world->loop, are_there);
}

static void
operator_reloads(struct game *game)
{
    if (game->world->is_holding)
        turns_are_held(game);
    settle(game);
    game_configure(game);
}

static const struct {
    void (*act)(struct game *game);
    unsigned weight;
} acts[] = {
    {game_client_speaks, 42}, {game_server_answers, 20}, {game_server_opens, 8},
    {all_goes_on, 6},         {time_passes, 8},          {game_client_turns, 3},
    {game_server_turns, 4},   {game_pool_judges, 2},     {game_pool_moves, 1},
    {operator_reloads, 1},    {question_is_answered, 3}, {turns_are_held, 1},
    {memory_changes, 1},      {descriptors_change, 1},
};

static void
act(struct game *game)
{
    unsigned total = 0, roll, i;

    for (i = 0; i < ARRAY_LEN(acts); i++)
        total += acts[i].weight;
    roll = game_roll(game, total);
    for (i = 0; roll >= acts[i].weight; i++)
        roll -= acts[i].weight;
    acts[i].act(game);
    settle(game);
}

/* --- the end -------------------------------------------------------------- */

static void
wait_and_serve(struct game *game, uint64_t us)
{
    question_is_answered(game);
    settle(game);
    for (unsigned i = 0; i < 3; i++) {
        game_servers_answer_all(game);
        settle(game);
    }
    let_time_pass(game, us);
    settle(game);
}

/* Everybody is well and reads what comes. */
static void
calm_down(struct game *game)
{
    struct loop *loop = game->world->loop;

    game->is_calm = true;
    game->world->is_holding = false;
    budget_set_short(&game->world->budget, false);
    fake_set_descriptors(loop, true);
    for (size_t i = 0; i < loop->peer_count; i++)
        loop->peers[i]->window = FAKE_ANY;
    game_note(game, "all is calm");
    game_pool_recovers(game);
    game_servers_recover(game);
    settle(game);
    for (unsigned i = 0; i < SHORT_TURNS; i++)
        wait_and_serve(game, 100000);
    for (unsigned i = 0; i < LONG_TURNS; i++)
        wait_and_serve(game, 5000000);
}

static void
check_gauge(struct game *game, const struct stat_desc *desc, const void *block)
{
    const struct cell *cell =
        (const void *)((const char *)block + desc->offset);

    if (cell_get(cell) != 0)
        world_fail(game->world, "%s is %" PRId64 " in the end", desc->name,
                   (int64_t)cell_get(cell));
}

/* Connections may stay, and servers are up. */
static bool
is_of_queue(const struct stat_desc *desc)
{
    return strncmp(desc->name, "in_queue", 8) == 0 ||
        strncmp(desc->name, "out_queue", 9) == 0;
}

static void
check_gauges(struct game *game)
{
    const struct edition *edition = game->world->edition;
    size_t servers = edition->snapshot->pools[0].roster->count;

    for (unsigned i = 0; i < session_stat_count; i++) {
        if (session_stat_descs[i].kind == STAT_GAUGE)
            check_gauge(game, &session_stat_descs[i], edition->pools[0].stats);
    }
    for (size_t s = 0; s < servers; s++) {
        for (unsigned i = 0; i < server_stat_count; i++) {
            if (is_of_queue(&server_stat_descs[i]))
                check_gauge(game, &server_stat_descs[i],
                            edition->pools[0].servers[s]);
        }
    }
    if (game->world->env.pools[0]->session_count > 0)
        world_fail(game->world, "%u clients are left",
                   game->world->env.pools[0]->session_count);
}

static void
end(struct game *game)
{
    calm_down(game);
    game_clients_are_content(game);
    game_note(game, "all clients leave");
    game_clients_leave(game);
    settle(game);
    for (unsigned i = 0; i < LAST_TURNS; i++)
        wait_and_serve(game, 1000000);
    game_note(game, "all clients have left");
    check_gauges(game);
}

static struct game *
game_new(uint64_t seed, bool traces)
{
    static const enum game_kind kinds[] = {GAME_SINGLE, GAME_RANGE,
                                           GAME_CLUSTER, GAME_MASTERS};
    struct game *game = MEM_NEW(struct game);

    game->traces = traces;
    game->dice = seed;
    game->line = game->note;
    game->talk.name = mem_printf("random %" PRIu64, seed);
    game->talk.lines = &game->line;
    game->talk.count = 1;
    game->world = world_new(&game->talk, FAKE_ANY);
    game->world->line = 1;
    game->kind = kinds[game_roll(game, ARRAY_LEN(kinds))];
    game->theme = game_roll(game, game_theme_count());
    return game;
}

static void
game_free(struct game *game)
{
    world_free(&game->world);
    mem_free(game->talk.name);
    mem_free(game);
}

void
game_play(uint64_t seed, bool traces)
{
    struct game *game = game_new(seed, traces);
    unsigned count = ACTS_LEAST + game_roll(game, ACTS_MORE);

    game_configure(game);
    for (unsigned i = 0; i < count; i++) {
        if (game->world->loop->peer_count > GAME_PEERS_MAX - PEERS_SPARE)
            break;
        act(game);
    }
    end(game);
    game_free(game);
}
