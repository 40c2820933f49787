/*
 * upstream/lane_handshake.c - the first replies on a connection.
 */
#include "upstream/lane_priv.h"

#include "base/log_limit.h"
#include "upstream/health.h"
#include "upstream/pool.h"
#include "upstream/server.h"

void
lane_become_ready(struct lane *lane)
{
    timer_stop(&lane->timer);
    lane_set_state(lane, LANE_READY);
    lane->was_ready = true;
    server_note_address(lane->server, &lane->address, true);
    server_on_lane_ready(lane);
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

void
lane_take_handshake(struct lane *lane, const struct reply_piece *piece)
{
    struct view reply = view_of(piece->chunk->data + piece->off, piece->len);

    if (lane->must_ping && lane->handshake_left == 1) {
        enum ping_result result = health_judge_ping(reply);
        if (result == PING_ALIVE || result == PING_BUSY)
            lane_become_ready(lane);
        else
            lane_fail(lane, CLOSE_SERVER_HANDSHAKE, "not ready");
    } else if (piece->type == '-') {
        lane_refuse_handshake(lane, reply);
    } else if (piece->last && --lane->handshake_left == 0) {
        lane_become_ready(lane);
    }
}
