/*
 * admin/silent.h - a connection to the stats port before it has said a word.
 *
 *   WAITING --(bytes)--> handed on, unread
 *      |
 *      +--(silence, or the client ends its side)--> WRITING --> CLOSED
 *
 * twemproxy's tools connect and only read.  Owner: struct admin.
 */
#ifndef ADMIN_SILENT_H
#define ADMIN_SILENT_H

#include <sys/queue.h>

#include "base/buf.h"
#include "net/loop.h"

struct silent;
TAILQ_HEAD(silent_head, silent);

struct silent_ops {
    /* Bytes have arrived and are unread; the descriptor is the callee's. */
    void (*on_bytes)(void *arg, int fd);
    /* The client says nothing: append what it wants to hear. */
    void (*on_silence)(void *arg, struct buf *out);
};

struct silent_list {
    struct silent_head head;
    unsigned count;
    struct loop *loop;
    const struct silent_ops *ops;
    void *arg;
    int wait_ms;  /* for the first byte */
    int write_ms; /* until all must be written */
};

/* Before, the caller has filled in loop, ops, arg and the times. */
void silent_list_init(struct silent_list *list);
/* Closes all; the memory goes at the end of the turn. */
void silent_list_fini(struct silent_list *list);

/* Take over a connected, non-blocking descriptor. */
void silent_take(struct silent_list *list, int fd);

#endif
