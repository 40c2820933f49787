/*
 * tests/replay/apart.h - something that may go wrong, in a process of its own.
 */
#ifndef TESTS_REPLAY_APART_H
#define TESTS_REPLAY_APART_H

#include <stdbool.h>

/* True when `run` has come back.  What it says on standard error is shown only
 * when it fails, behind `name`; so are crashes, leaks, and that it does not
 * end. */
bool apart_run(const char *name, void (*run)(void *arg), void *arg);

#endif
