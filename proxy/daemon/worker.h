/*
 * daemon/worker.h - a thread with one loop, its sessions and its lanes.
 *
 * Shares nothing with other threads but snapshots, mailboxes, and cells that
 * it alone writes.  Made, started and joined by control.
 */
#ifndef DAEMON_WORKER_H
#define DAEMON_WORKER_H

#include <pthread.h>

#include "admin/source.h"
#include "daemon/mailbox.h"
#include "session/env.h"

struct worker {
    unsigned number;
    unsigned count; /* of workers */
    pthread_t thread;
    struct loop *loop;
    struct mailbox mailbox; /* to this worker */
    struct mailbox *control;
    struct snapshot *snapshot;
    struct session_env env;
    struct session_stats *session_stats;      /* by pool */
    struct server_stats **server_stats;       /* by pool, by server */
    struct worker_stats stats;
    struct timer trim;                        /* gives memory back */
    struct cell *ended;                       /* sessions, by pool */
    bool draining;
    bool told; /* control knows that no session is left */
};

/* Does not start the thread yet, so that messages may be posted. */
struct worker *worker_new(unsigned number, unsigned count,
                          struct snapshot *snapshot, struct mailbox *control);
void worker_start(struct worker *worker);
/* After MESSAGE_STOP: wait for the thread. */
void worker_stop(struct worker *worker);
/* Its thread has ended, or was never started. */
void worker_free(struct worker **workerp);

#endif
