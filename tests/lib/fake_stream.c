/*
 * tests/lib/fake_stream.c - net/stream.h between the proxy and a script.
 *
 * Input goes into chunks as the real stream puts it there: small reads stand
 * one behind the other in the shared input chunk, left-overs move in front of
 * what comes next, large reads get a chunk of their own.
 */
#include "net/stream.h"

#include <errno.h>

#include "base/mem.h"
#include "fake_priv.h"

#define READ_SMALL 4096      /* most that one read finds, ... */
#define FLUSH_MAX (1u << 20) /* bytes written for one stream in a turn */

/* The script's end of this connection. */
static struct fake_peer *
stream_peer(const struct stream *stream)
{
    return stream->io.data;
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
        stream->blocked = false;
    stream->ops->on_end(stream, end);
}

/* --- input ---------------------------------------------------------------- */

/* Replace the input chunk by `chunk` (a ref handed over), left-overs moved. */
static void
move_input(struct stream *stream, struct chunk *chunk)
{
    struct stream_input *in = &stream->in;
    uint32_t left = (uint32_t)stream_input_len(stream);

    if (left > 0)
        memcpy(chunk->data + chunk->fill, stream_input_data(stream), left);
    chunk_unref(&in->chunk);
    in->chunk = chunk;
    in->pos = chunk->fill;
    chunk->fill += left;
    in->end = chunk->fill;
}

static void
prepare_input(struct stream *stream, size_t size)
{
    struct stream_input *in = &stream->in;
    size_t left = stream_input_len(stream);

    if (left > 0 && in->chunk->fill == in->end && chunk_room(in->chunk) >= size)
        return;
    if (left < STREAM_SMALL && left + size <= CHUNK_CAP / 2) {
        struct chunk *shared =
            chunk_pool_input(&stream->loop->face.chunks,
                             (uint32_t)(left + size));
        move_input(stream, chunk_ref(shared));
        return;
    }
    size_t whole = MAX(left + size, (size_t)stream->want);
    if (left >= STREAM_SMALL)
        whole = MAX(whole, 2 * left);
    move_input(stream, chunk_new_sized(&stream->loop->face.chunks, whole));
}

void
stream_settle_input(struct stream *stream)
{
    struct stream_input *in = &stream->in;
    size_t left = stream_input_len(stream);

    if (in->chunk == NULL)
        return;
    if (left == 0) {
        chunk_unref(&in->chunk);
        in->pos = in->end = 0;
        stream->want = 0;
    } else if (left < STREAM_SMALL && in->chunk->cap > STREAM_SMALL &&
               stream->want <= CHUNK_CAP) {
        move_input(stream, chunk_new_exact(&stream->loop->face.chunks, left));
    }
}

static bool
end_of_input(struct stream *stream)
{
    const struct fake_peer *peer = stream_peer(stream);

    if (!peer->broken && !peer->finished)
        return false;
    stream_settle_input(stream);
    stream_end(stream, peer->broken ? STREAM_ERROR : STREAM_EOF,
               peer->broken ? ECONNRESET : 0);
    return true;
}

static bool
on_readable(struct stream *stream)
{
    struct fake_peer *peer = stream_peer(stream);
    struct stream_input *in = &stream->in;
    size_t most = stream->reads_large ? STREAM_READ_LARGE : READ_SMALL;
    size_t size = MIN(peer->to_proxy.len - peer->read, peer->piece);

    most = MAX(most, MAX(stream->want, stream->expect));
    size = MIN(size, most);
    if (size == 0)
        return end_of_input(stream);
    prepare_input(stream, size);
    memcpy(in->chunk->data + in->end, peer->to_proxy.data + peer->read, size);
    peer->read += size;
    in->chunk->fill += (uint32_t)size;
    in->end += (uint32_t)size;
    stream->reads_large = size == most;
    stream->ops->on_input(stream);
    if (stream->is_open)
        stream_settle_input(stream);
    return true;
}

/* --- output --------------------------------------------------------------- */

/* Bytes taken, or -1 and stream->err. */
static ssize_t
write_some(struct stream *stream)
{
    struct fake_peer *peer = stream_peer(stream);
    size_t size = MIN(stream->out.bytes, (size_t)FLUSH_MAX);

    if (peer->broken) {
        stream->err = EPIPE;
        return -1;
    }
    if (peer->gone) {
        /* The first write still works; its answer is a reset. */
        peer->broken = true;
        return (ssize_t)size;
    }
    size = MIN(size, peer->window);
    if (size == 0)
        return 0;
    chain_peek(&stream->out, buf_reserve(&peer->from_proxy, size), size);
    peer->from_proxy.len += size;
    if (peer->window != FAKE_ANY)
        peer->window -= size;
    return (ssize_t)size;
}

/* One write; true when all that was there has left. */
static bool
flush_once(struct stream *stream)
{
    size_t offered = stream->out.bytes;
    ssize_t sent = write_some(stream);

    if (sent < 0) {
        chain_clear(&stream->out);
        stream_end(stream, STREAM_ERROR, stream->err);
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
fake_stream_flush(struct stream *stream)
{
    if (!stream->is_open || stream->connecting || stream->blocked ||
        stream->broken)
        return;
    while (stream->is_open && !chain_is_empty(&stream->out)) {
        if (!flush_once(stream))
            break;
    }
    if (stream->is_open && stream->blocked && !chain_is_empty(&stream->out))
        chain_compact(&stream->out, &stream->loop->face.chunks);
}

void
stream_mark_dirty(struct stream *stream)
{
    if (stream->is_dirty || !stream->is_open)
        return;
    stream->is_dirty = true;
    TAILQ_INSERT_TAIL(&stream->loop->dirty, stream, dirty_link);
}

size_t
stream_unsent(const struct stream *stream)
{
    return stream->out.bytes;
}

void
stream_push_copy(struct stream *stream, const void *data, size_t len)
{
    chain_copy(&stream->out, &stream->loop->face.chunks, data, len);
    stream_mark_dirty(stream);
}

/* --- events --------------------------------------------------------------- */

static bool
on_connect_done(struct stream *stream)
{
    switch (stream_peer(stream)->state) {
    case FAKE_ASKED:
    case FAKE_HUNG:
        return false;
    case FAKE_REFUSED:
        stream_end(stream, STREAM_REFUSED, ECONNREFUSED);
        return true;
    case FAKE_OPEN:
        break;
    }
    stream->connecting = false;
    if (!chain_is_empty(&stream->out))
        stream_mark_dirty(stream);
    stream->ops->on_connected(stream);
    return true;
}

bool
fake_stream_event(struct stream *stream)
{
    const struct fake_peer *peer = stream_peer(stream);
    bool any = false;

    if (stream->broken)
        return false;
    if (stream->connecting)
        return on_connect_done(stream);
    if (stream->blocked && (peer->window > 0 || peer->gone)) {
        stream->blocked = false;
        stream_mark_dirty(stream);
        any = true;
    }
    if (stream->reading && !stream->ended)
        any |= on_readable(stream);
    return any;
}

/* --- life ----------------------------------------------------------------- */

void
stream_set_options(int fd, const struct stream_options *options)
{
    (void)fd;
    (void)options;
}

static void
stream_start(struct stream *stream, struct fake_peer *peer,
             const struct stream_ops *ops, bool connecting)
{
    *stream = (struct stream){
        .loop = peer->loop,
        .ops = ops,
        .is_open = true,
        .connecting = connecting,
        .reading = true,
    };
    stream->io.fd = FAKE_FD_FIRST;
    stream->io.data = peer;
    peer->stream = stream;
}

void
stream_open(struct stream *stream, struct loop *loop, int fd,
            const struct stream_ops *ops)
{
    size_t number = (size_t)(fd - FAKE_FD_FIRST);

    ASSERT(fd >= FAKE_FD_FIRST && number < loop->peer_count);
    stream_start(stream, loop->peers[number], ops, false);
}

int
stream_connect(struct stream *stream, struct loop *loop,
               const struct address *to, const struct stream_options *options,
               const struct stream_ops *ops)
{
    (void)options;
    if (loop->no_descriptors) {
        *stream = (struct stream){.err = EMFILE};
        return -1;
    }
    struct fake_peer *peer = fake_peer_new(loop);
    peer->port = ntohs(to->sa.v4.sin_port);
    peer->to = *to;
    stream_start(stream, peer, ops, true);
    return 0;
}

void
stream_close(struct stream *stream)
{
    struct fake_peer *peer = stream_peer(stream);

    if (!stream->is_open)
        return;
    stream->is_open = false;
    if (stream->is_dirty)
        TAILQ_REMOVE(&stream->loop->dirty, stream, dirty_link);
    stream->is_dirty = false;
    peer->closed = true;
    peer->stream = NULL;
    chain_clear(&stream->out);
    chunk_unref(&stream->in.chunk);
    stream->in.pos = stream->in.end = 0;
}

void
stream_set_reading(struct stream *stream, bool reading)
{
    if (stream->is_open)
        stream->reading = reading;
}

bool
stream_peer_has_left(const struct stream *stream)
{
    const struct fake_peer *peer = stream_peer(stream);

    return stream->is_open && (peer->broken || peer->finished);
}
