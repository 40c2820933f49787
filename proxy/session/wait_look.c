/*
 * session/wait_look.c - asking, and reading what comes.
 */
#include "session/wait_look.h"

#include "command/replica_count.h"
#include "resp/encode.h"

#define INFO_WORDS "*2\r\n$4\r\nINFO\r\n$11\r\nreplication\r\n"
#define MANY "1000000" /* replicas: more than any primary has */
#define PAUSE_MIN_MS 1
#define PAUSE_MAX_MS 256

void
wait_look_begin(struct wait_look *look, int64_t wanted, int64_t timeout_ms,
                uint64_t now_us)
{
    *look = (struct wait_look){
        .is_on = true,
        .pause_ms = PAUSE_MIN_MS,
        .wanted = wanted,
        .until_us = timeout_ms == 0 ? UINT64_MAX
                                    : now_us + (uint64_t)timeout_ms * 1000,
    };
}

void
wait_look_end(struct wait_look *look)
{
    look->is_on = false;
    buf_fini(&look->text);
    buf_fini(&look->error);
}

uint32_t
wait_look_ask(struct wait_look *look, uint32_t front, struct view words,
              struct buf *out)
{
    look->led = 0;
    look->front = front;
    look->text.len = 0;
    if (!look->is_again) {
        buf_append_str(out, INFO_WORDS);
        buf_append_view(out, words);
        buf_append_str(out, INFO_WORDS);
        return front + 2;
    }
    buf_append_str(out, "*3\r\n$4\r\nWAIT\r\n");
    encode_bulk_str(out, MANY);
    encode_bulk_u64(out, look->pause_ms);
    buf_append_str(out, INFO_WORDS);
    return front + 1;
}

/* WAIT's own: the number is of use where the client's words are asked. */
static void
take_wait(struct wait_look *look)
{
    struct view line = view_trim_line(buf_view(&look->text));

    if (line.len > 0 && line.data[0] == '-' && line.len < look->text.len)
        buf_append_view(&look->error, buf_view(&look->text));
    else if (line.len > 0)
        (void)!view_to_i64(view_of(line.data + 1, line.len - 1),
                           &look->counted);
}

static void
take_offset(struct wait_look *look)
{
    struct replica_count told;

    look->knows = replica_count_read(buf_view(&look->text), 0, &told);
    look->offset = told.offset;
}

void
wait_look_lead(struct wait_look *look, struct view piece, bool last)
{
    if (look->led < look->front) {
        look->led += last;
        return;
    }
    if (look->text.len + piece.len <= WAIT_ANSWER_MAX)
        buf_append_view(&look->text, piece);
    if (!last)
        return;
    if (!look->is_again && look->led == look->front)
        take_offset(look);
    else
        take_wait(look);
    look->led++;
    look->text.len = 0;
}

/* Twice as long as before, but not beyond the end. */
static void
set_pause(struct wait_look *look, uint64_t now_us)
{
    uint64_t left_ms = (look->until_us - now_us + 999) / 1000;
    uint32_t pause_ms = look->is_again ? look->pause_ms * 2 : look->pause_ms;

    look->pause_ms = MIN(pause_ms, (uint32_t)PAUSE_MAX_MS);
    if (look->until_us != UINT64_MAX && left_ms < look->pause_ms)
        look->pause_ms = (uint32_t)MAX(left_ms, 1u);
}

bool
wait_look_take(struct wait_look *look, struct view reply, uint64_t now_us,
               struct buf *answer)
{
    struct replica_count told;

    if (look->error.len > 0) {
        buf_append_view(answer, buf_view(&look->error));
        return true;
    }
    /* What cannot be checked is not there. */
    if (!look->knows || !replica_count_read(reply, look->offset, &told)) {
        encode_integer(answer, 0);
        return true;
    }
    if (!look->is_again && look->counted <= (int64_t)told.count) {
        encode_integer(answer, look->counted);
        return true;
    }
    if ((int64_t)told.count >= look->wanted || look->is_ended ||
        now_us >= look->until_us) {
        encode_integer(answer, told.count);
        return true;
    }
    set_pause(look, now_us);
    look->is_again = true;
    return false;
}
