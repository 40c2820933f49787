/*
 * upstream/lane_handshake.c - the first replies on a connection.
 */
#include "upstream/lane_priv.h"

#include <string.h>

#include "base/log_limit.h"
#include "base/mem.h"
#include "upstream/handshake.h"
#include "upstream/health.h"
#include "upstream/pool.h"
#include "upstream/server.h"

const struct login *
lane_login(const struct lane *lane)
{
    return login_is_somebody(lane->key.user)
        ? login_get(lane->server->pool, lane->key.user)
        : NULL;
}

void
lane_become_ready(struct lane *lane)
{
    timer_stop(&lane->timer);
    lane_set_state(lane, LANE_READY);
    lane->was_ready = true;
    server_note_address(lane->server, &lane->address, true);
    server_on_lane_ready(lane);
    if (unlikely(lane->kind == LANE_LISTENING))
        lane->lease->on_ready(lane->lease);
    else
        lane_push_waiting(lane);
}

static void
lane_refuse_handshake(struct lane *lane, struct view reply)
{
    char quoted[160];

    if (!lane->server->pool->is_quiet)
        log_error_limited(lane->server->settings->name, lane->server->name,
                          "server refused the handshake",
                          "pool=%s server=%s reply=%s",
                          lane->server->settings->name, lane->server->name,
                          log_quote(quoted, sizeof(quoted), reply));
    lane_fail(lane, CLOSE_SERVER_HANDSHAKE, "see the line before");
}

/* An old primary that is back says so until somebody tells it; but it is not
 * where Sentinels send us.  A replica is here when they are ahead of it. */
static void
lane_refuse_role(struct lane *lane)
{
    if (lane->key.is_readonly) {
        lane_fail(lane, CLOSE_SERVER_NOT_REPLICA, "");
        return;
    }
    cell_inc(&lane->server->stats->fenced_connects);
    lane_fail(lane, CLOSE_SERVER_NOT_PRIMARY, "");
}

static bool
begins_with_one_of(struct view reply, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (view_begins(reply, view_str(*words)))
            return true;
    }
    return false;
}

/* It runs a script, and is well. */
static bool
is_busy(struct view reply)
{
    return health_judge_ping(reply) == PING_BUSY;
}

/* CLOSE_NONE, or that it refuses what a client has chosen: a matter of that client,
 * not of the server's health.  Not so when the server is not ready, has no room, or
 * wants us to authenticate; unless clients do that by themselves. */
static enum close_reason
refusal_reason(const struct lane *lane, enum handshake_step step,
               struct view reply)
{
    static const char *const select[] = {"-ERR ", "-NOPERM ", NULL};
    static const char *const login[] = {"-WRONGPASS ", "-NOPERM ",
                                        "-NOAUTH ", "-ERR AUTH ", NULL};
    bool is_chosen = lane->key.db > 0 || login_is_somebody(lane->key.user);
    bool asks = lane->server->settings->auth_by_servers;

    if (is_busy(reply) || (step == HANDSHAKE_SELECT && is_chosen &&
                           begins_with_one_of(reply, select)))
        return CLOSE_SERVER_DATABASE;
    if ((step == HANDSHAKE_LOGIN && begins_with_one_of(reply, login)) ||
        (step != HANDSHAKE_AUTH && asks &&
         view_begins(reply, VIEW("-NOAUTH "))))
        return CLOSE_SERVER_LOGIN;
    return CLOSE_NONE;
}

/* Clients are told in the server's words. */
static void
lane_refuse_client(struct lane *lane, enum close_reason why, struct view reply)
{
    struct view text =
        view_trim_line(view_of(reply.data + 1, reply.len - 1));

    /* Of HELLO it has other words for that. */
    if (view_begins(reply, VIEW("-NOAUTH ")))
        text = VIEW("NOAUTH Authentication required.");
    if (lane->lease != NULL && why == CLOSE_SERVER_LOGIN)
        lane->lease->was_refused = true;
    mem_free(lane->server->refusal);
    lane->server->refusal = mem_view_dup(text);
    lane->detail = lane->server->refusal;
    if (why == CLOSE_SERVER_LOGIN)
        login_note_refused(lane->server->pool, lane->key.user);
    lane_close(&lane, why);
}

/* Who is kept from choosing a database is in it all the same, or may choose it. */
static bool
is_of_no_matter(const struct lane *lane, enum handshake_step step,
                struct view reply)
{
    return !is_busy(reply) &&
        (step == HANDSHAKE_KEEP ||
         (step == HANDSHAKE_SELECT && lane->has_database));
}

static void
lane_take_error(struct lane *lane, enum handshake_step step, struct view reply)
{
    enum close_reason why = refusal_reason(lane, step, reply);

    if (why == CLOSE_NONE)
        lane_refuse_handshake(lane, reply);
    else
        lane_refuse_client(lane, why, reply);
}

static void
lane_take_pong(struct lane *lane, struct view reply)
{
    enum ping_result result = health_judge_ping(reply);

    if (result == PING_ALIVE || result == PING_BUSY)
        lane_become_ready(lane);
    else
        lane_fail(lane, CLOSE_SERVER_HANDSHAKE, "not ready");
}

void
lane_take_handshake(struct lane *lane, const struct reply_piece *piece)
{
    struct view reply = view_of(piece->chunk->data + piece->off, piece->len);
    struct lane_key key = lane->key;

    key.resp = lane->greeted_resp;
    enum handshake_step step =
        handshake_step(lane->server->settings, lane_login(lane), key,
                       lane->must_ping, lane->handshake_left);

    if (piece->type == RESP_PUSH) {
        cell_add(&lane->server->stats->discarded_pushes, piece->last);
        return; /* it answers nothing */
    }
    if (step == HANDSHAKE_KEEP)
        lane->has_database = piece->type != '-';
    if (step == HANDSHAKE_PING)
        lane_take_pong(lane, reply);
    else if (piece->type == '-' && !is_of_no_matter(lane, step, reply))
        lane_take_error(lane, step, reply);
    else if (step == HANDSHAKE_ROLE &&
             !handshake_has_right_role(lane->key, reply))
        lane_refuse_role(lane);
    else if (piece->last && --lane->handshake_left == 0)
        lane_become_ready(lane);
}
