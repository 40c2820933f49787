/*
 * tests/lib/fake_net.h - a net without sockets, and with a clock that waits.
 *
 *     proxy: struct stream  <---- to_proxy ----   script: struct fake_peer
 *                           ---- from_proxy --->
 *
 * fake_loop.c and fake_stream.c stand behind net/loop.h and net/stream.h in
 * place of the real ones.  Every connection has a peer, which a script holds:
 * it says what the other host does, and when.  Nothing happens by itself; the
 * loop turns only inside fake_settle() and fake_advance(), one read and one
 * round of writes a stream in each turn, as the real one does.
 *
 * Peers belong to the loop and live as long as it, whatever becomes of their
 * streams.  One thread.
 */
#ifndef TESTS_LIB_FAKE_NET_H
#define TESTS_LIB_FAKE_NET_H

#include <stdbool.h>

#include "base/buf.h"
#include "net/address.h"
#include "net/loop.h"

#define FAKE_ANY ((size_t)-1) /* without a bound */

struct stream;

enum fake_state {
    FAKE_ASKED, /* the proxy connects; not answered yet */
    FAKE_HUNG,  /* ... and never will be */
    FAKE_REFUSED,
    FAKE_OPEN
};

struct fake_peer {
    struct loop *loop;
    struct stream *stream; /* NULL: not opened yet, or closed */
    uint16_t port;         /* that the proxy connected to; 0: a client */
    struct address to;     /* likewise */
    enum fake_state state;
    struct buf to_proxy;   /* all that was ever sent */
    size_t read;           /* of it, by the proxy */
    struct buf from_proxy; /* all that the proxy has written */
    size_t taken;          /* of it, by the script */
    size_t piece;          /* most bytes that one read of the proxy finds */
    size_t window;         /* bytes that the proxy may write for now */
    bool finished;         /* no more will be sent: the proxy sees EOF */
    bool gone;             /* what the proxy writes is answered by a reset */
    bool broken;           /* a reset is on its way to the proxy */
    bool closed;           /* the proxy has closed its end */
};

/* --- time and turns ------------------------------------------------------- */

/* Turn until nothing happens any more without the clock going on.  False: it
 * does not come to rest. */
bool fake_settle(struct loop *loop) MUST_CHECK;
/* Let time go by, stopping at every timer on the way. */
bool fake_advance(struct loop *loop, uint64_t us) MUST_CHECK;

/* Bytes in chunks that somebody still holds. */
uint64_t fake_live_bytes(const struct loop *loop);

/* --- connections ---------------------------------------------------------- */

/* A client has connected; *fd is for stream_open(). */
struct fake_peer *fake_client(struct loop *loop, int *fd);
/* The oldest connection to this port that waits for an answer, or NULL. */
struct fake_peer *fake_find_asked(struct loop *loop, uint16_t port);
/* Connections to this port that the proxy has not closed. */
unsigned fake_count(const struct loop *loop, uint16_t port);
/* From now on the system has no descriptors for connections, or has again. */
void fake_set_descriptors(struct loop *loop, bool available);

void fake_answer(struct fake_peer *peer, enum fake_state state);
void fake_send(struct fake_peer *peer, struct view bytes);
/* Close one direction (the peer still reads), or both, or break it off. */
void fake_finish(struct fake_peer *peer);
void fake_close(struct fake_peer *peer);
void fake_reset(struct fake_peer *peer);

/* What the proxy has written and fake_take() has not removed. */
struct view fake_received(const struct fake_peer *peer);
void fake_take(struct fake_peer *peer, size_t len);

#endif
