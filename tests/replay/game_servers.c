/*
 * tests/replay/game_servers.c - answers as servers could give them, and worse.
 *
 * A connection knows of its transaction and nothing else: every key holds "is
 * KEY" for GET, and to most commands any answer will do.
 */
#include "game.h"

#include "fake_priv.h"
#include "resp/encode.h"
#include "resp/request_scan.h"
#include "route/route.h"

#define FIRST_PORT 7001
#define LONG_ANSWER 40000
#define TRIES 20 /* to find a connection by chance */

#define OK "+OK\r\n"
#define MASTER "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n"
#define SLAVE                              \
    "*5\r\n$5\r\nslave\r\n$9\r\n127.0.0.1" \
    "\r\n:7001\r\n$9\r\nconnected\r\n:1\r\n"
#define MOVED "-MOVED 0 127.0.0.1:7002\r\n"
#define NOTICE ">2\r\n$10\r\ninvalidate\r\n*1\r\n$2\r\na1\r\n"

static const char unblocked[] =
    "-UNBLOCKED force unblock from blocking operation, instance state changed "
    "(master -> replica?)\r\n";

static const char *const queue_errors[] = {
    "-ERR bad\r\n",
    MOVED,
    "-LOADING x\r\n",
    "-NOPERM x\r\n",
};
static const char *const usual[] = {
    OK,
    ":1\r\n",
    "$1\r\nv\r\n",
    "*0\r\n",
    "*2\r\n:1\r\n:2\r\n",
    "$-1\r\n",
    "*2\r\n$2\r\na1\r\n$1\r\nx\r\n",
};
static const char *const errors[] = {
    "-ERR x\r\n",      "-TRYAGAIN x\r\n",    "-LOADING x\r\n",
    "-READONLY x\r\n", "-CLUSTERDOWN x\r\n", "-NOSCRIPT x\r\n",
    "-OOM x\r\n",      "-NOREPLICAS x\r\n",  "-BUSY x\r\n",
    "-NOPERM x\r\n",   "-WRONGTYPE x\r\n",   "-MASTERDOWN x\r\n",
    unblocked,
};

/* Commands whose answers the proxy itself looks at. */
static const struct {
    const char *name;
    const char *answer;
    const char *worse; /* once in so many times, or NULL */
    unsigned times;
} answers[] = {
    {"AUTH", OK, "-WRONGPASS no\r\n", 6},
    {"READONLY", OK, NULL, 0},
    {"ASKING", OK, NULL, 0},
    {"ROLE", MASTER, SLAVE, 12},
    {"WATCH", OK, "-LOADING x\r\n", 15},
    {"UNWATCH", OK, "-LOADING x\r\n", 15},
    {"SELECT", OK, "-LOADING x\r\n", 15},
    {"PING", "+PONG\r\n", NULL, 0},
    {"ACL", OK, "$5\r\nNo no\r\n", 3},
    {"COMMAND", "*1\r\n*-1\r\n", NULL, 0},
    {"EXISTS", ":1\r\n", MOVED, 4},
    {"WAIT", ":1\r\n", NULL, 0},
    {"SCAN", "*2\r\n$1\r\n0\r\n*1\r\n$2\r\na1\r\n", NULL, 0},
    {"DUMP", "$3\r\nabc\r\n", "$-1\r\n", 3},
};

/* A request, and what it came on. */
struct asked {
    struct game *game;
    struct fake_peer *peer;
    struct game_server *server;
    size_t place; /* of the peer in the loop */
    struct request_scan scan;
    struct buf out;
};

static struct view
word(const struct asked *asked, uint32_t number)
{
    if (number >= asked->scan.seen)
        return VIEW("");
    return request_arg(&asked->scan, fake_received(asked->peer).data, number);
}

static bool
is_word(const struct asked *asked, uint32_t number, const char *text)
{
    return view_equal_nocase(word(asked, number), view_str(text));
}

#define CHOOSE(game, array) ((array)[game_roll((game), ARRAY_LEN(array))])

/* --- answers -------------------------------------------------------------- */

/* True for each of these functions: it was theirs to answer. */
static bool
answer_hello(struct asked *asked)
{
    int resp = is_word(asked, 1, "3") ? 3 : 2;
    struct buf *out = &asked->out;

    if (!is_word(asked, 0, "HELLO"))
        return false;
    encode_map(out, resp, 5);
    encode_bulk_str(out, "server");
    encode_bulk_str(out, "redis");
    encode_bulk_str(out, "version");
    encode_bulk_str(out, "7.0.0");
    encode_bulk_str(out, "proto");
    encode_integer(out, resp);
    encode_bulk_str(out, "id");
    encode_integer(out, (int64_t)asked->place + 1);
    encode_bulk_str(out, "role");
    encode_bulk_str(out, "master");
    return true;
}

static bool
answer_client(struct asked *asked)
{
    if (!is_word(asked, 0, "CLIENT"))
        return false;
    if (is_word(asked, 1, "ID"))
        encode_integer(&asked->out, (int64_t)asked->place + 1);
    else
        buf_append_str(&asked->out,
                       game_mishap(asked->game, 8) ? "-ERR no\r\n" : OK);
    return true;
}

static void
answer_exec(struct asked *asked)
{
    struct game_server *server = asked->server;
    struct buf *out = &asked->out;

    if (!server->in_multi) {
        encode_error(out, VIEW("ERR EXEC without MULTI"));
    } else if (server->is_bad || game_mishap(asked->game, 8)) {
        encode_error(out,
                     VIEW("EXECABORT Transaction discarded because of "
                          "previous errors."));
    } else if (game_mishap(asked->game, 6)) {
        encode_null_array(out, 2);
    } else {
        encode_array(out, server->queued);
        for (unsigned i = 0; i < server->queued; i++)
            buf_append_str(out, OK);
    }
    server->in_multi = false;
}

static void
answer_multi(struct asked *asked)
{
    if (asked->server->in_multi || game_mishap(asked->game, 20)) {
        encode_error(&asked->out, VIEW("ERR MULTI not now"));
        return;
    }
    *asked->server = (struct game_server){.in_multi = true};
    buf_append_str(&asked->out, OK);
}

static void
answer_discard(struct asked *asked)
{
    if (asked->server->in_multi)
        buf_append_str(&asked->out, OK);
    else
        encode_error(&asked->out, VIEW("ERR DISCARD without MULTI"));
    asked->server->in_multi = false;
}

static void
answer_queued(struct asked *asked)
{
    struct game *game = asked->game;

    asked->server->is_bad |= game_mishap(game, 12);
    if (asked->server->is_bad) {
        buf_append_str(&asked->out, CHOOSE(game, queue_errors));
        return;
    }
    asked->server->queued++;
    buf_append_str(&asked->out, "+QUEUED\r\n");
}

static bool
answer_transaction(struct asked *asked)
{
    if (is_word(asked, 0, "MULTI"))
        answer_multi(asked);
    else if (is_word(asked, 0, "EXEC"))
        answer_exec(asked);
    else if (is_word(asked, 0, "DISCARD"))
        answer_discard(asked);
    else if (asked->server->in_multi)
        answer_queued(asked);
    else
        return false;
    return true;
}

/* The proxy listens with RESP3. */
static bool
answer_subscribe(struct asked *asked)
{
    static const char *const names[] = {"SUBSCRIBE",    "PSUBSCRIBE",
                                        "SSUBSCRIBE",   "UNSUBSCRIBE",
                                        "PUNSUBSCRIBE", "SUNSUBSCRIBE"};
    bool is_one = false;

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        is_one |= is_word(asked, 0, names[i]);
    for (uint32_t i = 1; is_one && i < asked->scan.seen; i++) {
        encode_push(&asked->out, 3, 3);
        encode_bulk(&asked->out, word(asked, 0));
        encode_bulk(&asked->out, word(asked, i));
        encode_integer(&asked->out, 1);
    }
    return is_one;
}

static bool
answer_listed(struct asked *asked)
{
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        if (!is_word(asked, 0, answers[i].name))
            continue;
        bool is_worse = answers[i].worse != NULL &&
            game_mishap(asked->game, answers[i].times);
        buf_append_str(&asked->out,
                       is_worse ? answers[i].worse : answers[i].answer);
        return true;
    }
    return false;
}

static bool
answer_values(struct asked *asked)
{
    struct view key = word(asked, 1);

    if (is_word(asked, 0, "GET") && !game_mishap(asked->game, 3)) {
        buf_printf(&asked->out, "$%zu\r\nis %.*s\r\n", key.len + 3,
                   (int)key.len, key.data);
        return true;
    }
    if (!is_word(asked, 0, "MGET"))
        return false;
    encode_array(&asked->out, asked->scan.seen - 1);
    for (uint32_t i = 1; i < asked->scan.seen; i++)
        encode_bulk_str(&asked->out, "v");
    return true;
}

/* The key of a script stands behind it and its number. */
static void
answer_elsewhere(struct asked *asked)
{
    bool is_script = is_word(asked, 0, "EVAL") || is_word(asked, 0, "FCALL") ||
        is_word(asked, 0, "EVALSHA") || is_word(asked, 0, "EVAL_RO");
    struct view key = word(asked, is_script ? 3 : 1);
    const char *how = game_roll(asked->game, 2) > 0 ? "MOVED" : "ASK";
    unsigned node = game_roll(asked->game, 3);

    buf_printf(&asked->out, "-%s %u 127.0.0.1:%u\r\n", how,
               route_cluster_slot(key), FIRST_PORT + node);
}

static void
answer_at_length(struct asked *asked)
{
    unsigned len = game_roll(asked->game, LONG_ANSWER);

    buf_printf(&asked->out, "$%u\r\n", len);
    memset(buf_reserve(&asked->out, len), 'z', len);
    asked->out.len += len;
    buf_append_str(&asked->out, "\r\n");
}

static void
answer_anything(struct asked *asked)
{
    struct game *game = asked->game;

    if (game_mishap(game, 14))
        answer_at_length(asked);
    else if (game_mishap(game, 6))
        answer_elsewhere(asked);
    else if (game_mishap(game, 5))
        buf_append_str(&asked->out, CHOOSE(game, errors));
    else
        buf_append_str(&asked->out, CHOOSE(game, usual));
}

/* --- connections ---------------------------------------------------------- */

static void
send_answer(struct asked *asked)
{
    struct game *game = asked->game;

    if (!answer_hello(asked) && !answer_transaction(asked) &&
        !answer_client(asked) && !answer_subscribe(asked) &&
        !answer_listed(asked) && !answer_values(asked))
        answer_anything(asked);
    if (asked->out.len > 2 && game_mishap(game, 30)) {
        asked->out.len = 1 + game_roll(game, (unsigned)asked->out.len - 1);
        asked->server->is_mute = true;
    } else if (game_mishap(game, 25)) {
        buf_append_str(&asked->out, NOTICE);
    }
    fake_send(asked->peer, buf_view(&asked->out));
    asked->out.len = 0;
}

/* False: nothing is there that is whole. */
static bool
answer_one(struct asked *asked)
{
    static const struct request_limits limits = {.max_args = 1000000,
                                                 .max_bulk = RESP_MAX_BULK};
    struct view bytes = fake_received(asked->peer);

    request_scan_reset(&asked->scan);
    if (bytes.len == 0)
        return false;
    enum resp_result result =
        request_scan(&asked->scan, &limits, bytes.data, bytes.len);
    if (result == RESP_BAD || asked->scan.kind != REQUEST_ARRAY)
        world_fail(asked->game->world, "port %u is told what is no request",
                   asked->peer->port);
    if (result != RESP_OK)
        return false;
    struct view name = word(asked, 0), key = word(asked, 1);
    game_note(asked->game, "port %u (%zu) answers %.*s %.*s", asked->peer->port,
              asked->place, (int)name.len, name.data,
              (int)MIN(key.len, (size_t)40), key.data);
    send_answer(asked);
    fake_take(asked->peer, asked->scan.size);
    return true;
}

static void
answer_some(struct game *game, size_t place, unsigned most)
{
    struct asked asked = {.game = game,
                          .peer = game->world->loop->peers[place],
                          .server = &game->servers[place],
                          .place = place};

    request_scan_init(&asked.scan);
    while (most-- > 0 && !asked.server->is_mute && answer_one(&asked))
        continue;
    request_scan_fini(&asked.scan);
    buf_fini(&asked.out);
}

/* A connection to a server, and not closed by us. */
static bool
is_server(const struct fake_peer *peer)
{
    return peer->port != 0 && !peer->closed;
}

/* A connection to a server in this state, or NULL; *place is its own. */
static struct fake_peer *
choose(struct game *game, enum fake_state state, size_t *place)
{
    struct loop *loop = game->world->loop;

    for (unsigned i = 0; i < TRIES && loop->peer_count > 0; i++) {
        *place = game_roll(game, (unsigned)loop->peer_count);
        struct fake_peer *peer = loop->peers[*place];
        if (is_server(peer) && peer->state == state)
            return peer;
    }
    return NULL;
}

static enum fake_state
choose_fate(struct game *game)
{
    if (game_mishap(game, 10))
        return FAKE_REFUSED;
    return game_mishap(game, 20) ? FAKE_HUNG : FAKE_OPEN;
}

void
game_server_opens(struct game *game)
{
    static const char *const fates[] = {
        [FAKE_HUNG] = "hangs",
        [FAKE_REFUSED] = "refuses",
        [FAKE_OPEN] = "accepts",
    };
    size_t place;
    struct fake_peer *peer = choose(game, FAKE_ASKED, &place);

    if (peer == NULL)
        return;
    enum fake_state state = choose_fate(game);
    game_note(game, "port %u (%zu) %s", peer->port, place, fates[state]);
    fake_answer(peer, state);
    if (game_mishap(game, 3))
        peer->piece = 1 + game_roll(game, 50);
}

void
game_server_answers(struct game *game)
{
    size_t place;
    struct fake_peer *peer = choose(game, FAKE_OPEN, &place);

    if (peer != NULL && !peer->gone)
        answer_some(game, place,
                    game_roll(game, 3) > 0 ? 1 + game_roll(game, 3) : 100);
}

void
game_server_turns(struct game *game)
{
    size_t place;
    struct fake_peer *peer = choose(game, FAKE_OPEN, &place);
    unsigned how = game_roll(game, 5);

    if (peer == NULL)
        return;
    game_note(game, "port %u (%zu) turns in way %u", peer->port, place, how);
    if (how == 0)
        fake_close(peer);
    else if (how == 1)
        fake_reset(peer);
    else if (how == 2)
        fake_finish(peer);
    else if (how == 3)
        peer->window = game_roll(game, 200);
    else
        peer->window = FAKE_ANY;
}

void
game_servers_answer_all(struct game *game)
{
    struct loop *loop = game->world->loop;

    for (size_t i = 0; i < loop->peer_count; i++) {
        struct fake_peer *peer = loop->peers[i];
        if (!is_server(peer))
            continue;
        if (peer->state == FAKE_ASKED)
            fake_answer(peer, FAKE_OPEN);
        if (peer->state == FAKE_OPEN && !peer->gone)
            answer_some(game, i, 1000);
    }
}

void
game_servers_recover(struct game *game)
{
    struct loop *loop = game->world->loop;

    for (size_t i = 0; i < loop->peer_count; i++) {
        struct fake_peer *peer = loop->peers[i];
        if (!is_server(peer))
            continue;
        if (peer->state == FAKE_ASKED)
            fake_answer(peer, FAKE_REFUSED);
        else if (game->servers[i].is_mute)
            fake_close(peer);
    }
}
