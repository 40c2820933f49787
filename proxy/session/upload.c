/*
 * session/upload.c - passing large requests on.
 */
#include "session/upload.h"

#include "base/log_limit.h"
#include "base/mem.h"
#include "command/access.h"
#include "command/keys.h"
#include "session/databases.h"
#include "session/deadline.h"
#include "session/monitor.h"
#include "session/note.h"
#include "session/pause.h"
#include "session/private_lane.h"
#include "session/request.h"
#include "session/subscriber.h"
#include "session/tracker.h"
#include "session/transaction.h"

#define NO_MEMORY \
    "-OOM proxy: max_memory is reached, command was not executed\r\n"

struct upload {
    struct request *request; /* NULL: the rest is dropped */
};

static void
upload_end(struct session *session)
{
    mem_free(session->upload);
    session->upload = NULL;
    session->pool->upload_count--;
    session->stream.read_large = SESSION_READ;
    session->stream.keeps_input = false;
    session_drop_scan(session);
    stream_set_reading(&session->stream, session->state == SESSION_OPEN);
    session_resume_later(session);
}

/* --- beginning --------------------------------------------------------------- */

static void
upload_begin(struct session *session, struct request *request)
{
    session->upload = MEM_NEW(struct upload);
    session->upload->request = request;
    session->stream.read_large = STREAM_READ_LARGE;
    session->stream.keeps_input = true;
    session->pool->upload_count++;
}

static void
consume_all(struct session *session)
{
    stream_consume(&session->stream, stream_input_len(&session->stream));
    session->stream.want = 0;
}

/* CLIENT REPLY goes for what is refused here, too. */
static void
answer_unless_silent(struct session *session, struct view text)
{
    if (!session->reply_off && !session->reply_skip)
        request_answer_now(session, NULL, text);
    session->reply_skip = false;
}

static void
answer_too_large(struct session *session)
{
    struct buf line = {0};

    transaction_spoil(session);
    cell_inc(&session->pool->stats->errors_limit);
    buf_printf(&line,
               "-ERR proxy: request is larger than request_limit (%llu "
               "bytes), command was not executed\r\n",
               (unsigned long long)
                   session->pool->settings->request_limit_bytes);
    note_refusal(session, NULL, buf_view(&line));
    answer_unless_silent(session, buf_view(&line));
    buf_fini(&line);
}

static void
answer_no_memory(struct session *session, const struct command *command)
{
    static const struct view text = {NO_MEMORY, sizeof(NO_MEMORY) - 1};
    const char *pool = session->pool->settings->name;

    struct session_stats *stats = session->pool->stats;

    transaction_spoil(session);
    cell_inc(&stats->errors_memory);
    cell_inc(&stats->forward_error);
    cell_inc(&session_stats_account(stats, command)->all.rejected);
    log_warn_limited(pool, "max_memory", "large request refused",
                     "pool=%s id=%llu command=%s reason=max_memory", pool,
                     (unsigned long long)session->id,
                     command == NULL ? "?" : command->name);
    answer_unless_silent(session, text);
}

/* Read over the rest of a request that has been answered. */
static bool
begin_refusal(struct session *session)
{
    if (session->scan->seen == 0) {
        /* Not even a name: there is nothing to find the end by. */
        session_drain(session, CLOSE_CLIENT_PROTOCOL);
        return true;
    }
    upload_begin(session, NULL);
    consume_all(session);
    session_read_on(session); /* it may have waited for what was in front */
    return true;
}

static bool
refuse_size(struct session *session)
{
    answer_too_large(session);
    return begin_refusal(session);
}

/* Memory is short.  False without a name: there is no telling where it ends. */
static bool
refuse_for_memory(struct session *session)
{
    const struct request_scan *scan = session->scan;
    struct command_args args = {stream_input_data(&session->stream),
                                scan->args, scan->seen};

    if (scan->kind != REQUEST_ARRAY || scan->seen == 0)
        return false;
    answer_no_memory(session, command_find(command_arg(&args, 0)));
    return begin_refusal(session);
}

/* Can the request be routed by what is here of it? */
static const struct command *
upload_command(const struct command_args *args, const struct request_scan *scan)
{
    if (scan->kind != REQUEST_ARRAY || scan->seen < 2)
        return NULL;
    const struct command *command = command_find(command_arg(args, 0));
    if (command == NULL || command->class != CLASS_ROUTE ||
        !command_arity_ok(command, scan->argc))
        return NULL;
    /* More than the first key decides about these. */
    if (databases_are_named(command) || command->flags & (COMMAND_PUBSUB | COMMAND_MOVABLEKEYS))
        return NULL;
    if (command->first_key <= 0 || command->first_key != command->last_key ||
        (uint32_t)command->first_key >= scan->seen)
        return NULL;
    if (!command_routes_early(command, scan->argc, scan->seen))
        return NULL;
    return command;
}

/* What the pool's rules refuse is gathered, and refused in the ordinary way. */
static bool
is_allowed(const struct session *session, const struct command *command)
{
    const struct access *access = session->pool->settings->access;

    return access == NULL || access_allows(access, command);
}

static void
count_upload(struct session *session, const struct command *command)
{
    struct session_stats *stats = session->pool->stats;

    cell_inc(&stats->requests);
    cell_inc(&stats->commands[command->id]);
    cell_inc(&stats->uploads);
    session->last_command = command;
}

static void
begin_passing_on(struct session *session, const struct command *command,
                 struct place place)
{
    struct stream *stream = &session->stream;
    struct request *request = request_new(session, command);

    count_upload(session, command);
    request->no_reply |= session->reply_skip;
    session->reply_skip = false;
    request->shard = place.shard;
    request->attempt.slot = (uint16_t)place.slot;
    request->call.body = (struct extent){
        .chunk = chunk_ref(stream->in.chunk),
        .off = stream->in.pos,
        .len = (uint32_t)stream_input_len(stream),
    };
    upload_begin(session, request);
    stream_set_reading(stream, false);
    consume_all(session);
    request_start_deadline(request); /* for getting a lane */
    private_lane_submit(session, request, true);
}

bool
upload_refuse_long(struct session *session, const struct request_scan *scan)
{
    struct command_args args = {stream_input_data(&session->stream),
                                scan->args, scan->argc};

    if (session->authenticated && upload_command(&args, scan) != NULL)
        return false;
    answer_too_large(session);
    return true;
}

bool
upload_try(struct session *session)
{
    const struct pool_settings *settings = session->pool->settings;
    const struct request_scan *scan = session->scan;
    struct command_args args = {stream_input_data(&session->stream),
                                scan->args, scan->seen};
    bool is_free = session->authenticated && session->transaction == NULL &&
        !subscriber_is_old_style(session);
    const struct command *command =
        is_free ? upload_command(&args, scan) : NULL;
    if (command != NULL && !is_allowed(session, command))
        command = NULL;
    bool too_large = scan->known > settings->request_limit_bytes;
    bool is_short = session_is_short(session);

    if ((command == NULL && !too_large && !is_short) || session->stream.ended)
        return false;
    if (!TAILQ_EMPTY(&session->queue) ||
        (unlikely(session->pool->attention != 0) && command != NULL &&
         pause_must_wait_early(session, command))) {
        session->barrier = true;
        stream_set_reading(&session->stream, false);
        return true;
    }
    if (is_short && refuse_for_memory(session))
        return true;
    if (command == NULL)
        return too_large && refuse_size(session);
    struct place place = request_place(
        session, command_arg(&args, (uint32_t)command->first_key));
    if (place.shard == ROUTE_NONE) /* if gathered, refused in the ordinary way */
        return too_large && refuse_size(session);
    if (unlikely(session->pool->attention != 0)) {
        struct view key = command_arg(&args, (uint32_t)command->first_key);
        monitor_note_upload(session, command, &args);
        tracker_note_upload(session, command, key);
    }
    begin_passing_on(session, command, place);
    tracker_note_acted(session, command);
    return true;
}

/* --- going on ----------------------------------------------------------------- */

static void
upload_complete(struct session *session)
{
    struct request *request = session->upload->request;

    if (request != NULL) {
        request->start_us = loop_now_us(session->pool->env->loop);
        request_start_deadline(request);
        session->barrier = true; /* what follows keeps behind it */
        lane_feed_end(&request->call);
    }
    cell_add(&session->pool->stats->request_bytes, session->scan->size);
    stream_note_message(&session->stream, session->scan->size);
    upload_end(session);
}

/* The rest is not the protocol: neither side can go on. */
static void
upload_broken(struct session *session)
{
    struct request *request = session->upload->request;
    struct buf line = {0};

    cell_inc(&session->pool->stats->errors_protocol);
    upload_abort(session);
    if (request != NULL) {
        request_fail_fmt(request, "ERR %s", session->scan->error);
    } else {
        buf_printf(&line, "-ERR %s\r\n", session->scan->error);
        request_answer_now(session, NULL, buf_view(&line));
        buf_fini(&line);
    }
    session_drain(session, CLOSE_CLIENT_PROTOCOL);
}

/* The server takes no more for now: its time runs until it does. */
static void
upload_wait(struct session *session, struct request *request)
{
    stream_set_reading(&session->stream, false);
    request->start_us = loop_now_us(session->pool->env->loop);
    request_start_deadline(request);
}

void
upload_on_input(struct session *session)
{
    struct stream *stream = &session->stream;
    struct request_limits limits = session_limits(session);
    struct request *request = session->upload->request;
    size_t used;
    enum resp_result result =
        request_scan_skip(session->scan, &limits, stream_input_data(stream),
                          stream_input_len(stream), &used);

    if (result == RESP_BAD) {
        upload_broken(session);
        return;
    }
    if (request != NULL)
        lane_feed(&request->call, stream->in.chunk, stream->in.pos,
                  (uint32_t)used);
    stream_consume(stream, used);
    if (result == RESP_OK)
        upload_complete(session);
    else if (request != NULL && lane_is_full(request->call.lane))
        upload_wait(session, request);
}

void
upload_on_drain(struct session *session)
{
    if (session->upload == NULL)
        return;
    if (session->upload->request != NULL)
        request_stop_deadline(session->upload->request);
    session_read_on(session);
}

void
upload_cut_off(struct session *session)
{
    session->upload->request = NULL;
    session_read_on(session);
}

void
upload_abort(struct session *session)
{
    if (session->upload == NULL)
        return;
    mem_free(session->upload);
    session->upload = NULL;
    session->pool->upload_count--;
}
