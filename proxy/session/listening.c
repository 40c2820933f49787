/*
 * session/listening.c - frames, and silence.
 */
#include "session/listening.h"

#include "upstream/pool.h"

#define AGAIN_MS 20       /* pause after a failed attempt, doubled each time */
#define AGAIN_DOUBLINGS 6 /* ... so often */
#define US_PER_MS 1000

static struct loop *
loop_of(const struct listening *listening)
{
    return listening->server->pool->loop;
}

void
listening_init(struct listening *listening, struct server *server,
               uint8_t resp, uint16_t user)
{
    listening->server = server;
    listening->lease.key = (struct lane_key){.user = user, .resp = resp};
    listening->lease.listens = true;
}

void
listening_end(struct listening *listening, enum close_reason why)
{
    listening->is_closing = true;
    server_drop_lease(listening->server, &listening->lease, why);
    buf_fini(&listening->gathered);
}

bool
listening_connect(struct listening *listening)
{
    struct lane_lease *lease = &listening->lease;

    if (lease->lane == NULL && !lease->is_waiting)
        server_lease(listening->server, lease);
    return lease->lane != NULL || lease->is_waiting;
}

int64_t
listening_pause_ms(unsigned failures)
{
    return AGAIN_MS << MIN(failures, AGAIN_DOUBLINGS);
}

void
listening_on_ready(struct listening *listening)
{
    listening->is_pinged = false;
    listening->heard_us = loop_now_us(loop_of(listening));
}

void
listening_on_gone(struct listening *listening)
{
    listening->is_too_long = false;
    buf_fini(&listening->gathered);
}

/* --- frames ------------------------------------------------------------------- */

static enum heard
take_gathered(struct listening *listening, struct extent *frame)
{
    bool is_too_long = listening->is_too_long;
    struct buf *gathered = &listening->gathered;

    *frame = extent_copy_alone(loop_chunks(loop_of(listening)),
                               buf_view(gathered));
    listening->is_too_long = false;
    buf_fini(gathered);
    return is_too_long ? HEARD_TOO_LONG : HEARD_WHOLE;
}

enum heard
listening_hear(struct listening *listening, const struct reply_piece *piece,
               size_t longest, struct extent *frame)
{
    struct buf *gathered = &listening->gathered;

    listening->heard_us = loop_now_us(loop_of(listening));
    listening->is_pinged = false;
    if (likely(piece->last && piece->size == piece->len)) {
        *frame = (struct extent){chunk_ref(piece->chunk), piece->off,
                                 piece->len};
        return HEARD_WHOLE;
    }
    if (gathered->len + piece->len > longest)
        listening->is_too_long = true;
    if (!listening->is_too_long || gathered->len == 0)
        buf_append(gathered, piece->chunk->data + piece->off, piece->len);
    return piece->last ? take_gathered(listening, frame) : HEARD_PART;
}

/* --- silence ------------------------------------------------------------------ */

void
listening_look(struct listening *listening, uint64_t now_us)
{
    const struct pool_settings *settings = listening->server->settings;
    uint64_t interval_us = (uint64_t)settings->probe_interval_ms * US_PER_MS;
    uint64_t timeout_us = (uint64_t)settings->probe_timeout_ms * US_PER_MS;
    struct lane *lane = listening->lease.lane;

    if (!listening_is_ready(listening) || interval_us == 0)
        return;
    if (listening->is_pinged && now_us > listening->pinged_us + timeout_us) {
        lane_close(&lane, CLOSE_SERVER_SILENT);
    } else if (!listening->is_pinged &&
               now_us > listening->heard_us + interval_us) {
        listening->is_pinged = true;
        listening->pinged_us = now_us;
        lane_say(lane, VIEW("*1\r\n$4\r\nPING\r\n"));
    }
}
