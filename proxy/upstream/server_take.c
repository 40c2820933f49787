/*
 * upstream/server_take.c - a shared lane becomes somebody's own.
 *
 *   shared, in its place --take--> leaving --idle--> private, leased
 *                                     |
 *                                     +-- the lease ends: back in its place
 *
 * While it is leaving nobody else gives it calls: those that belong to its place
 * are parked, so that none overtakes those that are still unanswered on it.
 */
#include "upstream/pool.h"
#include "upstream/server_priv.h"

bool
server_take_shared(struct server *server, unsigned number,
                   struct lane_lease *lease)
{
    struct lane **lanep = server_shared_place(server, lease->key, number);
    struct lane *lane = *lanep;

    ASSERT(lease->lane == NULL && !lease->is_waiting);
    /* Whoever comes next must have room for another. */
    if (lane == NULL || lane->state != LANE_READY ||
        !server_has_private_room(server) ||
        server->lane_count >= server->lane_max)
        return false;
    *lanep = NULL;
    lane->heir = lease;
    lease->taken = lane;
    lease->taken_number = number;
    lease->is_waiting = true;
    if (lane_is_idle(lane))
        server_hand_over(lane);
    return true;
}

bool
server_is_leaving(const struct server *server, struct lane_key key,
                  unsigned number)
{
    const struct lane *lane;
    size_t count = server->settings->server_connections;

    TAILQ_FOREACH(lane, &server->lanes, link)
    {
        if (lane->heir != NULL && lane_key_equal(lane->key, key) &&
            lane->heir->taken_number % count == number % count)
            return true;
    }
    return false;
}

/* Nobody is to have it any more. */
static struct lane_lease *
forget_heir(struct lane *lane)
{
    struct lane_lease *lease = lane->heir;

    lane->heir = NULL;
    lease->taken = NULL;
    lease->is_waiting = false;
    return lease;
}

void
server_hand_over(struct lane *lane)
{
    struct lane_lease *lease = forget_heir(lane);
    struct server *server = lane->server;

    lane->kind = LANE_PRIVATE;
    lane->lease = lease;
    lease->lane = lane;
    server->private_count++;
    cell_dec(&server->stats->lanes_shared);
    cell_inc(&server->stats->lanes_private);
}

void
server_untake(struct server *server, struct lane_lease *lease)
{
    struct lane *lane = lease->taken;
    struct lane **lanep =
        server_shared_place(server, lease->key, lease->taken_number);

    (void)forget_heir(lane);
    /* As nobody else has made one there meanwhile. */
    ASSERT(*lanep == NULL);
    *lanep = lane;
    server_serve_waiters(server);
}

void
server_disinherit(struct lane *lane)
{
    struct lane_lease *lease = forget_heir(lane);

    lease->on_gone(lease);
}
