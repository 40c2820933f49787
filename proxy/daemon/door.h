/*
 * daemon/door.h - every listener, and which worker a newcomer goes to.
 *
 * Enforces maxclients and client_connections: one more is told so in the
 * servers' words and closed.  Owner and thread: control.
 *
 * A change has two steps, so that it can still be refused in between: what is
 * new is opened by door_prepare(), then door_commit() puts it into force and
 * closes what is gone, or door_abort() closes what is new.  A listener stays
 * open when the same address is listened on before and after.
 */
#ifndef DAEMON_DOOR_H
#define DAEMON_DOOR_H

#include "base/budget.h"
#include "base/error.h"
#include "daemon/ledger.h"
#include "daemon/worker.h"

struct door;

/* Without listeners; the first change opens them.  `rests` counts how often
 * accepting had to rest; while the budget is short nobody is taken in. */
struct door *door_new(struct loop *loop, struct ledger *ledger,
                      struct worker **workers, unsigned worker_count,
                      struct cell *rests, const struct budget *budget);
/* Nothing is accepted before the loop runs.  -1 and a sentence, with nothing
 * changed, when one cannot be opened. */
int door_prepare(struct door *door, const struct settings *settings,
                 struct error *error) MUST_CHECK;
/* The ledger has the pools' accounts by now.  Logs where it listens. */
void door_commit(struct door *door, struct snapshot *snapshot);
void door_abort(struct door *door);

/* Accept no more. */
void door_close(struct door *door);
void door_free(struct door **doorp);

/* Where the pool's first listener really is. */
const char *door_address(const struct door *door, const char *pool);

#endif
