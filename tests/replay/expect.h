/*
 * tests/replay/expect.h - steps that look at what has become of the others.
 */
#ifndef TESTS_REPLAY_EXPECT_H
#define TESTS_REPLAY_EXPECT_H

#include "world.h"

/* Take exactly these bytes from what a peer has received. */
void expect_bytes(struct world *world, const struct world_peer *peer,
                  struct view bytes);
/* Nothing that the script has not taken. */
void expect_nothing(const struct world *world, const struct world_peer *peer);
void expect_closed(const struct world *world, const struct world_peer *peer,
                   bool closed);

/* Counters by their names: of the pool, of a server, of why clients left. */
void expect_pool_stat(const struct world *world, struct view name,
                      uint64_t value);
void expect_server_stat(const struct world *world, struct view server,
                        struct view name, uint64_t value);
/* Connections to a server that ended for a reason. */
void expect_closed_for(const struct world *world, struct view server,
                       struct view reason, uint64_t value);
void expect_ended(const struct world *world, struct view reason,
                  uint64_t value);

#endif
