/*
 * daemon/door.h - every listener, and which worker a newcomer goes to.
 *
 * Enforces maxclients and client_connections: one more is told so in the
 * servers' words and closed.  Owner and thread: control.
 */
#ifndef DAEMON_DOOR_H
#define DAEMON_DOOR_H

#include "base/error.h"
#include "daemon/worker.h"

struct door;

/* Opens every listener of every pool and logs where; nothing is accepted
 * before the loop runs.  NULL and a sentence on failure. */
struct door *door_new(struct loop *loop, struct snapshot *snapshot,
                      struct worker **workers, unsigned worker_count,
                      struct error *error) MUST_CHECK;
/* Accept no more. */
void door_close(struct door *door);
void door_free(struct door **doorp);

/* Where the pool's first listener really is. */
const char *door_address(const struct door *door, size_t pool);

#endif
