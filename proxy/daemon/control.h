/*
 * daemon/control.h - the control thread: accepting, stats, questions, reloads, the end.
 *
 * Owns the workers, the listeners, the snapshot and all blocks of counters.
 * Accepts and hands each connection to the worker with the fewest sessions;
 * gathers the answers to questions about all workers.
 *
 *   RUNNING --TERM--> DRAINING --all quiet or shutdown_timeout--> STOPPED
 *      +---------------------INT------------------------------------^
 */
#ifndef DAEMON_CONTROL_H
#define DAEMON_CONTROL_H

#include "base/error.h"
#include "upstream/snapshot.h"

struct control;

/* Open every listener and make the workers.  NULL and a sentence on failure.
 * Takes a ref of the snapshot; reads the file at `path`, which is borrowed,
 * again when it is told to. */
struct control *control_new(const char *path, struct snapshot *snapshot,
                            struct error *error) MUST_CHECK;
/* Serve until a signal says otherwise; returns after all has ended. */
void control_run(struct control *control);
void control_free(struct control **controlp);

#endif
