/*
 * session/published.c - making the numbers of servers true.
 */
#include "session/published.h"

#include "base/mem.h"
#include "resp/encode.h"
#include "resp/reply_read.h"
#include "resp/request_scan.h"
#include "session/board.h"
#include "session/body_words.h"

/* --- PUBLISH ------------------------------------------------------------------ */

static enum topic_kind
kind_of(const struct command *command)
{
    return command->id == COMMAND_ID_SPUBLISH ||
            command->id == COMMAND_ID_PUBSUB_SHARDNUMSUB
        ? TOPIC_SHARD
        : TOPIC_CHANNEL;
}

static struct audience_count
count_listeners(const struct session_pool *pool, const struct command *command,
                struct view channel, const struct server *server)
{
    enum topic_kind kind = kind_of(command);
    bool spreads = kind == TOPIC_CHANNEL && pool_is_cluster(pool->settings);

    return audience_count_message(pool->audience, kind, channel,
                                  view_str(server->name), spreads);
}

struct place
published_place(const struct session *session, const struct command *command,
                struct view channel)
{
    const struct session_pool *pool = session->pool;
    struct generation *generation = session->generation;
    struct place place = board_place(generation, kind_of(command), channel);

    place.is_channel = !audience_is_empty(pool->audience);
    if (audience_is_leaving(pool->audience) && place.shard != ROUTE_NONE)
        place.lanes = (uint32_t)count_listeners(
                          pool, command, channel,
                          generation_server(generation, place.shard))
                          .lanes;
    return place;
}

bool
published_has_place(const struct session *session,
                    const struct command *command)
{
    if (command->id == COMMAND_ID_PUBLISH)
        return !pool_is_cluster(session->pool->settings);
    return command->id == COMMAND_ID_SPUBLISH;
}

/* Clients of ours, and whoever else the server has counted.  A connection that
 * was taken back meanwhile may have been counted. */
static int64_t
correct_count(const struct request *request, int64_t number)
{
    struct request_scan scan;
    struct command_args args = body_words(&scan, &request->call.body);
    struct audience_count count =
        count_listeners(request->pool, request->command, command_arg(&args, 1),
                        request_server(request));
    int64_t lanes = MAX(count.lanes, (int64_t)request->lanes_before);

    request_scan_fini(&scan);
    return count.clients + MAX(number - lanes, 0);
}

const struct reply_piece *
published_correct(const struct request *request,
                  const struct reply_piece *piece, struct reply_piece *own)
{
    struct view rest = view_of(piece->chunk->data + piece->off, piece->len);
    struct reply_item item;
    struct buf out = {0};

    if (!piece->last || !reply_next(&rest, &item) || item.type != RESP_INTEGER)
        return piece;
    encode_integer(&out, correct_count(request, item.number));
    *own = *piece;
    own->chunk = chunk_pool_write(loop_chunks(request->pool->env->loop),
                                  out.data, out.len, &own->off);
    own->len = (uint32_t)out.len;
    own->size = out.len;
    buf_fini(&out);
    return own;
}

/* --- PUBSUB ------------------------------------------------------------------- */

bool
published_concerns(const struct session *session, const struct command *command)
{
    switch ((int)command->id) {
    case COMMAND_ID_PUBSUB_NUMSUB:
    case COMMAND_ID_PUBSUB_SHARDNUMSUB:
    case COMMAND_ID_PUBSUB_NUMPAT:
        return !audience_is_empty(session->pool->audience);
    default:
        return false;
    }
}

/* name, integer, name, integer ... */
static bool
correct_counts(const struct request *request, struct view rest, struct buf *out)
{
    enum topic_kind kind = kind_of(request->command);
    struct reply_item item, count;

    if (!reply_next(&rest, &item) || item.type != RESP_ARRAY)
        return false;
    encode_array(out, item.count);
    for (uint64_t left = item.count; left >= 2; left -= 2) {
        if (!reply_next(&rest, &item) || !reply_next(&rest, &count))
            return false;
        int64_t more =
            audience_correct_channel(request->pool->audience, kind, item.text,
                                     request->generation);
        encode_bulk(out, item.text);
        encode_integer(out, MAX(count.number + more, 0));
    }
    return true;
}

static bool
correct_patterns(const struct request *request, struct view rest,
                 struct buf *out)
{
    struct reply_item item;

    if (!reply_next(&rest, &item) || item.type != RESP_INTEGER)
        return false;
    int64_t more = audience_correct_patterns(request->pool->audience,
                                             request->generation);
    encode_integer(out, MAX(item.number + more, 0));
    return true;
}

void
published_correct_sums(struct request *request)
{
    size_t len = request->reply.bytes;
    char *bytes = mem_alloc(MAX(len, 1u));
    struct buf out = {0};

    chain_peek(&request->reply, bytes, len);
    bool is_sum = request->command->id == COMMAND_ID_PUBSUB_NUMPAT;
    if (is_sum ? correct_patterns(request, view_of(bytes, len), &out)
               : correct_counts(request, view_of(bytes, len), &out)) {
        chain_clear(&request->reply);
        chain_copy(&request->reply, loop_chunks(request->pool->env->loop),
                   out.data, out.len);
    }
    buf_fini(&out);
    mem_free(bytes);
}
