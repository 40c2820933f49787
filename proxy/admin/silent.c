/*
 * admin/silent.c - waiting for the first byte.
 */
#include "admin/silent.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/stream.h"

enum silent_state {
    SILENT_WAITING, /* `watch` waits for the first byte */
    SILENT_WRITING, /* `stream` has the descriptor */
    SILENT_CLOSED   /* not in the list any more, freed after this turn */
};

struct silent {
    TAILQ_ENTRY(silent) link;
    struct silent_list *list;
    enum silent_state state;
    int fd; /* while WAITING */
    struct fd_watch watch;
    struct timer timer;
    struct stream stream;
    struct grave grave;
};

static void
free_silent(struct grave *grave)
{
    mem_free(CONTAINER_OF(grave, struct silent, grave));
}

/* Steps go forward only. */
static void
silent_set_state(struct silent *silent, enum silent_state state)
{
    ASSERT(state > silent->state);
    silent->state = state;
    if (state != SILENT_CLOSED)
        return;
    timer_stop(&silent->timer);
    TAILQ_REMOVE(&silent->list->head, silent, link);
    silent->list->count--;
    loop_bury(silent->list->loop, &silent->grave, free_silent);
}

/* The descriptor stays open. */
static int
silent_release(struct silent *silent)
{
    fd_watch_stop(&silent->watch);
    silent_set_state(silent, SILENT_CLOSED);
    return silent->fd;
}

static void
silent_close(struct silent *silent)
{
    switch (silent->state) {
    case SILENT_WAITING:
        close(silent_release(silent));
        break;
    case SILENT_WRITING:
        stream_close(&silent->stream);
        silent_set_state(silent, SILENT_CLOSED);
        break;
    case SILENT_CLOSED:
        break;
    }
}

/* --- writing ------------------------------------------------------------- */

static struct silent *
silent_of(struct stream *stream)
{
    return CONTAINER_OF(stream, struct silent, stream);
}

/* What comes too late is read all the same: closing with input unread would
 * take back what the client has not read yet. */
static void
on_input(struct stream *stream)
{
    stream_consume(stream, stream_input_len(stream));
}

static void
on_sent(struct stream *stream, size_t bytes)
{
    (void)bytes;
    if (chain_is_empty(&stream->out))
        silent_close(silent_of(stream));
}

/* A client that has closed its side may still read. */
static void
on_end(struct stream *stream, enum stream_end end)
{
    if (end != STREAM_EOF)
        silent_close(silent_of(stream));
}

static const struct stream_ops stream_ops = {
    .on_input = on_input,
    .on_sent = on_sent,
    .on_end = on_end,
};

static void
silent_write(struct silent *silent)
{
    struct silent_list *list = silent->list;
    struct buf text = {0};

    fd_watch_stop(&silent->watch);
    silent_set_state(silent, SILENT_WRITING);
    stream_open(&silent->stream, list->loop, silent->fd, &stream_ops);
    list->ops->on_silence(list->arg, &text);
    stream_push_copy(&silent->stream, text.data, text.len);
    buf_fini(&text);
    timer_start(&silent->timer, list->write_ms);
}

/* --- waiting ------------------------------------------------------------- */

static void
on_readable(struct fd_watch *watch, void *arg)
{
    struct silent *silent = arg;
    char byte;
    ssize_t got = recv(silent->fd, &byte, 1, MSG_PEEK);

    (void)watch;
    if (got > 0)
        silent->list->ops->on_bytes(silent->list->arg, silent_release(silent));
    else if (got == 0)
        silent_write(silent);
    else if (errno != EAGAIN && errno != EINTR)
        silent_close(silent);
}

static void
on_timer(struct timer *timer, void *arg)
{
    struct silent *silent = arg;

    (void)timer;
    if (silent->state == SILENT_WAITING)
        silent_write(silent);
    else
        silent_close(silent);
}

void
silent_list_init(struct silent_list *list)
{
    TAILQ_INIT(&list->head);
    list->count = 0;
}

void
silent_list_fini(struct silent_list *list)
{
    struct silent *silent;

    while ((silent = TAILQ_FIRST(&list->head)) != NULL)
        silent_close(silent);
}

void
silent_take(struct silent_list *list, int fd)
{
    struct silent *silent = MEM_NEW(struct silent);

    silent->list = list;
    silent->state = SILENT_WAITING;
    silent->fd = fd;
    TAILQ_INSERT_TAIL(&list->head, silent, link);
    list->count++;
    timer_init(&silent->timer, list->loop, on_timer, silent);
    timer_start(&silent->timer, list->wait_ms);
    fd_watch_start(&silent->watch, list->loop, fd, on_readable, silent);
}
