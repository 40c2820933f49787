/*
 * session/ear_hear.c - understanding what a server says of changed keys.
 *
 *   >2 invalidate *2 k l     these keys were changed
 *   >2 invalidate _          all were
 */
#include "session/ear.h"
#include "base/mem.h"
#include "resp/reply_read.h"
#include "session/tracking.h"

#define FRAME_MAX 16777216 /* a longer one is taken for "all" */

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

/* Without the '-' and the line's end. */
static void
take_no(struct ear *ear, struct view line)
{
    struct lane *lane = ear->lease.lane;

    if (ear->state != EAR_ASKED)
        return;
    while (line.len > 0 &&
           (line.data[line.len - 1] == '\n' || line.data[line.len - 1] == '\r'))
        line.len--;
    mem_free(ear->refusal);
    ear->refusal = mem_view_dup(view_of(line.data + 1, line.len - 1));
    lane_close(&lane, CLOSE_SERVER_HANDSHAKE);
}

/* --- what was changed --------------------------------------------------------- */

/* A list of keys, or null; other pushes are not for us. */
static void
take_push(struct ear *ear, struct extent frame)
{
    struct view rest = view_of(frame.chunk->data + frame.off, frame.len);
    struct reply_item item;

    if (!reply_next(&rest, &item) || item.count != 2 ||
        !reply_next(&rest, &item) || !view_equal(item.text, VIEW("invalidate")))
        return;
    struct extent keys = frame;
    keys.off += frame.len - (uint32_t)rest.len;
    keys.len = (uint32_t)rest.len;
    if (!reply_next(&rest, &item) || item.is_null || item.type != RESP_ARRAY)
        tracking_tell_all(ear->tracking);
    else
        tracking_tell_keys(ear->tracking, keys);
}

static void
take_frame(struct ear *ear, struct extent frame)
{
    struct view bytes = view_of(frame.chunk->data + frame.off, frame.len);

    switch (bytes.data[0]) {
    case RESP_ERROR:
        take_no(ear, bytes);
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

/* --- long frames ---------------------------------------------------------------- */

static void
take_gathered(struct ear *ear)
{
    struct buf gathered = ear->gathered;

    ear->gathered = (struct buf){0};
    if (ear->is_too_long) {
        ear->is_too_long = false;
        tracking_tell_all(ear->tracking);
    } else {
        struct chunk *chunk =
            chunk_new_exact(loop_chunks(ear->tracking->pool->env->loop),
                            gathered.len);
        memcpy(chunk->data, gathered.data, gathered.len);
        chunk->fill = (uint32_t)gathered.len;
        take_frame(ear, (struct extent){chunk, 0, chunk->fill});
        chunk_unref(&chunk);
    }
    buf_fini(&gathered);
}

static void
gather(struct ear *ear, const struct reply_piece *piece)
{
    struct buf *gathered = &ear->gathered;

    if (gathered->len + piece->len > FRAME_MAX)
        ear->is_too_long = true;
    if (ear->is_too_long)
        buf_fini(gathered);
    else
        buf_append(gathered, piece->chunk->data + piece->off, piece->len);
    if (piece->last)
        take_gathered(ear);
}

void
ear_on_frame(struct lane_lease *lease, const struct reply_piece *piece)
{
    struct ear *ear = CONTAINER_OF(lease, struct ear, lease);

    ear->heard_us = loop_now_us(ear->tracking->pool->env->loop);
    ear->is_pinged = false;
    if (likely(piece->last && piece->size == piece->len))
        take_frame(ear, (struct extent){piece->chunk, piece->off, piece->len});
    else
        gather(ear, piece);
}
