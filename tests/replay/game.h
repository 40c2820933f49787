/*
 * tests/replay/game.h - clients, servers and an operator who act by chance.
 *
 * A game is played on the world of a script (world.h), but dice say what comes
 * next, so the same seed is always the same game.
 *
 *   game.c          who acts next; the end, at which all must be well again
 *   game_clients.c  what clients ask, and whether each has its answers
 *   game_servers.c  what servers say to it, and when
 *   game_pool.c     settings, reloads, maps, verdicts
 */
#ifndef TESTS_REPLAY_GAME_H
#define TESTS_REPLAY_GAME_H

#include <stdint.h>

#include "base/dice.h"
#include "world.h"

#define GAME_CLIENTS 6
#define GAME_PEERS_MAX 4000 /* connections in one game */
#define GAME_NOTE_MAX 160

/* Where the pool's servers come from; bits, for what goes with which. */
enum game_kind {
    GAME_SINGLE = 1,
    GAME_RANGE = 2,
    GAME_CLUSTER = 4,
    GAME_MASTERS = 8
};

struct game_client {
    struct fake_peer *peer; /* NULL: has not come yet */
    struct buf asked;       /* lines that it has sent */
    size_t answered;        /* bytes of them: these have their answers */
    bool is_uncounted; /* it has asked for what has no answer, or for more */
    bool is_cut;       /* it sends no more */
};

/* What a server knows of one connection. */
struct game_server {
    unsigned queued; /* commands of the transaction */
    bool in_multi;
    bool is_bad;  /* one of them was refused: EXEC will be, too */
    bool is_mute; /* it has stopped in the middle of an answer */
};

struct game {
    struct world *world;
    struct talk talk; /* of one line: what is being done, for world_fail() */
    char *line;
    char note[GAME_NOTE_MAX];
    bool traces;
    uint64_t dice;
    enum game_kind kind;
    unsigned theme; /* of commands, that this game has many of */
    bool is_calm;   /* the end: nothing goes wrong any more */
    struct game_client clients[GAME_CLIENTS];
    struct game_server servers[GAME_PEERS_MAX]; /* by places in loop->peers */
};

/* Play it to its end; what is wrong is said, and ends the process. */
void game_play(uint64_t seed, bool traces);

/* game.c: for the others */
unsigned game_roll(struct game *game, unsigned bound);
/* True once in so many times, but never when all is calm. */
bool game_mishap(struct game *game, unsigned times);
/* What is being done. */
void game_note(struct game *game, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* --- game_clients.c ------------------------------------------------------- */

/* One of them connects, or asks for something. */
void game_client_speaks(struct game *game);
/* It closes, or reads less or more. */
void game_client_turns(struct game *game);
/* Look at what has come for them. */
void game_clients_listen(struct game *game);
/* Each has an answer to everything. */
void game_clients_are_content(struct game *game);
void game_clients_leave(struct game *game);
/* The setting without which the theme would come to little, or NULL. */
const char *game_theme_setting(unsigned theme);
unsigned game_theme_count(void);

/* --- game_servers.c ------------------------------------------------------- */

/* A connect is answered. */
void game_server_opens(struct game *game);
/* Some calls on a connection are. */
void game_server_answers(struct game *game);
/* A connection ends, or takes less or more. */
void game_server_turns(struct game *game);
/* All connects and calls that are here now are answered. */
void game_servers_answer_all(struct game *game);
/* Those that have fallen silent go; connects up to here are refused. */
void game_servers_recover(struct game *game);

/* --- game_pool.c ---------------------------------------------------------- */

/* Start with settings by chance, or go on by others. */
void game_configure(struct game *game);
/* Other places for the keys. */
void game_pool_moves(struct game *game);
/* Control finds a server down, or up. */
void game_pool_judges(struct game *game);
/* All is well, and stays so. */
void game_pool_recovers(struct game *game);

#endif
