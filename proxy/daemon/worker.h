/*
 * daemon/worker.h - a thread with one loop, its sessions and its lanes.
 *
 * Shares nothing with other threads but snapshots, mailboxes, and cells that
 * it alone writes.  Made, started and joined by control, whose ledger has its
 * counters of pools and servers.
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
    struct worker **all; /* to whose mailboxes news is posted */
    const struct budget *budget; /* of the process */
    struct session_env env;
    struct worker_stats stats;
    struct timer trim; /* gives memory back */
    bool draining;
    bool told; /* control knows that no session is left */
};

/* Does not start the thread yet, so that messages may be posted; the first is
 * an edition. */
struct worker *worker_new(unsigned number, unsigned count,
                          struct mailbox *control,
                          const struct budget *budget);
/* Post what must not get lost: waits while the worker's box is full. */
void worker_tell(struct worker *worker, const struct message *message);
void worker_start(struct worker *worker);
/* After MESSAGE_STOP: wait for the thread. */
void worker_stop(struct worker *worker);
/* Its thread has ended, or was never started. */
void worker_free(struct worker **workerp);

#endif
