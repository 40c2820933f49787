/*
 * tests/replay/steps.h - what a line of a script can say.
 */
#ifndef TESTS_REPLAY_STEPS_H
#define TESTS_REPLAY_STEPS_H

#include "world.h"

/* Run the whole script; a step that fails ends the process. */
void steps_run(struct world *world);

/* The size of the pieces in which everything sent arrives in the second run of
 * a script: what its "pieces" line says, or 1; FAKE_ANY: no such run. */
size_t steps_piece(const struct talk *talk);

#endif
