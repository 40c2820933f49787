/*
 * upstream/server_parked.c - calls that wait for a shared lane to be made.
 */
#include "base/mem.h"
#include "upstream/server_priv.h"

struct parked_call {
    TAILQ_ENTRY(parked_call) link;
    struct call *call;
    struct lane_key key;
    unsigned number;
};

static struct parked_call *
find_parked(struct server *server, const struct call *call)
{
    struct parked_call *parked;

    TAILQ_FOREACH(parked, &server->parked, link)
    {
        if (parked->call == call)
            break;
    }
    return parked;
}

static bool
has_parked_key(const struct server *server, struct lane_key key)
{
    const struct parked_call *parked;

    TAILQ_FOREACH(parked, &server->parked, link)
    {
        if (lane_key_equal(parked->key, key))
            return true;
    }
    return false;
}

static void
park(struct server *server, struct lane_key key, unsigned number,
     struct call *call)
{
    struct parked_call *parked = MEM_NEW(struct parked_call);

    parked->call = call;
    parked->key = key;
    parked->number = number;
    call->state = CALL_WAITING;
    TAILQ_INSERT_TAIL(&server->parked, parked, link);
    cell_inc(&server->stats->in_queue);
    cell_add(&server->stats->in_queue_bytes, call->body.len);
}

static void
unpark(struct server *server, struct parked_call *parked)
{
    parked->call->state = CALL_IDLE;
    TAILQ_REMOVE(&server->parked, parked, link);
    cell_dec(&server->stats->in_queue);
    cell_sub(&server->stats->in_queue_bytes, parked->call->body.len);
    mem_free(parked);
}

void
server_fail_parked(struct server *server, enum close_reason why)
{
    struct parked_call *parked;

    while ((parked = TAILQ_FIRST(&server->parked)) != NULL) {
        struct call *call = parked->call;
        unpark(server, parked);
        call->ops->on_lost(call, why, false);
    }
}

/* Those of a login that has ended, which nobody waits for. */
void
server_fail_parked_of(struct server *server, uint16_t user)
{
    struct parked_call *parked = TAILQ_FIRST(&server->parked);

    while (parked != NULL) {
        struct parked_call *next = TAILQ_NEXT(parked, link);
        struct call *call = parked->call;
        if (parked->key.user == user) {
            unpark(server, parked);
            call->ops->on_lost(call, CLOSE_SERVER_IDLE, false);
        }
        parked = next;
    }
}

/* The oldest that need not wait for a user whom a server has refused. */
static struct parked_call *
first_parked(const struct server *server)
{
    struct parked_call *parked;
    int64_t pause_ms;

    TAILQ_FOREACH(parked, &server->parked, link)
    {
        if (login_may_connect(server->pool, parked->key.user, &pause_ms))
            break;
    }
    return parked;
}

/* Those that have to wait for that are served later. */
static void
await_logins(struct server *server)
{
    const struct parked_call *parked;
    int64_t pause_ms;

    TAILQ_FOREACH(parked, &server->parked, link)
    {
        if (!login_may_connect(server->pool, parked->key.user, &pause_ms))
            server_serve_within(server, pause_ms);
    }
}

/* The oldest first, as long as there are lanes for them. */
void
server_serve_parked(struct server *server)
{
    struct parked_call *parked;

    while ((parked = first_parked(server)) != NULL) {
        struct call *call = parked->call;
        struct lane *lane =
            server_shared_lane(server, parked->key, parked->number);
        if (lane == NULL)
            break;
        unpark(server, parked);
        lane_submit(lane, call);
    }
    if (!TAILQ_EMPTY(&server->parked) && server_rests(server))
        server_fail_parked(server, CLOSE_SERVER_CONNECT);
    await_logins(server);
}

bool
server_submit_slow(struct server *server, struct lane_key key, unsigned number,
                   struct call *call)
{
    struct lane *lane = NULL;

    if (unlikely(server_is_off(server)) &&
        server_refuses(server, key)) {
        cell_inc(&server->stats->refused_fast);
        return false;
    }
    if (likely(TAILQ_EMPTY(&server->parked)) || !has_parked_key(server, key))
        lane = server_shared_lane(server, key, number);
    if (likely(lane != NULL)) {
        lane_submit(lane, call);
        return true;
    }
    if (server_refuses(server, key))
        return false;
    park(server, key, number, call);
    return true;
}

bool
server_withdraw(struct server *server, struct call *call)
{
    if (call->state != CALL_WAITING)
        return false;
    if (call->lane != NULL)
        return lane_withdraw(call);
    unpark(server, find_parked(server, call));
    return true;
}
