/*
 * tests/replay/random.c - games by chance, each in a process of its own.
 *
 *   random [FIRST [COUNT]]
 *   random SEED
 *
 * The second plays one game and tells all that happens in it.  A game fails
 * when an assertion does, when a client has not one answer to each request, or
 * another one's, and when in the end a gauge is not back at 0 or memory is
 * held; see game.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "apart.h"
#include "base/log.h"
#include "game.h"

/* A few seconds. */
#define GAMES 500

static void
play(void *arg)
{
    const uint64_t *seed = arg;

    log_set_level(LOG_LEVEL_ERROR);
    game_play(*seed, false);
}

static bool
play_apart(uint64_t seed)
{
    char name[40];

    snprintf(name, sizeof(name), "random %" PRIu64, seed);
    return apart_run(name, play, &seed);
}

int
main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : GAMES;
    uint64_t failed = 0;

    if (argc == 2) {
        log_set_level(LOG_LEVEL_DEBUG);
        game_play(first, true);
        return EXIT_SUCCESS;
    }
    for (uint64_t seed = first; seed < first + count; seed++)
        failed += !play_apart(seed);
    printf("%" PRIu64 " games played, %" PRIu64 " failed\n", count, failed);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
