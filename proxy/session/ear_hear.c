/*
 * session/ear_hear.c - understanding what a server says of changed keys.
 */
#include "session/ear.h"
#include "base/mem.h"
#include "session/news.h"
#include "session/tracking.h"

/* --- answers ---------------------------------------------------------------- */

static void
take_yes(struct ear *ear)
{
    if (ear->state != EAR_ASKED)
        return; /* PONG */
    ear->state = EAR_ON;
    ear->failures = 0;
    ear->has_failed = false;
    tracking_on_ear(ear->tracking);
}

static void
take_no(struct ear *ear, struct view line)
{
    struct lane *lane = ear->listening.lease.lane;

    if (ear->state != EAR_ASKED)
        return;
    mem_free(ear->refusal);
    ear->refusal = mem_view_dup(view_trim_line(line));
    lane_close(&lane, CLOSE_SERVER_HANDSHAKE);
}

/* --- what was changed --------------------------------------------------------- */

static void
take_push(struct ear *ear, struct extent frame)
{
    struct extent keys;

    if (!news_read(frame, &keys))
        return;
    if (keys.chunk == NULL)
        tracking_tell_flush(ear->tracking, ear->listening.server);
    else
        tracking_tell_keys(ear->tracking, keys);
}

static void
take_frame(struct ear *ear, struct extent frame)
{
    struct view bytes = view_of(frame.chunk->data + frame.off, frame.len);

    switch (bytes.data[0]) {
    case RESP_ERROR:
        take_no(ear, view_of(bytes.data + 1, bytes.len - 1));
        break;
    case RESP_SIMPLE:
        take_yes(ear);
        break;
    case RESP_PUSH:
        take_push(ear, frame);
        break;
    default:
        break;
    }
}

void
ear_on_frame(struct lane_lease *lease, const struct reply_piece *piece)
{
    struct ear *ear = CONTAINER_OF(lease, struct ear, listening.lease);
    struct extent frame;

    switch (listening_hear(&ear->listening, piece, NEWS_MAX, &frame)) {
    case HEARD_PART:
        return;
    case HEARD_WHOLE:
        take_frame(ear, frame);
        break;
    case HEARD_TOO_LONG:
        tracking_tell_all(ear->tracking);
        break;
    }
    chunk_unref(&frame.chunk);
}
