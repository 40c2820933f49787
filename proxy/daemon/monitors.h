/*
 * daemon/monitors.h - at which workers each pool has monitors.
 *
 * Those are told what the others see; all are told whether to look.  Owner:
 * control.
 */
#ifndef DAEMON_MONITORS_H
#define DAEMON_MONITORS_H

#include <stdbool.h>
#include <sys/queue.h>

#include "base/base.h"

struct control;
struct message;

/* A pool that somebody watches. */
struct monitored {
    LIST_ENTRY(monitored) link;
    size_t pool; /* id */
    bool *at;    /* one word a worker */
};

LIST_HEAD(monitored_list, monitored);

/* A worker has a monitor, or is about to; it has none any more. */
void monitors_begin(struct control *control, unsigned worker, size_t pool);
void monitors_end(struct control *control, unsigned worker, size_t pool);

/* Lines that a worker has seen: to the others with monitors. */
void monitors_pass_on(struct control *control, const struct message *seen);

void monitors_free(struct control *control);

#endif
