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
    bool is_of_pool;         /* who asks, not the user any more */
};

static bool ask_as_pool(struct doubt *doubt);

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

/* Who may not ask is told so before the node looks at the keys. */
static bool
may_ask(struct view line)
{
    return !view_begins(line, VIEW("-NOPERM ")) &&
        !view_begins(line, VIEW("-NOAUTH "));
}

static void
on_reply(struct call *call, const struct reply_piece *piece)
{
    struct doubt *doubt = CONTAINER_OF(call, struct doubt, call);
    struct view line = view_of(piece->chunk->data + piece->off, piece->len);

    if (!piece->last)
        return;
    if (may_ask(line))
        doubt_end(doubt, line);
    else if (!ask_as_pool(doubt))
        doubt_end(doubt, VIEW(""));
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

static struct doubt *
doubt_new(struct request *request, struct extent question)
{
    struct doubt *doubt = MEM_NEW(struct doubt);

    call_init(&doubt->call, &doubt_call_ops);
    doubt->call.body = question;
    doubt->call.asking = request->call.asking;
    doubt->request = request;
    request->refs++;
    return doubt;
}

/* The user has no right to; what the answer is only we are told. */
static bool
ask_as_pool(struct doubt *doubt)
{
    const struct request *request = doubt->request;
    const struct session *session = request->session;

    if (session == NULL || doubt->is_of_pool)
        return false;
    struct lane_key key = attempt_lane_key(session, &request->attempt);
    if (key.user == LOGIN_POOL)
        return false;
    key.user = LOGIN_POOL;
    doubt->is_of_pool = true;
    return server_submit(request_server(request), key, session->lane_number,
                         &doubt->call);
}

static bool
submit(struct doubt *doubt)
{
    const struct request *request = doubt->request;
    const struct session *session = request->session;
    struct server *server = request_server(request);
    struct lane *lane = server->complainer;

    if (lane == NULL || lane->kind != LANE_SHARED)
        return server_submit(server,
                             attempt_lane_key(session, &request->attempt),
                             session->lane_number, &doubt->call);
    lane_submit(lane, &doubt->call);
    return true;
}

enum doubt_begin
doubt_ask(struct request *request)
{
    if (request_is_gone(request))
        return DOUBT_UNASKED;
    struct extent question = question_of(request);
    if (question.chunk == NULL)
        return DOUBT_NONE;
    struct doubt *doubt = doubt_new(request, question);
    if (submit(doubt))
        return DOUBT_ASKED;
    request_unref(&doubt->request);
    chunk_unref(&doubt->call.body.chunk);
    mem_free(doubt);
    return DOUBT_UNASKED;
}
