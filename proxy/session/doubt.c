/*
 * session/doubt.c - asking a node whether it has the keys of a command.
 */
#include "session/doubt.h"

#include "base/mem.h"
#include "command/keys.h"
#include "resp/encode.h"
#include "session/body_words.h"
#include "session/holding.h"
#include "session/replica_read.h"

struct doubt {
    struct call call;
    struct request *request; /* a ref */
};

static void
doubt_end(struct doubt *doubt, struct view line)
{
    struct request *request = doubt->request;

    if (request->session != NULL && request->attempt.hold == HOLD_DOUBT)
        holding_settle(request, line);
    request_unref(&doubt->request);
    chunk_unref(&doubt->call.body.chunk);
    mem_free(doubt);
}

static void
on_reply(struct call *call, const struct reply_piece *piece)
{
    if (piece->last)
        doubt_end(CONTAINER_OF(call, struct doubt, call),
                  view_of(piece->chunk->data + piece->off, piece->len));
}

static void
on_lost(struct call *call, enum close_reason why UNUSED, bool sent UNUSED)
{
    doubt_end(CONTAINER_OF(call, struct doubt, call), VIEW(""));
}

static const struct call_ops doubt_call_ops = {
    .on_reply = on_reply,
    .on_lost = on_lost,
};

/* EXISTS with the keys of the request; false when it has none. */
static bool
encode_question(const struct request *request, struct buf *out)
{
    struct request_scan scan;
    struct key_list keys;

    struct command_args args = body_words(&scan, &request->call.body);
    key_list_init(&keys);
    bool has_keys =
        command_keys(request->command, &args, &keys) == KEYS_OK &&
        keys.count > 0;
    if (has_keys) {
        encode_array(out, keys.count + 1);
        encode_bulk_str(out, "EXISTS");
        for (uint32_t i = 0; i < keys.count; i++)
            encode_bulk(out, command_arg(&args, keys.at[i]));
    }
    key_list_fini(&keys);
    request_scan_fini(&scan);
    return has_keys;
}

static struct extent
question_of(const struct request *request)
{
    struct extent body = {0};
    struct buf text = {0};

    if (encode_question(request, &text))
        body = extent_copy_alone(loop_chunks(request->pool->env->loop),
                                 buf_view(&text));
    buf_fini(&text);
    return body;
}

bool
doubt_ask(struct request *request)
{
    struct session *session = request->session;
    struct extent body = question_of(request);

    if (body.chunk == NULL)
        return false;
    struct doubt *doubt = MEM_NEW(struct doubt);
    call_init(&doubt->call, &doubt_call_ops);
    doubt->call.body = body;
    doubt->call.asking = request->call.asking;
    doubt->request = request;
    request->refs++;
    if (server_submit(request_server(request),
                      attempt_lane_key(session, &request->attempt),
                      session->lane_number, &doubt->call))
        return true;
    request_unref(&doubt->request);
    chunk_unref(&doubt->call.body.chunk);
    mem_free(doubt);
    return false;
}
