/*
 * tests/lib/fake_peer.c - the other hosts, as a script plays them.
 */
#include "base/mem.h"
#include "fake_priv.h"

struct fake_peer *
fake_peer_new(struct loop *loop)
{
    struct fake_peer *peer = MEM_NEW(struct fake_peer);

    peer->loop = loop;
    peer->state = FAKE_ASKED;
    peer->piece = FAKE_ANY;
    peer->window = FAKE_ANY;
    loop->peers =
        mem_realloc(loop->peers, (loop->peer_count + 1) * sizeof(*loop->peers));
    loop->peers[loop->peer_count++] = peer;
    return peer;
}

void
fake_peer_free(struct fake_peer *peer)
{
    buf_fini(&peer->to_proxy);
    buf_fini(&peer->from_proxy);
    mem_free(peer);
}

struct fake_peer *
fake_client(struct loop *loop, int *fd)
{
    struct fake_peer *peer = fake_peer_new(loop);

    peer->state = FAKE_OPEN;
    *fd = FAKE_FD_FIRST + (int)loop->peer_count - 1;
    return peer;
}

struct fake_peer *
fake_find_asked(struct loop *loop, uint16_t port)
{
    for (size_t i = 0; i < loop->peer_count; i++) {
        struct fake_peer *peer = loop->peers[i];
        if (peer->port == port && peer->state == FAKE_ASKED && !peer->closed)
            return peer;
    }
    return NULL;
}

unsigned
fake_count(const struct loop *loop, uint16_t port)
{
    unsigned count = 0;

    for (size_t i = 0; i < loop->peer_count; i++)
        count += loop->peers[i]->port == port && !loop->peers[i]->closed;
    return count;
}

void
fake_set_descriptors(struct loop *loop, bool available)
{
    loop->no_descriptors = !available;
}

void
fake_answer(struct fake_peer *peer, enum fake_state state)
{
    ASSERT(peer->state == FAKE_ASKED && state != FAKE_ASKED);
    peer->state = state;
}

void
fake_send(struct fake_peer *peer, struct view bytes)
{
    buf_append_view(&peer->to_proxy, bytes);
}

void
fake_finish(struct fake_peer *peer)
{
    peer->finished = true;
}

void
fake_close(struct fake_peer *peer)
{
    peer->finished = true;
    peer->gone = true;
    /* Closing with bytes unread is answered to the other side by a reset. */
    peer->broken = peer->window == 0;
}

void
fake_reset(struct fake_peer *peer)
{
    peer->gone = true;
    peer->broken = true;
}

struct view
fake_received(const struct fake_peer *peer)
{
    /* Nothing received is still a place: callers compare with memcmp(). */
    if (peer->from_proxy.len == peer->taken)
        return VIEW("");
    return view_of(peer->from_proxy.data + peer->taken,
                   peer->from_proxy.len - peer->taken);
}

void
fake_take(struct fake_peer *peer, size_t len)
{
    ASSERT(len <= peer->from_proxy.len - peer->taken);
    peer->taken += len;
}
