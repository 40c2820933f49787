/*
 * net/listener.c - listening sockets.
 */
#include "net/listener.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log_limit.h"
#include "base/mem.h"

#define ACCEPT_BATCH 64  /* a turn, so that nothing else starves */
#define ACCEPT_REST_MS 100
#define ACCEPT_QUEUE_MAX 65536

static void on_ready(struct fd_watch *watch, void *arg);

static void
accept_again(struct timer *timer, void *arg)
{
    struct listener *listener = arg;

    fd_watch_start(&listener->watch, timer->loop, listener->fd, on_ready,
                   listener);
}

/* Told once until all who wait are in: it may last. */
static void
rest(struct listener *listener, int err)
{
    if (!listener->is_short)
        log_error_limited(NULL, listener->text, "cannot accept, resting",
                          "addr=%s error=\"%s\" rest_ms=%d", listener->text,
                          strerror(err), ACCEPT_REST_MS);
    listener->is_short = true;
    if (listener->rests != NULL)
        cell_inc(listener->rests);
    fd_watch_stop(&listener->watch);
    timer_start(&listener->rest, ACCEPT_REST_MS);
}

/* False when nobody waits, or no descriptor is left. */
static bool
accept_one(struct listener *listener)
{
    int fd =
        accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd >= 0)
        listener->on_accept(listener, fd, listener->arg);
    return fd >= 0;
}

static void
note_all_in(struct listener *listener)
{
    if (listener->is_short)
        log_info_limited(NULL, listener->text, "accepting again", "addr=%s",
                         listener->text);
    listener->is_short = false;
}

static void
on_ready(struct fd_watch *watch, void *arg)
{
    struct listener *listener = arg;
    int left = ACCEPT_BATCH;

    (void)watch;
    while (left > 0 && accept_one(listener))
        left--;
    if (left == 0)
        return;
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
        errno == ENOMEM)
        rest(listener, errno);
    else if (errno == EAGAIN)
        note_all_in(listener);
}

void
listener_accept_all(struct listener *listener)
{
    /* No more than the longest queue there may be, lest it never ends. */
    int left = ACCEPT_QUEUE_MAX;

    while (left > 0 && accept_one(listener))
        left--;
}

/* True when a socket file stands there and nobody answers behind it. */
static bool
is_stale_socket(const struct address *address)
{
    struct stat status;

    if (lstat(address->sa.un.sun_path, &status) < 0 ||
        !S_ISSOCK(status.st_mode))
        return false;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    bool refused = connect(fd, &address->sa.any, address->len) < 0 &&
        errno == ECONNREFUSED;
    close(fd);
    return refused;
}

static int
bind_unix(struct listener *listener, const struct address *address, int mode)
{
    if (is_stale_socket(address))
        unlink(address->sa.un.sun_path);
    if (bind(listener->fd, &address->sa.any, address->len) < 0)
        return -1;
    listener->unlink_path = mem_strdup(address->sa.un.sun_path);
    if (mode >= 0)
        return chmod(address->sa.un.sun_path, (mode_t)mode);
    return 0;
}

/* Why nothing can listen there, as errno has it. */
static const char *
reason_of(const struct address *address, int err)
{
    struct stat status;

    if (err == EADDRINUSE && address->sa.any.sa_family == AF_UNIX &&
        lstat(address->sa.un.sun_path, &status) == 0 &&
        !S_ISSOCK(status.st_mode))
        return "something that is no socket has this name";
    return strerror(err);
}

static int
bind_and_listen(struct listener *listener, const struct address *address,
                int mode, int backlog)
{
    int on = 1, off = 0;
    int family = address->sa.any.sa_family;

    if (family == AF_UNIX) {
        if (bind_unix(listener, address, mode) < 0)
            return -1;
    } else {
        if (setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &on,
                       sizeof(on)) < 0)
            return -1;
        if (family == AF_INET6)
            (void)setsockopt(listener->fd, IPPROTO_IPV6, IPV6_V6ONLY, &off,
                             sizeof(off));
        if (bind(listener->fd, &address->sa.any, address->len) < 0)
            return -1;
    }
    return listen(listener->fd, backlog);
}

void
listener_init(struct listener *listener, accept_fn on_accept, void *arg)
{
    *listener = (struct listener){.on_accept = on_accept, .arg = arg};
}

int
listener_open(struct listener *listener, struct loop *loop,
              const struct address *address, int mode, int backlog,
              struct error *error)
{
    address_format(address, listener->text);
    listener->fd = socket(address->sa.any.sa_family,
                          SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener->fd < 0)
        return error_set(error, "cannot make a socket for %s: %s",
                         listener->text, strerror(errno));
    if (bind_and_listen(listener, address, mode, backlog) < 0) {
        error_set(error, "cannot listen on %s: %s", listener->text,
                  reason_of(address, errno));
        close(listener->fd);
        mem_free(listener->unlink_path);
        listener->unlink_path = NULL;
        return -1;
    }
    address_of_local(listener->fd, listener->text);
    timer_init(&listener->rest, loop, accept_again, listener);
    fd_watch_start(&listener->watch, loop, listener->fd, on_ready, listener);
    return 0;
}

void
listener_close(struct listener *listener)
{
    timer_stop(&listener->rest);
    fd_watch_stop(&listener->watch);
    close(listener->fd);
    if (listener->unlink_path != NULL)
        unlink(listener->unlink_path);
    mem_free(listener->unlink_path);
    listener->unlink_path = NULL;
}
