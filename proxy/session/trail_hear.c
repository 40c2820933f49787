/*
 * session/trail_hear.c - what servers say to a client that tracks over
 * connections of its own.
 */
#include "base/mem.h"
#include "session/trail_priv.h"
#include "session/news.h"

/* --- CLIENT TRACKING --------------------------------------------------------- */

void
trail_on_yes(struct trail_lane *own)
{
    struct trail *trail = own->trail;

    own->state = TRAIL_ON;
    own->has_failed = false;
    trail->failures = 0;
    if (own->has_missed)
        trail_forget_all(trail);
    own->has_missed = false;
    trail_look_later(trail, 0);
}

void
trail_on_no(struct trail_lane *own, struct view text)
{
    struct trail *trail = own->trail;

    own->state = TRAIL_REFUSED;
    own->has_failed = true;
    mem_free(trail->refusal);
    trail->refusal = mem_view_dup(view_trim_line(text));
    trail_forget_all(trail);
    trail_look_later(trail, 0);
}

/* --- news -------------------------------------------------------------------- */

/* Of the lane itself: no answer that is still to come is older. */
static void
tell(struct trail_lane *own, struct extent keys, bool is_in_order)
{
    struct tracker *tracker = own->trail->tracker;

    if (keys.chunk == NULL && tracker_is_repeated(tracker, own->server))
        return;
    if (is_in_order && trail_session(own->trail)->held_bytes == 0)
        tracker_tell_at_once(tracker, keys);
    else
        tracker_tell(tracker, keys);
}

/* It may end the session. */
static void
hear(struct trail_lane *own, struct listening *listening,
     const struct reply_piece *piece, bool is_in_order)
{
    struct tracking *tracking = own->trail->tracker->tracking;
    struct extent frame, keys;

    enum heard heard = listening_hear(listening, piece, NEWS_MAX, &frame);
    if (heard == HEARD_PART)
        return;
    if (heard == HEARD_TOO_LONG)
        tell(own, (struct extent){0}, is_in_order);
    else if (news_read(frame, &keys))
        tell(own, keys, is_in_order);
    chunk_unref(&frame.chunk);
    tracking_close_those_over(tracking);
}

void
trail_on_lane_frame(struct lane_lease *lease, const struct reply_piece *piece)
{
    struct trail_lane *own =
        CONTAINER_OF(lease, struct trail_lane, lane.lease);

    hear(own, &own->lane, piece, true);
}

/* The number of the ear: now the lane can be told whom to tell. */
static void
take_id(struct trail_lane *own, struct view reply)
{
    struct view line = view_trim_line(reply);
    struct lane *ear = own->ear.lease.lane;

    if (line.len < 2 ||
        !view_to_u64(view_of(line.data + 1, line.len - 1), &own->ear_id) ||
        own->ear_id == 0)
        lane_close(&ear, CLOSE_SERVER_HANDSHAKE);
    else
        trail_connect(own);
}

void
trail_on_ear_frame(struct lane_lease *lease, const struct reply_piece *piece)
{
    struct trail_lane *own =
        CONTAINER_OF(lease, struct trail_lane, ear.lease);

    if (own->ear_id == 0 && piece->type != RESP_PUSH)
        take_id(own, view_of(piece->chunk->data + piece->off, piece->len));
    else
        hear(own, &own->ear, piece, false);
}
