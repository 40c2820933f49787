/*
 * daemon/gather.h - a question about all workers, while its answers come in.
 *
 * Owner: control.  Each has a deadline (gather_timeout); a worker that has not
 * answered by then is left out, and the log says so.
 */
#ifndef DAEMON_GATHER_H
#define DAEMON_GATHER_H

#include <sys/queue.h>

#include "base/buf.h"
#include "net/loop.h"
#include "session/env.h"

struct gather {
    TAILQ_ENTRY(gather) link;
    uint64_t id;
    enum question_kind kind;
    unsigned worker; /* who asked */
    size_t pool;
    uint64_t session_id;
    uint64_t request_id;
    unsigned left; /* answers still to come */
    struct buf text;
    struct buf words; /* the words of the question */
    struct timer deadline;
    void *owner;
};

TAILQ_HEAD(gather_list, gather);

struct control;
struct message;

/* A session of a worker asks something: answer it, or ask all workers. */
void gather_take_question(struct control *control,
                          const struct message *question);
/* One of them has told its part. */
void gather_take_told(struct control *control, const struct message *told);
void gather_end_all(struct control *control);

#endif
