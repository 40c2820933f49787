/*
 * tests/replay/addresses.h - where the names of servers lead, in a script.
 */
#ifndef TESTS_REPLAY_ADDRESSES_H
#define TESTS_REPLAY_ADDRESSES_H

#include "world.h"

/* The name of a server leads to these hosts; or "nowhere", or "pending". */
void addresses_set(struct world *world, struct view server,
                   struct view hosts);

/* The oldest connect to the server that is not answered goes to this host. */
void addresses_expect_asked(const struct world *world, struct view server,
                            struct view host);

#endif
