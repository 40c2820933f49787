/*
 * session/trail_say.c - what the proxy says on lanes of a client that tracks.
 *
 * A remark is a call of ours between those of the client; its answer is not for it.
 */
#include "base/mem.h"
#include "resp/encode.h"
#include "session/trail_priv.h"

enum remark_kind {
    REMARK_TRACKING,
    REMARK_PING,
    REMARK_OTHER /* nothing comes of it, unless it is refused */
};

/* Frees itself.  Its lane is closed before `own` goes, so that no answer comes
 * then. */
struct remark {
    struct call call;
    struct trail_lane *own;
    enum remark_kind kind;
};

/* --- answers ---------------------------------------------------------------- */

static void
remark_free(struct remark *remark)
{
    chunk_unref(&remark->call.body.chunk);
    mem_free(remark);
}

static void
take_answer(struct trail_lane *own, enum remark_kind kind, struct view reply)
{
    switch (kind) {
    case REMARK_TRACKING:
        if (reply.data[0] == RESP_ERROR)
            trail_on_no(own, view_of(reply.data + 1, reply.len - 1));
        else
            trail_on_yes(own);
        break;
    case REMARK_PING:
        own->lane.is_pinged = false;
        own->lane.heard_us = loop_now_us(own->server->pool->loop);
        break;
    case REMARK_OTHER:
        /* What is read behind it may not be remembered by the server. */
        if (reply.data[0] == RESP_ERROR)
            trail_forget_all(own->trail);
        break;
    }
}

static void
on_reply(struct call *call, const struct reply_piece *piece)
{
    struct remark *remark = CONTAINER_OF(call, struct remark, call);
    struct trail_lane *own = remark->own;
    enum remark_kind kind = remark->kind;

    if (!piece->last)
        return;
    remark_free(remark);
    take_answer(own, kind, view_of(piece->chunk->data + piece->off, piece->len));
}

static void
on_lost(struct call *call, enum close_reason why UNUSED, bool sent UNUSED)
{
    remark_free(CONTAINER_OF(call, struct remark, call));
}

static const struct call_ops remark_ops = {
    .on_reply = on_reply,
    .on_lost = on_lost,
};

static void
say(struct trail_lane *own, enum remark_kind kind, struct view words)
{
    struct remark *remark = MEM_NEW(struct remark);

    call_init(&remark->call, &remark_ops);
    remark->own = own;
    remark->kind = kind;
    remark->call.body =
        extent_copy(loop_chunks(own->server->pool->loop), words);
    lane_submit(own->lane.lease.lane, &remark->call);
}

/* --- CLIENT TRACKING --------------------------------------------------------- */

struct words {
    struct buf bytes; /* without the header */
    size_t count;
};

static void
add(struct words *words, struct view word)
{
    encode_bulk(&words->bytes, word);
    words->count++;
}

static void
add_number(struct words *words, uint64_t number)
{
    encode_bulk_u64(&words->bytes, number);
    words->count++;
}

/* Servers have those that were said before, and refuse to hear them again. */
static void
add_new_prefixes(struct words *words, const struct command_args *args)
{
    for (uint32_t i = 3; i + 1 < args->argc; i++) {
        if (!view_equal_nocase(command_arg(args, i), VIEW("PREFIX")))
            continue;
        add(words, VIEW("PREFIX"));
        add(words, command_arg(args, ++i));
    }
}

static void
add_prefixes(struct words *words, const struct tracker *tracker)
{
    const struct interest *interest;

    TAILQ_FOREACH (interest, &tracker->interests, own) {
        add(words, VIEW("PREFIX"));
        add(words, interest->prefix->entry.key);
    }
}

static void
add_options(struct words *words, const struct track_options *options)
{
    if (options->is_bcast)
        add(words, VIEW("BCAST"));
    if (options->is_optin)
        add(words, VIEW("OPTIN"));
    if (options->is_optout)
        add(words, VIEW("OPTOUT"));
    if (options->is_noloop)
        add(words, VIEW("NOLOOP"));
}

void
trail_say_tracking(struct trail_lane *own, const struct command_args *args)
{
    const struct tracker *tracker = own->trail->tracker;
    struct words words = {0};
    struct buf request = {0};

    add(&words, VIEW("CLIENT"));
    add(&words, VIEW("TRACKING"));
    add(&words, VIEW("ON"));
    if (trail_redirects(own->trail)) {
        add(&words, VIEW("REDIRECT"));
        add_number(&words, own->ear_id);
    }
    add_options(&words, &tracker->options);
    if (args != NULL)
        add_new_prefixes(&words, args);
    else
        add_prefixes(&words, tracker);
    encode_array(&request, words.count);
    buf_append_view(&request, buf_view(&words.bytes));
    own->state = TRAIL_ASKED;
    say(own, REMARK_TRACKING, buf_view(&request));
    buf_fini(&words.bytes);
    buf_fini(&request);
}

/* --- the rest ------------------------------------------------------------------ */

void
trail_say_version(struct trail_lane *own)
{
    uint8_t version = trail_session(own->trail)->resp;
    struct buf words = {0};

    own->lane.lease.key.resp = version;
    own->lane.lease.lane->key.resp = version;
    encode_array(&words, 2);
    encode_bulk_str(&words, "HELLO");
    encode_bulk_u64(&words, version);
    say(own, REMARK_OTHER, buf_view(&words));
    buf_fini(&words);
}

void
trail_say_caching(struct trail_lane *own)
{
    bool is_yes = own->trail->tracker->options.is_optin;

    say(own, REMARK_OTHER,
        is_yes ? VIEW("*3\r\n$6\r\nCLIENT\r\n$7\r\nCACHING\r\n$3\r\nYES\r\n")
               : VIEW("*3\r\n$6\r\nCLIENT\r\n$7\r\nCACHING\r\n$2\r\nNO\r\n"));
}

void
trail_say_ping(struct trail_lane *own)
{
    own->lane.is_pinged = true;
    own->lane.pinged_us = loop_now_us(own->server->pool->loop);
    say(own, REMARK_PING, VIEW("*1\r\n$4\r\nPING\r\n"));
}
