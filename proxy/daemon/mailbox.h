/*
 * daemon/mailbox.h - messages between control and the workers.
 *
 * There are no calls across threads: whoever wants something posts a message,
 * and the owner's loop is woken to take it.  A mailbox is bounded; what cannot
 * be posted is told to the poster, who must cope.
 */
#ifndef DAEMON_MAILBOX_H
#define DAEMON_MAILBOX_H

#include <pthread.h>
#include <stdbool.h>

#include "net/loop.h"
#include "upstream/health.h"

#define MAILBOX_SIZE 65536
#define MAILBOX_LINES 8388608 /* bytes of lines and news in one */

struct edition;

enum message_kind {
    /* to a worker */
    MESSAGE_CLIENT,  /* fd, pool, id: an accepted connection */
    MESSAGE_EDITION, /* edition: go on by it; the worker frees it */
    MESSAGE_SURVEY, /* question_kind, pool, session_id, id, text: tell your part
                       of the answer */
    MESSAGE_ANSWER, /* question_kind, pool, session_id, id, text: the answer to
                       a question */
    MESSAGE_VERDICT, /* pool, shard, health: as the last edition has them */
    MESSAGE_WATCH,   /* pool, id: where it has monitors (session/monitor.h) */
    MESSAGE_SHOW,    /* pool, text: lines for monitors here */
    MESSAGE_RELAY,   /* worker (which posts it), pool, session_id, id,
                        question_kind, text: a `struct relayed` */
    MESSAGE_DRAIN,   /* finish what is in flight */
    MESSAGE_STOP,    /* end now */
    /* to control */
    MESSAGE_QUESTION, /* worker, question_kind, pool, session_id, id, text */
    MESSAGE_TOLD,     /* worker, id, text: its part */
    MESSAGE_HINT,     /* worker, pool, question_kind: a map_cause, id: which map
                         of the cluster does not do (pool_map.asked) */
    MESSAGE_LET_GO,   /* worker, id: nothing is left that this epoch lacks */
    MESSAGE_INCIDENTS, /* worker, pool, shard, id: an epoch, incidents */
    MESSAGE_SEEN,     /* worker, pool, text: lines for monitors elsewhere */
    MESSAGE_UNWATCHED, /* worker, pool: no monitor is left here */
    MESSAGE_DRAINED   /* worker: no session is left */
};

struct message {
    enum message_kind kind;
    int fd;
    unsigned worker;
    int question_kind;
    size_t pool; /* id */
    uint64_t session_id;
    uint64_t id; /* of a request, a client, a gathering or an epoch */
    struct edition *edition;
    uint32_t shard;
    enum health_state health;
    struct incident_counts incidents;
    char *text;  /* owned by the message; NULL or text_len bytes */
    size_t text_len;
};

typedef void (*message_fn)(void *arg, struct message *message);

struct mailbox {
    pthread_mutex_t lock;
    struct message *ring; /* grows up to MAILBOX_SIZE */
    uint32_t cap, head, count;
    size_t line_bytes; /* in messages that show what was seen, or relay news */
    struct wakeup wakeup;
    message_fn fn;
    void *arg;
};

/* On the owner's loop, before anyone posts.  fn gets each message in order and
 * takes over what it keeps of it by clearing `text`. */
void mailbox_init(struct mailbox *mailbox, struct loop *loop, message_fn fn,
                  void *arg);
void mailbox_fini(struct mailbox *mailbox);

/* From any thread.  False when it is full, of lines if it is one; then `text` is freed as well. */
bool mailbox_post(struct mailbox *mailbox,
                  const struct message *message) MUST_CHECK;

#endif
