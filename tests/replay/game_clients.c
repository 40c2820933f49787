/*
 * tests/replay/game_clients.c - they ask for this and that, and count answers.
 *
 * Two kinds of answers tell to what they belong: ECHO's, whose word is its
 * number among the client's requests, and those of GET, since the servers
 * of a game hold "is KEY" at every key.
 */
#include "game.h"

#include <stdio.h>

#include "resp/reply_scan.h"
#include "session/session.h"

#define LINE_MAX_BYTES 200
#define SHOWN_MAX 100 /* bytes of an answer */

/* "@" stands for a key. */
static const char *const keys[] = {
    "a1", "a2", "b1", "b2", "c1", "{06S}1", "{06S}2", "{foo}a", "a9",
};

static const char *const plain[] = {
    "GET @",         "GET @",     "GET @",       "SET @ v",
    "SET @ {x*300}", "INCR @",    "TYPE @",      "APPEND @ x",
    "LPUSH @ a b",   "HGETALL @", "EXPIRE @ 10",
};
static const char *const many_keys[] = {
    "MGET @ @",    "MSET @ 1 @ 2", "MSETNX @ 1 @ 2", "DEL @ @",
    "EXISTS @ @",  "UNLINK @ @",   "SUNION @ @",     "SUNIONSTORE @ @",
    "RENAME @ @",  "COPY @ @",     "SDIFFSTORE @ @", "PFCOUNT @ @",
    "SMOVE @ @ m",
};
static const char *const local[] = {
    "PING",
    "SELECT 0",
    "SELECT 1",
    "CLIENT ID",
    "CLIENT GETNAME",
    "COMMAND COUNT",
    "CLIENT SETNAME x",
    "HELLO 3",
    "HELLO 2",
    "RESET",
    "INFO",
    "CLIENT LIST",
    "CLIENT KILL ID 2",
    "CLIENT KILL ID 3",
    "DBSIZE",
    "KEYS *",
    "SCAN 0",
    "RANDOMKEY",
    "FLUSHALL",
    "TIME",
    "ROLE",
    "WAIT 1 100",
    "WAIT 0 0",
    "WAIT 1 1000",
    "FOO.BAR a1",
    "COMMAND INFO foo.bar",
    "CLIENT PAUSE 50",
    "CLIENT PAUSE 50 WRITE",
    "CLIENT UNPAUSE",
    "CLIENT NO-EVICT ON",
    "SLOWLOG GET",
    "OBJECT ENCODING a1",
    "FUNCTION LIST",
    "LATENCY LATEST",
    "CLIENT UNBLOCK 1",
    "CLIENT UNBLOCK 2 ERROR",
    "MEMORY USAGE a1",
    "PUBLISH a1 m",
    "SPUBLISH a1 m",
    "PUBSUB CHANNELS",
    "ACL WHOAMI",
    "CONFIG GET *",
};
static const char *const transactions[] = {
    "MULTI",   "MULTI",   "EXEC",      "EXEC",
    "DISCARD", "WATCH @", "WATCH @ @", "UNWATCH",
};
/* The second digest is that of return(1). */
static const char *const scripts[] = {
    "EVAL return(1) 1 @",
    "EVAL return(2) 0",
    "EVAL_RO return(1) 1 @",
    "EVALSHA aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 1 @",
    "EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 1 @",
    "FCALL f 1 @",
    "SCRIPT LOAD return(1)",
    "SCRIPT FLUSH",
    "SCRIPT EXISTS aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
};
static const char *const blocking[] = {
    "BLPOP @ 1",
    "BLPOP @ @ 1",
    "XREAD BLOCK 500 STREAMS @ @ 0 0",
    "XREAD BLOCK 500 STREAMS @ 0",
    "BRPOPLPUSH @ @ 1",
    "BZPOPMIN @ 1",
};
static const char *const channels[] = {
    "SUBSCRIBE ch1", "SUBSCRIBE ch1 ch2", "UNSUBSCRIBE",   "UNSUBSCRIBE ch1",
    "PSUBSCRIBE p*", "PUNSUBSCRIBE",      "SSUBSCRIBE a1", "SUNSUBSCRIBE",
};
static const char *const tracking[] = {
    "CLIENT TRACKING ON",        "CLIENT TRACKING OFF",
    "CLIENT TRACKING ON BCAST",  "CLIENT TRACKING ON BCAST PREFIX a",
    "CLIENT TRACKING ON NOLOOP", "CLIENT TRACKING ON OPTIN",
    "CLIENT TRACKING ON OPTOUT", "CLIENT CACHING YES",
    "CLIENT CACHING NO",         "CLIENT TRACKING ON REDIRECT 1",
};
static const char *const logins[] = {
    "AUTH u1 p1",         "AUTH u2 p2",         "AUTH p3",
    "HELLO 3 AUTH u1 p1", "HELLO 2 AUTH u2 p2", "AUTH u1 p9",
};
static const char *const large[] = {
    "SET @ {x*1100}",
    "SET @ {x*3000}",
    "SET @ {x*7000}",
};
static const char *const silent[] = {"MONITOR", "CLIENT REPLY SKIP"};

#define LINES(array) (array), ARRAY_LEN(array)

static const struct theme {
    const char *const *lines;
    unsigned count;
    unsigned weight;
    bool is_uncounted;   /* not one answer for each line */
    const char *setting; /* without which there is little to it, or NULL */
} themes[] = {
    {LINES(plain), 34, false, NULL},
    {LINES(many_keys), 13, false, "gather_sets: true"},
    {LINES(local), 12, false, NULL},
    {LINES(transactions), 16, false, "transactions: direct"},
    {LINES(scripts), 6, false, NULL},
    {LINES(blocking), 6, false, NULL},
    {LINES(channels), 3, true, NULL},
    {LINES(tracking), 4, false, "tracking: direct"},
    {LINES(logins), 3, false, "auth: servers"},
    {LINES(large), 2, false, "large_request: 1kb"},
    {LINES(silent), 1, true, NULL},
};

unsigned
game_theme_count(void)
{
    return ARRAY_LEN(themes);
}

const char *
game_theme_setting(unsigned theme)
{
    return themes[theme].setting;
}

static unsigned
number_of(const struct game *game, const struct game_client *client)
{
    return (unsigned)(client - game->clients) + 1;
}

/* --- asking --------------------------------------------------------------- */

/* In every second line that of the game. */
static const struct theme *
choose_theme(struct game *game)
{
    unsigned total = 0, roll, i;

    if (game_roll(game, 2) > 0)
        return &themes[game->theme];
    for (i = 0; i < ARRAY_LEN(themes); i++)
        total += themes[i].weight;
    roll = game_roll(game, total);
    for (i = 0; roll >= themes[i].weight; i++)
        roll -= themes[i].weight;
    return &themes[i];
}

static void
write_line(struct game *game, struct buf *line, const char *pattern)
{
    for (; *pattern != '\0'; pattern++) {
        if (*pattern == '@')
            buf_append_str(line, keys[game_roll(game, ARRAY_LEN(keys))]);
        else
            buf_append_char(line, *pattern);
    }
}

static void
say(struct game *game, struct game_client *client, struct view line)
{
    struct buf request = {0};

    game_note(game, "c%u >> %.*s", number_of(game, client), (int)line.len,
              line.data);
    talk_encode(&request, line);
    fake_send(client->peer, buf_view(&request));
    buf_fini(&request);
    buf_append_view(&client->asked, line);
    buf_append_char(&client->asked, '\n');
}

static void
ask(struct game *game, struct game_client *client)
{
    const struct theme *theme = choose_theme(game);
    struct buf line = {0};

    if (game_roll(game, 8) == 0) {
        buf_printf(&line, "ECHO %zu", client->asked.len);
    } else {
        client->is_uncounted |= theme->is_uncounted;
        write_line(game, &line, theme->lines[game_roll(game, theme->count)]);
    }
    say(game, client, buf_view(&line));
    buf_fini(&line);
}

/* A large request whose end does not come. */
static void
ask_in_part(struct game *game, struct game_client *client)
{
    struct buf bytes = {0};

    game_note(game, "c%u > a part of SET", number_of(game, client));
    talk_expand(&bytes,
                VIEW("*3\\r\\n$3\\r\\nSET\\r\\n$2\\r\\na1\\r\\n$9000\\r\\n"));
    for (unsigned i = game_roll(game, 8000); i > 0; i--)
        buf_append_char(&bytes, 'y');
    fake_send(client->peer, buf_view(&bytes));
    buf_fini(&bytes);
    client->is_uncounted = true;
    client->is_cut = true;
}

static void
connect_client(struct game *game, struct game_client *client)
{
    struct world *world = game->world;
    int fd;

    game_note(game, "client c%u connects", number_of(game, client));
    buf_fini(&client->asked);
    *client = (struct game_client){.peer = fake_client(world->loop, &fd)};
    if (game_roll(game, 3) == 0)
        client->peer->piece = 1 + game_roll(game, 40);
    (void)session_new(world->env.pools[0], fd, ++world->sessions);
}

static struct game_client *
choose_client(struct game *game)
{
    return &game->clients[game_roll(game, GAME_CLIENTS)];
}

void
game_client_speaks(struct game *game)
{
    struct game_client *client = choose_client(game);
    unsigned count = game_roll(game, 3) > 0 ? 1 : 1 + game_roll(game, 8);

    if (client->peer == NULL || client->peer->closed) {
        connect_client(game, client);
        return;
    }
    if (client->is_cut)
        return;
    while (count-- > 0)
        ask(game, client);
    if (game_roll(game, 50) == 0)
        ask_in_part(game, client);
}

void
game_client_turns(struct game *game)
{
    struct game_client *client = choose_client(game);
    struct fake_peer *peer = client->peer;
    unsigned how = game_roll(game, 6);

    if (peer == NULL || peer->closed || client->is_cut)
        return;
    client->is_cut = how < 3;
    game_note(game, "c%u turns in way %u", number_of(game, client), how);
    if (how == 0)
        fake_close(peer);
    else if (how == 1)
        fake_finish(peer);
    else if (how == 2)
        fake_reset(peer);
    else if (how == 3)
        peer->window = 0;
    else if (how == 4)
        peer->window = game_roll(game, 5000);
    else
        peer->window = FAKE_ANY;
}

/* --- listening ------------------------------------------------------------ */

/* The next whole answer, or empty. */
static struct view
next_answer(struct game *game, const struct game_client *client)
{
    struct view bytes = fake_received(client->peer);
    struct reply_scan scan;
    size_t used;

    if (bytes.len == 0)
        return bytes;
    reply_scan_init(&scan);
    enum resp_result result = reply_scan(&scan, bytes.data, bytes.len, &used);
    if (result == RESP_BAD)
        world_fail(game->world, "c%u: %s", number_of(game, client), scan.error);
    reply_scan_fini(&scan);
    return view_of(bytes.data, result == RESP_OK ? used : 0);
}

/* What is in a bulk; empty for anything else. */
static struct view
bulk_text(struct view answer)
{
    struct view rest = answer;
    struct view header = view_take(&rest, '\n');

    if (header.data[0] != '$' || rest.len < 2)
        return VIEW("");
    return view_of(rest.data, rest.len - 2);
}

static bool
begins_with(struct view text, const char *start)
{
    size_t len = strlen(start);

    return text.len >= len && memcmp(text.data, start, len) == 0;
}

/* Could this be the answer to that line? */
static bool
fits(struct view answer, struct view line)
{
    struct view text = bulk_text(answer), word = line;

    (void)view_take(&word, ' ');
    if (begins_with(text, "is "))
        return begins_with(line, "GET ") &&
            view_equal(view_of(text.data + 3, text.len - 3), word);
    return answer.data[0] != '$' || !begins_with(line, "ECHO ") ||
        view_equal(text, word);
}

static void
take_answer(struct game *game, struct game_client *client, struct view answer)
{
    struct view rest = buf_view_from(&client->asked, client->answered);
    unsigned number = number_of(game, client);
    int shown = (int)MIN(answer.len, (size_t)SHOWN_MAX);

    if (rest.len == 0)
        world_fail(game->world, "c%u is told, and has not asked: %.*s", number,
                   shown, answer.data);
    struct view line = view_take(&rest, '\n');
    if (!fits(answer, line))
        world_fail(game->world, "c%u has asked for %.*s and is told %.*s",
                   number, (int)line.len, line.data, shown, answer.data);
    client->answered += line.len + 1;
}

static void
listen_to(struct game *game, struct game_client *client)
{
    struct view answer;

    while ((answer = next_answer(game, client)).len > 0) {
        if (game->traces)
            fprintf(stderr, "---- c%u < %.*s", number_of(game, client),
                    (int)MIN(answer.len, (size_t)SHOWN_MAX), answer.data);
        if (answer.data[0] != RESP_PUSH && !client->is_uncounted)
            take_answer(game, client, answer);
        fake_take(client->peer, answer.len);
    }
}

void
game_clients_listen(struct game *game)
{
    for (unsigned i = 0; i < GAME_CLIENTS; i++) {
        if (game->clients[i].peer != NULL)
            listen_to(game, &game->clients[i]);
    }
}

/* --- the end -------------------------------------------------------------- */

void
game_clients_are_content(struct game *game)
{
    for (unsigned i = 0; i < GAME_CLIENTS; i++) {
        const struct game_client *client = &game->clients[i];
        struct view rest = buf_view_from(&client->asked, client->answered);
        if (client->peer == NULL || client->peer->closed ||
            client->is_uncounted || rest.len == 0)
            continue;
        struct view line = view_take(&rest, '\n');
        world_fail(game->world, "c%u waits for an answer to %.*s",
                   number_of(game, client), (int)line.len, line.data);
    }
}

void
game_clients_leave(struct game *game)
{
    for (unsigned i = 0; i < GAME_CLIENTS; i++) {
        struct game_client *client = &game->clients[i];
        if (client->peer != NULL && !client->peer->closed)
            fake_close(client->peer);
        client->is_uncounted = true;
        buf_fini(&client->asked);
    }
}
