/*
 * upstream/lane_health.c - a lane that is not answered, or not trusted yet.
 */
#include "upstream/lane_priv.h"
#include "upstream/pool.h"
#include "upstream/server.h"

/* A timer that fires later than this was kept waiting by a busy loop, which may
 * have had no time to read either. */
#define TIMER_LATE_MS 100

void
lane_start_timer(struct lane *lane, int64_t ms)
{
    lane->timer_due_us =
        loop_now_us(lane->server->pool->loop) + (uint64_t)ms * 1000;
    timer_start(&lane->timer, ms);
}

void
lane_on_heard(struct lane *lane)
{
    server_note_heard(lane->server, loop_now_us(lane->server->pool->loop));
    if (likely(lane->sent_limit == LANE_NO_LIMIT))
        return;
    lane->sent_limit = LANE_NO_LIMIT;
    if (lane->is_suspect)
        timer_stop(&lane->timer);
    lane->is_suspect = false;
}

/* Nothing has come since it became suspect. */
static void
lane_on_silence(struct lane *lane)
{
    if (lane->paused) { /* as nobody reads what comes */
        lane_start_timer(lane, LANE_SILENCE_MS);
        return;
    }
    server_on_silence(lane->server, lane->suspect_us);
    if (lane->state != LANE_CLOSED)
        lane_fail(lane, CLOSE_SERVER_SILENT, "");
}

void
lane_suspect(struct lane *lane)
{
    uint64_t now_us = loop_now_us(lane->server->pool->loop);

    if (lane->paused || lane->state != LANE_READY)
        return;
    if (!lane->is_suspect) {
        lane->is_suspect = true;
        lane->suspect_us = now_us;
        lane->sent_limit = 0;
        lane_start_timer(lane, LANE_SILENCE_MS);
    } else if (now_us >= lane->suspect_us + LANE_BURST_MS * 1000) {
        lane_on_silence(lane);
    }
}

void
lane_set_gentle(struct lane *lane, bool is_gentle)
{
    if (lane->state == LANE_CLOSED || lane->is_suspect)
        return;
    lane->sent_limit = is_gentle ? LANE_GENTLE : LANE_NO_LIMIT;
    if (!is_gentle)
        lane_push_waiting(lane);
}

void
lane_on_timeout(struct lane *lane)
{
    if (loop_now_us(lane->server->pool->loop) >
        lane->timer_due_us + TIMER_LATE_MS * 1000)
        lane_start_timer(lane, TIMER_LATE_MS); /* first see what has come */
    else if (lane->state == LANE_READY)
        lane_on_silence(lane);
    else
        lane_on_connect_timeout(lane);
}
