/*
 * net/stream.h - bytes that have arrived, bytes that shall leave.
 *
 *              in.chunk                               out
 *   read --> [ done | pos .. end | free ]    [extent][extent] --> writev
 *                      ^ the owner takes       ^ the owner pushes
 *
 * A stream is embedded in its owner (a session, a lane).  It speaks of
 * completions: on_input says that bytes stand in `in`; the owner takes some by
 * stream_consume() and may keep the chunk by a ref.  What it leaves stays and
 * is shown again, with more behind it, in one piece; stream->want says how
 * many bytes in one piece would help (0: any).  stream_push() queues bytes,
 * which are written together at the end of the turn; on_sent says how many
 * have left.  Where the owner says that more will follow, little output waits
 * for it, a millisecond at most.
 *
 * Small pieces left over are moved out of the shared input chunk, so an idle or
 * slow peer pins little (at most STREAM_SMALL bytes, or a chunk of its own).
 *
 * on_end says that the peer has closed its side (STREAM_EOF: nothing more comes
 * in, output may still leave) or that the connection is broken, in which case
 * it is the last callback.  A break may follow an EOF.  The owner still calls
 * stream_close(), in the callback or later.
 *
 * TLS will stand behind the same header: the two functions that touch the
 * socket, read_some() and write_some(), are the only ones to change.
 */
#ifndef NET_STREAM_H
#define NET_STREAM_H

#include <stdbool.h>
#include <sys/queue.h>

#include "base/chain.h"
#include "net/address.h"
#include "net/loop.h"

#define STREAM_SMALL 1024        /* left-overs below this move out */
#define STREAM_READ_LARGE CHUNK_LARGE_CAP /* unless the owner sets less */
#define STREAM_SLACK 512 /* room behind a message of the usual size */

struct stream;

enum stream_end {
    STREAM_EOF,    /* an orderly close; we may still write */
    STREAM_ERROR,  /* reset, timed out, unreachable: errno in stream->err */
    STREAM_REFUSED /* the connection could not be made */
};

struct stream_ops {
    void (*on_connected)(struct stream *stream); /* stream_connect() only */
    void (*on_input)(struct stream *stream);
    void (*on_sent)(struct stream *stream, size_t bytes);
    void (*on_end)(struct stream *stream, enum stream_end end);
    /* Will more be pushed soon, without anything from this peer?  May be
     * NULL: no. */
    bool (*more_follows)(struct stream *stream);
};

struct stream_input {
    struct chunk *chunk; /* NULL: nothing is here */
    uint32_t pos;        /* first byte not yet taken */
    uint32_t end;
};

struct stream {
    ev_io io;
    struct loop *loop;
    const struct stream_ops *ops;
    TAILQ_ENTRY(stream) dirty_link; /* is_dirty, is_lingering */
    struct stream_input in;
    struct chain out;
    uint32_t want;   /* bytes the owner would like in one piece */
    uint32_t expect; /* bytes that messages lately had: a first read's size */
    uint32_t read_large; /* read size once the peer fills its buffer */
    int err;         /* errno, with STREAM_ERROR and STREAM_REFUSED */
    uint64_t linger_us; /* since when its output waits */
    bool is_open;
    bool is_dirty;   /* is among those that are written at the turn's end */
    bool is_lingering; /* is among those that wait for more */
    bool has_lingered; /* since linger_us, whatever it is among now */
    bool reading;    /* the owner wants input */
    bool blocked;    /* the socket takes no more for now */
    uint8_t events;  /* that have come and are served later in this turn */
    bool connecting : 1;
    bool ended : 1;  /* on_end has been called: no more input */
    bool broken : 1; /* no more output either */
    bool reads_large : 1; /* the last read filled its buffer */
    bool keeps_input : 1; /* the owner says: much more will come at once */
};

/* How sockets of a pool are to behave. */
struct stream_options {
    bool keepalive;
    int user_timeout_ms; /* 0: the system's */
};

/* Set TCP_NODELAY and the options on a socket; harmless on UNIX sockets. */
void stream_set_options(int fd, const struct stream_options *options);

/* Take over a connected, non-blocking descriptor and start reading. */
void stream_open(struct stream *stream, struct loop *loop, int fd,
                 const struct stream_ops *ops);

/* Start connecting.  Success and failure arrive by callback, never from inside
 * this call, except when the system has no descriptor left: -1, stream->err. */
int stream_connect(struct stream *stream, struct loop *loop,
                   const struct address *to,
                   const struct stream_options *options,
                   const struct stream_ops *ops) MUST_CHECK;

/* Close now: nothing more is read or written, no callback comes. */
void stream_close(struct stream *stream);

/* Stop or go on reading.  Bytes in `in` stay. */
void stream_set_reading(struct stream *stream, bool reading);

/* Has the peer closed its side, or is the connection broken?  For an owner that
 * does not read, and is told of neither. */
bool stream_peer_has_left(const struct stream *stream) MUST_CHECK;

static inline size_t
stream_input_len(const struct stream *stream)
{
    return stream->in.end - stream->in.pos;
}

static inline const char *
stream_input_data(const struct stream *stream)
{
    return stream->in.chunk->data + stream->in.pos;
}

/* The first `len` bytes of input have been taken. */
static inline void
stream_consume(struct stream *stream, size_t len)
{
    ASSERT(len <= stream_input_len(stream));
    stream->in.pos += (uint32_t)len;
}

/* A message of this size has been taken: the next is likely as large. */
static inline void
stream_note_message(struct stream *stream, size_t size)
{
    if (likely(size < STREAM_SMALL && stream->expect == 0))
        return;
    stream->expect -= stream->expect / 4;
    if (size > stream->expect)
        stream->expect =
            (uint32_t)MIN(size, (size_t)STREAM_READ_LARGE - STREAM_SLACK);
    else if (stream->expect < STREAM_SMALL)
        stream->expect = 0;
}

/* After input was consumed outside on_input: let go of what is not needed. */
void stream_settle_input(struct stream *stream);

/* Something was put into stream->out: write it at the end of the turn. */
void stream_mark_dirty(struct stream *stream);

static inline void
stream_push(struct stream *stream, struct chunk *chunk, uint32_t off,
            uint32_t len)
{
    chain_push_dense(&stream->out, chunk, off, len);
    if (!stream->is_dirty)
        stream_mark_dirty(stream);
}

/* Bytes that the other host has not got yet, those of the kernel included. */
size_t stream_unsent(const struct stream *stream);

/* Queue a copy of bytes. */
void stream_push_copy(struct stream *stream, const void *data, size_t len);

#endif
