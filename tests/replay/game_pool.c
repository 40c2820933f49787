/*
 * tests/replay/game_pool.c - what operators and control do to the pool.
 */
#include "game.h"

#include "steps_priv.h"

#define LISTED (GAME_SINGLE | GAME_RANGE)
#define NAMED (GAME_CLUSTER | GAME_MASTERS)
#define ANY (LISTED | NAMED)

/* Those of one key stand together: one of them at most is taken. */
static const struct {
    const char *text;
    unsigned kinds; /* of pools that know it */
} options[] = {
    {"transactions: direct", ANY},
    {"tracking: direct", ANY},
    {"auth: servers", ANY},
    {"gather_sets: true", ANY},
    {"carry_values: true", ANY},
    {"split_transactions: true", ANY},
    {"large_request: 1kb", ANY},
    {"request_timeout: 1s", ANY},
    {"request_timeout: 300ms", ANY},
    {"connections_per_server: 2", ANY},
    {"connections_per_server: 3", ANY},
    {"server_connections: 2", ANY},
    {"databases: 16", LISTED | GAME_MASTERS},
    {"retry_buffer: 2kb", NAMED},
    {"read_from: prefer_replica", GAME_CLUSTER},
    {"failover_hold: 500ms", GAME_MASTERS},
    {"cluster_emulation: true", ANY},
    {"output_low_water: 1kb", ANY},
    {"large_reply: 16kb", ANY},
    {"client_output_limit: 64kb", ANY},
    {"pubsub_output_limit: 64kb", ANY},
    {"retry_reads: false", ANY},
    {"server_idle_timeout: 1s", ANY},
    {"client_idle_timeout: 2s", ANY},
    {"pipeline_limit: 3", ANY},
    {"pipeline_window: 4096", ANY},
    {"monitor_scripts: true", ANY},
    {"on_server_down: nil", ANY},
    {"learn_commands: false", ANY},
    {"slowlog_log_slower_than: 0", ANY},
    {"commands: -incr", ANY},
};

#define MAP_OF_ALL "a 0-5000 b 5001-10000 c 10001-16383"
#define MAP_WITH_REPLICA MAP_OF_ALL " d of:a"
#define PLACES_OF_ALL "a 7001 b 7002 c 7003"

static const char *const maps[] = {
    MAP_WITH_REPLICA,
    "a none b 0-10000 c 10001-16383",
    "a 0-16383 b none c none",
    "d 0-5000 b 5001-10000 c 10001-16383 a of:d",
};
static const char *const places[] = {
    PLACES_OF_ALL,
    "a 7004 b 7002 c 7003",
    "a 7001:held b 7002 c 7003",
    "a 7001:promoting b 7002 c 7003",
    "a 7001:barred b 7002 c 7003",
    "a none b 7002 c 7003",
};

/* Whoever plays with a theme mostly has its setting; else one in eight. */
static bool
is_wanted(struct game *game, const char *option)
{
    const char *setting = game_theme_setting(game->theme);

    if (setting != NULL && strcmp(option, setting) == 0)
        return game_roll(game, 4) > 0;
    return game_roll(game, 8) == 0;
}

static struct view
key_of(const char *option)
{
    struct view rest = view_str(option);

    return view_take(&rest, ':');
}

static void
write_settings(struct game *game, struct buf *out)
{
    struct view last = VIEW("");

    buf_append_str(out, game->kind == GAME_SINGLE ? "a" : "a b c");
    buf_append_str(out, " with slowlog_max_len: 8");
    for (size_t i = 0; i < ARRAY_LEN(options); i++) {
        struct view key = key_of(options[i].text);
        if ((options[i].kinds & game->kind) == 0 || view_equal(key, last) ||
            !is_wanted(game, options[i].text))
            continue;
        buf_printf(out, ", %s", options[i].text);
        last = key;
    }
}

static void
set_map(struct game *game, const char *map)
{
    struct args args = {{view_str(map)}};

    game_note(game, "map %s", map);
    step_map(game->world, &args);
}

static void
set_places(struct game *game, const char *text)
{
    struct args args = {{view_str(text)}};

    game_note(game, "sentinels say %s", text);
    step_sentinels_say(game->world, &args);
}

void
game_configure(struct game *game)
{
    bool is_first = game->world->settings == NULL;
    struct buf text = {0};

    write_settings(game, &text);
    struct args args = {{buf_view(&text)}};
    struct args listed = {{VIEW("range"), buf_view(&text)}};
    game_note(game, "pool of kind %d: %.*s", game->kind, (int)text.len,
              text.data);
    if (game->kind == GAME_CLUSTER)
        step_cluster(game->world, &args);
    else if (game->kind == GAME_MASTERS)
        step_masters(game->world, &args);
    else
        step_pool(game->world, &listed);
    buf_fini(&text);
    if (game->kind == GAME_CLUSTER && is_first)
        set_map(game, MAP_WITH_REPLICA);
    if (game->kind == GAME_MASTERS)
        set_places(game, PLACES_OF_ALL);
}

void
game_pool_moves(struct game *game)
{
    if (game->world->is_holding)
        return;
    if (game->kind == GAME_CLUSTER)
        set_map(game, maps[game_roll(game, ARRAY_LEN(maps))]);
    if (game->kind == GAME_MASTERS)
        set_places(game, places[game_roll(game, ARRAY_LEN(places))]);
}

static void
judge(struct game *game, uint32_t server, enum health_state state)
{
    struct pool *pool = game->world->env.pools[0]->pool;

    if (server < pool->current->server_count)
        pool_set_verdict(pool, server, state);
}

void
game_pool_judges(struct game *game)
{
    static const enum health_state states[] = {HEALTH_DOWN, HEALTH_HALF_OPEN,
                                               HEALTH_UP, HEALTH_UP};
    uint32_t server = game_roll(game, 3);
    unsigned state = game_roll(game, ARRAY_LEN(states));

    game_note(game, "verdict %u on server %u", states[state], server);
    judge(game, server, states[state]);
}

void
game_pool_recovers(struct game *game)
{
    if (game->kind == GAME_CLUSTER)
        set_map(game, MAP_OF_ALL);
    if (game->kind == GAME_MASTERS)
        set_places(game, PLACES_OF_ALL);
    for (uint32_t i = 0; i < game->world->env.pools[0]->pool->server_count; i++)
        judge(game, i, HEALTH_UP);
}
