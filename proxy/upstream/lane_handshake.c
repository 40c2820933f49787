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

/* After its reply only that to PING may be due. */
static bool
is_role(const struct lane *lane)
{
    return handshake_has_role(lane->server->settings, lane->key) &&
        lane->handshake_left == (lane->must_ping ? 2 : 1);
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

/* It is a matter of one client, not of the server's health.  Not so when the
 * server is not ready, or wants us to authenticate. */
static bool
is_database_refused(const struct lane *lane, struct view reply)
{
    static const char *const words[] = {"-ERR ", "-NOPERM "};

    if (!handshake_is_database(lane->server->settings, lane->key,
                               lane->must_ping, lane->handshake_left))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t len = strlen(words[i]);
        if (reply.len > len && memcmp(reply.data, words[i], len) == 0)
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

/* Clients are told in the server's words. */
static void
lane_refuse_database(struct lane *lane, struct view reply)
{
    struct view text =
        view_trim_line(view_of(reply.data + 1, reply.len - 1));

    mem_free(lane->server->database_error);
    lane->server->database_error = mem_view_dup(text);
    lane->detail = lane->server->database_error;
    lane_close(&lane, CLOSE_SERVER_DATABASE);
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
    } else if (piece->type == '-' &&
               (is_busy(reply) || is_database_refused(lane, reply))) {
        lane_refuse_database(lane, reply);
    } else if (piece->type == '-') {
        lane_refuse_handshake(lane, reply);
    } else if (is_role(lane) &&
               !handshake_has_right_role(lane->key, reply)) {
        lane_refuse_role(lane);
    } else if (piece->last && --lane->handshake_left == 0) {
        lane_become_ready(lane);
    }
}
