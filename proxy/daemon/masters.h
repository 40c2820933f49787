/*
 * daemon/masters.h - the pools whose masters Sentinels name.
 *
 *   workers --MESSAGE_HINT--> discovery/sentinels --> control_publish --> workers
 *                                    |
 *                                    +--> daemon/epochs: what was believed
 *
 * Owner and thread: control.
 */
#ifndef DAEMON_MASTERS_H
#define DAEMON_MASTERS_H

#include <stdbool.h>
#include <sys/queue.h>

#include "discovery/sentinels.h"

struct control;
struct message;
struct snapshot;

struct watched_masters {
    TAILQ_ENTRY(watched_masters) link;
    struct control *control;
    size_t id; /* of the pool */
    bool is_claimed;
    struct sentinels *sentinels;
};

TAILQ_HEAD(watched_masters_list, watched_masters);

/* Before a snapshot of other settings is published: what stays known. */
void masters_keep(struct control *control, struct snapshot *snapshot);
/* It has been published: ask about those that it has, forget the others. */
void masters_take(struct control *control);
void masters_free(struct control *control);

void masters_take_hint(struct control *control,
                       const struct message *message);

/* NULL for a pool without Sentinels. */
struct sentinels *masters_find(struct control *control, size_t number);

#endif
