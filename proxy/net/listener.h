/*
 * net/listener.h - accepting connections.
 *
 * Owner: the control thread.  Each accepted descriptor is non-blocking and
 * handed to on_accept, which owns it from then on.  When the process runs out
 * of descriptors, accepting rests for a moment; waiting connections stay in the
 * kernel's queue, nobody is dropped.
 */
#ifndef NET_LISTENER_H
#define NET_LISTENER_H

#include <stdbool.h>

#include "base/counter.h"
#include "base/error.h"
#include "net/address.h"
#include "net/loop.h"

struct listener;
typedef void (*accept_fn)(struct listener *listener, int fd, void *arg);

struct listener {
    struct fd_watch watch;
    struct timer rest;
    int fd;
    struct cell *rests; /* counts how often there were none; or NULL */
    bool is_short;      /* there were no descriptors, and some may still wait */
    char *unlink_path;  /* of a UNIX socket that we made */
    accept_fn on_accept;
    void *arg;
    char text[ADDRESS_TEXT_MAX]; /* where it really listens */
};

/* Who takes what is accepted; before listener_open(). */
void listener_init(struct listener *listener, accept_fn on_accept, void *arg);
/* `mode` is for UNIX sockets, -1 for the umask's.  A socket file that nobody
 * listens on any more is replaced. */
int listener_open(struct listener *listener, struct loop *loop,
                  const struct address *address, int mode, int backlog,
                  struct error *error) MUST_CHECK;
/* Accept those who stand in the kernel's queue at this moment. */
void listener_accept_all(struct listener *listener);
void listener_close(struct listener *listener);

#endif
