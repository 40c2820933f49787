/*
 * net/stream.c - sockets in and out of chunks.
 */
#include "net/stream.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/sockios.h>

#include "net/net_priv.h"

#define INPUT_ROOM_MIN 4096  /* least room worth a read in a shared chunk */
#define GATHER_MAX ((size_t)UINT32_MAX - 65536) /* a chunk's offsets: 32 bits */
#define IOV_COUNT 64
#define COALESCE 1024        /* extents below this are copied together */
#define FLUSH_MAX (1u << 20) /* bytes written for one stream at a time */

/* --- the two functions that touch the socket ------------------------------ */

static ssize_t
read_some(struct stream *stream, void *to, size_t room)
{
    return recv(stream->io.fd, to, room, 0);
}

static ssize_t
write_some(struct stream *stream, const struct iovec *iov, int count)
{
    if (count == 1)
        return send(stream->io.fd, iov->iov_base, iov->iov_len, MSG_NOSIGNAL);
    return writev(stream->io.fd, iov, count);
}

/* --- interest -------------------------------------------------------------- */

static int
wanted_events(const struct stream *stream)
{
    int events = 0;

    if (stream->reading && !stream->connecting && !stream->ended)
        events |= EV_READ;
    if (stream->blocked || stream->connecting)
        events |= EV_WRITE;
    return events;
}

static void
update_interest(struct stream *stream)
{
    struct ev_loop *ev = stream->loop->ev;
    int events = stream->is_open ? wanted_events(stream) : 0;

    if (ev_is_active(&stream->io)) {
        if ((stream->io.events & (EV_READ | EV_WRITE)) == events)
            return;
        ev_io_stop(ev, &stream->io);
    }
    if (events != 0) {
        ev_io_set(&stream->io, stream->io.fd, events);
        ev_io_start(ev, &stream->io);
    }
}

static void
stream_end(struct stream *stream, enum stream_end end, int err)
{
    if (stream->broken || (stream->ended && end == STREAM_EOF))
        return;
    stream->ended = true;
    stream->broken = end != STREAM_EOF;
    stream->err = err;
    if (stream->broken)
        stream->blocked = false; /* else what waits still goes out */
    update_interest(stream);
    stream->ops->on_end(stream, end);
}

/* --- input ------------------------------------------------------------------ */

/* Replace the input chunk by `chunk` (a ref handed over), left-overs moved. */
static void
move_input(struct stream *stream, struct chunk *chunk)
{
    struct stream_input *in = &stream->in;
    size_t left = stream_input_len(stream);

    if (left > 0) {
        memcpy(chunk->data + chunk->fill, stream_input_data(stream), left);
    }
    chunk_unref(&in->chunk);
    in->chunk = chunk;
    in->pos = chunk->fill;
    chunk->fill += (uint32_t)left;
    in->end = chunk->fill;
}

/* Can reading go on behind what is here?  In a large chunk it does so while a
 * quarter is free, however much is wanted in the end: a large message that
 * comes in small pieces must not be copied for each of them. */
static bool
can_extend(const struct stream *stream, size_t missing)
{
    const struct stream_input *in = &stream->in;
    const struct chunk *chunk = in->chunk;

    if (chunk == NULL || chunk->fill != in->end)
        return false;
    return chunk_room(chunk) >= missing ||
        (chunk->cap > CHUNK_CAP && chunk_room(chunk) >= chunk->cap / 4);
}

/* Have room behind in.end, with what is left standing in front of it. */
static void
prepare_input(struct stream *stream)
{
    struct chunk_pool *pool = &stream->loop->face.chunks;
    size_t left = stream_input_len(stream);
    size_t missing = stream->want > left ? stream->want - left : 1;
    size_t likely_size = stream->expect > left ? stream->expect - left : 0;

    if ((left > 0 || stream->keeps_input) && can_extend(stream, missing))
        return;
    size_t room = MAX(missing, likely_size + STREAM_SLACK);
    if (left + room <= CHUNK_CAP - INPUT_ROOM_MIN && left < STREAM_SMALL &&
        !stream->reads_large) {
        struct chunk *shared =
            chunk_pool_input(pool, (uint32_t)(left + INPUT_ROOM_MIN));
        move_input(stream, chunk_ref(shared));
        return;
    }
    size_t size = left + MAX(room, (size_t)INPUT_ROOM_MIN);
    if (left >= STREAM_SMALL)
        /* gathering: copy each byte once or so */
        size = MAX(size, MIN(2 * left, GATHER_MAX));
    if (stream->reads_large)
        size = MAX(size, (size_t)stream->read_large);
    move_input(stream, chunk_new_sized(pool, size));
}

/* All has been taken: let go of the chunk, unless more will follow into it. */
static void
settle_empty(struct stream *stream)
{
    struct stream_input *in = &stream->in;

    if (in->chunk->refs == 1)
        in->chunk->fill = in->end = 0;
    if (stream->keeps_input && in->chunk->kind == CHUNK_BIG &&
        in->chunk->fill == in->end && chunk_room(in->chunk) >= CHUNK_LARGE / 4) {
        in->pos = in->end;
    } else {
        chunk_unref(&in->chunk);
        in->pos = in->end = 0;
    }
    stream->want = 0;
}

/* A small left-over moves to a chunk of its size; nothing left, no chunk. */
void
stream_settle_input(struct stream *stream)
{
    struct stream_input *in = &stream->in;
    size_t left = stream_input_len(stream);

    if (in->chunk == NULL)
        return;
    if (left == 0) {
        settle_empty(stream);
    } else if (left < STREAM_SMALL && in->chunk->cap > STREAM_SMALL &&
               stream->want <= CHUNK_CAP) {
        move_input(stream, chunk_new_exact(&stream->loop->face.chunks, left));
    }
}

static void
on_readable(struct stream *stream)
{
    struct stream_input *in = &stream->in;

    prepare_input(stream);
    uint32_t room = chunk_room(in->chunk);
    ASSERT(room > 0); /* or the read would look like an end */
    ssize_t got = read_some(stream, in->chunk->data + in->end, room);
    if (got <= 0) {
        int err = errno;
        stream_settle_input(stream);
        if (got == 0)
            stream_end(stream, STREAM_EOF, 0);
        else if (err != EAGAIN && err != EINTR)
            stream_end(stream, STREAM_ERROR, err);
        return;
    }
    in->chunk->fill += (uint32_t)got;
    in->end += (uint32_t)got;
    stream->reads_large = (uint32_t)got == room && room >= INPUT_ROOM_MIN;
    stream->ops->on_input(stream);
    if (stream->is_open)
        stream_settle_input(stream);
}

/* --- output ----------------------------------------------------------------- */

/* Fill iov from the front of the chain; small extents are copied together.
 * Returns the number of entries and the bytes that they hold. */
static int
gather(struct stream *stream, struct iovec *iov, size_t *total)
{
    struct chain *out = &stream->out;
    char *scratch = stream->loop->scratch;
    size_t used = 0, sum = 0;
    int n = 0;

    for (uint32_t i = 0; i < out->count && sum < FLUSH_MAX; i++) {
        struct extent *extent = chain_at(out, i);
        char *from = extent->chunk->data + extent->off;
        bool copied = extent->len < COALESCE && out->count > 1 &&
            used + extent->len <= LOOP_SCRATCH;
        if (copied) {
            memcpy(scratch + used, from, extent->len);
            from = scratch + used;
            used += extent->len;
        }
        if (copied && n > 0 &&
            (char *)iov[n - 1].iov_base + iov[n - 1].iov_len == from) {
            iov[n - 1].iov_len += extent->len;
        } else {
            if (n == IOV_COUNT)
                break;
            iov[n++] = (struct iovec){from, extent->len};
        }
        sum += extent->len;
    }
    *total = sum;
    return n;
}

/* One write; true when all of what was offered has left. */
static bool
flush_once(struct stream *stream)
{
    struct iovec iov[IOV_COUNT];
    size_t offered;
    int count = gather(stream, iov, &offered);
    ssize_t sent = write_some(stream, iov, count);

    if (sent < 0) {
        if (errno == EAGAIN || errno == EINTR || errno == ENOBUFS) {
            stream->blocked = true;
            return false;
        }
        int err = errno;
        chain_clear(&stream->out);
        stream_end(stream, STREAM_ERROR, err);
        return false;
    }
    chain_drop(&stream->out, (size_t)sent);
    if ((size_t)sent < offered)
        stream->blocked = true;
    if (sent > 0 && stream->ops->on_sent != NULL)
        stream->ops->on_sent(stream, (size_t)sent);
    return (size_t)sent == offered;
}

void
stream_flush(struct stream *stream)
{
    bool was_blocked = stream->blocked;
    size_t budget = FLUSH_MAX;

    stream->has_lingered = false;
    if (!stream->is_open || stream->connecting || stream->blocked ||
        stream->broken)
        return;
    while (stream->is_open && !chain_is_empty(&stream->out)) {
        size_t before = stream->out.bytes;
        if (!flush_once(stream))
            break;
        if (before > budget) {
            /* Others wait too: the rest when the socket says so. */
            stream->blocked = !chain_is_empty(&stream->out);
            break;
        }
        budget -= before;
    }
    if (!stream->is_open)
        return;
    if (stream->blocked && !chain_is_empty(&stream->out))
        chain_compact(&stream->out, &stream->loop->face.chunks);
    if (stream->blocked != was_blocked)
        update_interest(stream);
}

void
stream_stop_lingering(struct stream *stream)
{
    if (stream->is_lingering)
        TAILQ_REMOVE(&stream->loop->lingering, stream, dirty_link);
    stream->is_lingering = false;
}

bool
stream_lingers(struct stream *stream)
{
    if (stream->ops->more_follows == NULL || stream->blocked ||
        stream->out.bytes >= LINGER_BYTES || chain_is_empty(&stream->out) ||
        !stream->ops->more_follows(stream))
        return false;
    if (!stream->has_lingered) {
        stream->has_lingered = true;
        stream->linger_us = stream->loop->face.now_us;
    }
    return stream->loop->face.now_us - stream->linger_us < LINGER_US;
}

void
stream_mark_dirty(struct stream *stream)
{
    if (stream->is_dirty || !stream->is_open)
        return;
    stream->is_dirty = true;
    stream_stop_lingering(stream);
    TAILQ_INSERT_TAIL(&stream->loop->dirty, stream, dirty_link);
}

size_t
stream_unsent(const struct stream *stream)
{
    int queued = 0;

    /* Where the system cannot tell, what stands here has to do. */
    (void)ioctl(stream->io.fd, SIOCOUTQ, &queued);
    return stream->out.bytes + (size_t)queued;
}

void
stream_push_copy(struct stream *stream, const void *data, size_t len)
{
    chain_copy(&stream->out, &stream->loop->face.chunks, data, len);
    stream_mark_dirty(stream);
}

/* --- events ----------------------------------------------------------------- */

static void
on_connect_done(struct stream *stream)
{
    int err = stream->err;
    socklen_t len = sizeof(err);

    if (err == 0 &&
        getsockopt(stream->io.fd, SOL_SOCKET, SO_ERROR, &err, &len) < 0)
        err = errno;
    if (err != 0) {
        stream_end(stream, STREAM_REFUSED, err);
        return;
    }
    stream->connecting = false;
    update_interest(stream);
    if (!chain_is_empty(&stream->out))
        stream_mark_dirty(stream);
    stream->ops->on_connected(stream);
}

/* What is not wanted any more, as others have been served before, is left. */
void
stream_on_ready(struct stream *stream)
{
    int events = stream->events;

    stream->events = 0;
    if (events & wanted_events(stream) & EV_WRITE) {
        stream->blocked = false;
        stream_mark_dirty(stream);
        update_interest(stream);
    }
    if (events & wanted_events(stream) & EV_READ)
        on_readable(stream);
}

static void
on_io(struct ev_loop *ev, ev_io *watcher, int revents)
{
    struct stream *stream = watcher->data;

    (void)ev;
    if (stream->connecting) {
        on_connect_done(stream);
        return;
    }
    stream->events = (uint8_t)(revents & (EV_READ | EV_WRITE));
    loop_add_ready(stream->loop, stream);
}

/* --- life ------------------------------------------------------------------- */

void
stream_set_options(int fd, const struct stream_options *options)
{
    int on = 1;
    int timeout = options->user_timeout_ms;

    /* Each of them fails on a UNIX socket, and none is needed there. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (options->keepalive)
        (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    if (timeout > 0)
        (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout,
                         sizeof(timeout));
}

static void
stream_start(struct stream *stream, struct loop *loop, int fd,
             const struct stream_ops *ops, bool connecting)
{
    *stream = (struct stream){
        .loop = loop,
        .ops = ops,
        .is_open = true,
        .connecting = connecting,
        .reading = true,
        .read_large = STREAM_READ_LARGE,
    };
    ev_io_init(&stream->io, on_io, fd, 0);
    stream->io.data = stream;
    update_interest(stream);
}

void
stream_open(struct stream *stream, struct loop *loop, int fd,
            const struct stream_ops *ops)
{
    stream_start(stream, loop, fd, ops, false);
}

int
stream_connect(struct stream *stream, struct loop *loop,
               const struct address *to, const struct stream_options *options,
               const struct stream_ops *ops)
{
    int fd = socket(to->sa.any.sa_family,
                    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        *stream = (struct stream){.err = errno};
        return -1;
    }
    stream_set_options(fd, options);
    stream_start(stream, loop, fd, ops, true);
    if (connect(fd, &to->sa.any, to->len) < 0 && errno != EINPROGRESS) {
        /* Told like any other refusal, from the loop. */
        stream->err = errno;
        ev_feed_event(loop->ev, &stream->io, EV_WRITE);
        shutdown(fd, SHUT_RDWR);
    }
    return 0;
}

/* What lingers would have left before. */
static void
write_last(struct stream *stream)
{
    struct iovec iov[IOV_COUNT];
    size_t offered;
    int count = gather(stream, iov, &offered);

    (void)!write_some(stream, iov, count);
}

void
stream_close(struct stream *stream)
{
    if (!stream->is_open)
        return;
    if (stream->is_lingering && !stream->broken)
        write_last(stream);
    stream->is_open = false;
    if (stream->events != 0)
        loop_drop_ready(stream->loop, stream);
    stream->events = 0;
    ev_clear_pending(stream->loop->ev, &stream->io);
    update_interest(stream);
    if (stream->is_dirty)
        TAILQ_REMOVE(&stream->loop->dirty, stream, dirty_link);
    stream->is_dirty = false;
    stream_stop_lingering(stream);
    close(stream->io.fd);
    chain_clear(&stream->out);
    chunk_unref(&stream->in.chunk);
    stream->in.pos = stream->in.end = 0;
}

void
stream_set_reading(struct stream *stream, bool reading)
{
    if (stream->reading == reading || !stream->is_open)
        return;
    stream->reading = reading;
    update_interest(stream);
}

bool
stream_peer_has_left(const struct stream *stream)
{
    struct pollfd at = {.fd = stream->io.fd, .events = POLLRDHUP};

    return stream->is_open && poll(&at, 1, 0) == 1;
}
