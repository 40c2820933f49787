/*
 * tests/replay/masters.h - the steps about masters that Sentinels name.
 */
#ifndef TESTS_REPLAY_MASTERS_H
#define TESTS_REPLAY_MASTERS_H

#include "world.h"

/* The pool: by range, master a has the keys that begin with an a.  `words` may
 * end in "with KEY: VALUE, ...", which is given back. */
void masters_append(struct buf *yaml, struct view *words);

/* NAME WHERE ...: where each is believed to be, "7001", "none", or with what is
 * to be kept from it: "7001:held", "7001:barred". */
void masters_place(struct world *world, struct view words);

#endif
