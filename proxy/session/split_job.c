/*
 * session/split_job.c - scatter and gather.
 */
#include "session/split_job.h"

#include "base/mem.h"
#include "command/outcome.h"
#include "resp/encode.h"
#include "session/blocking.h"
#include "session/combining.h"
#include "session/fanout_stream.h"
#include "session/note.h"
#include "session/replica_read.h"
#include "session/retry.h"
#include "session/sentence.h"
#include "session/session.h"
#include "session/split_job_priv.h"
#include "session/tracker.h"
#include "session/wait.h"

/* --- gathering ---------------------------------------------------------------- */

void
split_job_drop_reply(struct request *request, uint32_t index)
{
    struct chain *reply = &request->job->replies[index];

    request_discharge(request, reply->bytes);
    chain_clear(reply);
}

static void
merge_parts(struct request *request)
{
    struct split_job *job = request->job;
    struct chunk_pool *pool = loop_chunks(request->pool->env->loop);

    enum merge_result result = merge_replies(
        &job->split, job->replies, request->session->resp, pool,
        &request->reply);
    request->reply_type = result == MERGE_OK ? '*' : '-';
}

void
split_job_gathered(struct request *request)
{
    struct split_job *job = request->job;

    if (fanout_passes(request)) {
        fanout_stream_next(request);
        request_done(request);
        return;
    }
    if (job->combine != NULL) {
        if (!combining_finish(request))
            return; /* the job is no more */
    } else if (job->fanout == NULL) {
        merge_parts(request);
    } else if (!fanout_finish(request)) {
        return;
    }
    for (uint32_t i = 0; i < job->split.part_count; i++)
        split_job_drop_reply(request, i);
    if (unlikely(request->blocks) && blocking_take_null(request))
        return;
    if (request->reply_type == '-')
        request_note_error(request);
    request_charge(request, request->reply.bytes);
    request->reply_bytes = request->reply.bytes;
    request_done(request);
}

void
part_done(struct part_call *part)
{
    struct request *request = part->request;

    part->done = true;
    chunk_unref(&part->call.body.chunk);
    if (unlikely(request->session->holding != NULL))
        session_resume_later(request->session);
    if (--part_job(part)->left == 0)
        split_job_gathered(request);
    else
        fanout_stream_next(request);
}

/* The part's answer is ours; it is freed. */
static void
part_finish_with(struct part_call *part, struct buf *answer)
{
    struct request *request = part->request;
    struct chain *reply = &part_job(part)->replies[part->index];

    split_job_drop_reply(request, part->index);
    chain_copy(reply, loop_chunks(request->pool->env->loop), answer->data,
               answer->len);
    buf_fini(answer);
    request_charge(request, reply->bytes);
    part_done(part);
}

void
part_fail(struct part_call *part, struct view text)
{
    struct buf line = {0};

    encode_error(&line, text);
    part_finish_with(part, &line);
}

void
part_fail_unreachable(struct part_call *part)
{
    struct request *request = part->request;
    struct buf answer = {0};

    /* Of several sets one that is missing would falsify the rest. */
    if (part_job(part)->combine == NULL &&
        request_nil_answer(request, &part->call.body, &answer)) {
        part_finish_with(part, &answer);
        return;
    }
    cell_inc(&request->pool->stats->errors_unreachable);
    part_fail(part, request_text_unreachable(request, part_shard(part)));
}

bool
part_may_have_run(const struct part_call *part, bool sent)
{
    return sent && (part_job(part)->combine == NULL ||
                    !combine_is_store(part->request->command));
}

/* --- scattering --------------------------------------------------------------- */

struct extent
part_encode(const struct split *split, uint32_t index,
            const struct command_args *args, struct chunk_pool *pool)
{
    size_t size = split_encoded_size(split, args, index);
    struct chunk *chunk = chunk_pool_reserve(pool, size);
    struct buf room = {.data = chunk->data + chunk->fill, .cap = size};
    struct extent body = {chunk_ref(chunk), chunk->fill, (uint32_t)size};

    split_encode(split, args, index, size, &room);
    ASSERT(room.len == size && room.data == chunk->data + chunk->fill);
    chunk->fill += (uint32_t)size;
    return body;
}

static struct lane_key
part_lane_key(const struct part_call *part)
{
    /* A server that runs a script answers neither SELECT nor what waits behind
     * it. */
    if (unlikely(fanout_is_aside(part->request->command)))
        return (struct lane_key){.user = part->request->session->user,
                                 .resp = part->request->session->resp,
                                 .is_aside = true};
    return attempt_lane_key(part->request->session, &part->attempt);
}

void
part_send(struct part_call *part)
{
    struct request *request = part->request;
    struct lane_key key = part_lane_key(part);

    if (retry_is_barred(request->command, part_server(part))) {
        request_count_barred(request, part_shard(part));
        part_fail(part, request_text_barred(request, part_shard(part)));
        return;
    }
    if (retry_is_held(request->command, part_server(part))) {
        holding_take_held(request, &part->attempt);
        return;
    }
    request->refs++; /* the call's */
    if (fanout_lease(part, key) ||
        wait_submit(request, part_server(part), key, &part->call))
        return;
    request->refs--;
    if (holding_take_loss(request, &part->attempt, part_shard(part), false))
        return;
    part_fail_unreachable(part);
}

/* For the first time. */
static void
part_start(struct part_call *part)
{
    struct request *request = part->request;
    struct split_part *place = &part_job(part)->split.parts[part->index];

    if (unlikely(place->shard == ROUTE_NONE)) {
        holding_take_unserved(request, &part->attempt);
        return;
    }
    place->shard =
        attempt_place(request->session, &part->attempt, place->shard);
    part_send(part);
}

struct split_job *
job_new(struct request *request, struct split *split)
{
    size_t count = split->part_count;
    struct split_job *job = mem_zalloc(
        sizeof(*job) + count * (sizeof(struct part_call)));

    job->split = *split;
    job->left = (uint32_t)count;
    job->replies = mem_array(count, sizeof(struct chain));
    for (uint32_t i = 0; i < count; i++) {
        call_init(&job->parts[i].call, &part_call_ops);
        job->parts[i].request = request;
        job->parts[i].index = i;
        job->parts[i].attempt.slot = (uint16_t)split->parts[i].slot;
        job->parts[i].attempt.is_read = request->session->watch == NULL &&
            tracker_of(request->session) == NULL &&
            replica_read_is_for(split->command);
    }
    return job;
}

static void
start_parts(struct request *request, const struct command_args *args)
{
    struct chunk_pool *pool = loop_chunks(request->pool->env->loop);
    struct split_job *job = request->job;

    job->words = request->call.body;
    request->call.body = (struct extent){0};
    cell_inc(&request->pool->stats->requests_split);
    cell_add(&request->pool->stats->fragments, job->split.part_count);
    size_t bytes = 0;
    for (uint32_t i = 0; i < job->split.part_count; i++) {
        job->parts[i].call.body = job->combine != NULL
            ? combining_encode(job->combine, i, args, pool)
            : part_encode(&job->split, i, args, pool);
        bytes += job->parts[i].call.body.len;
    }
    request_weigh(request, bytes);

    /* Sending may fail at once and end the request, so hold on to it. */
    request->refs++;
    for (uint32_t i = 0; i < job->split.part_count; i++) {
        if (request->session == NULL)
            break; /* closed by what sending set off */
        part_start(&job->parts[i]);
    }
    request_unref(&request);
}

void
split_job_start(struct request *request, struct split *split,
                const struct command_args *args)
{
    request->job = job_new(request, split);
    start_parts(request, args);
}

void
split_job_combine(struct request *request, struct split *split,
                  struct combine *combine, const struct command_args *args)
{
    request->job = job_new(request, split);
    request->job->combine = combine;
    start_parts(request, args);
}

/* --- parts that are held -------------------------------------------------------- */

bool
split_job_is_idle(const struct request *request)
{
    const struct split_job *job = request->job;

    for (uint32_t i = 0; i < job->split.part_count; i++) {
        const struct part_call *part = &job->parts[i];
        if (!part->done && !attempt_is_held(&part->attempt))
            return false;
    }
    return true;
}

void
split_job_visit(struct request *request,
                void (*fn)(struct request *request, struct attempt *attempt,
                           void *arg),
                void *arg)
{
    struct split_job *job = request->job;

    request->refs++;
    for (uint32_t i = 0; i < job->split.part_count; i++)
        fn(request, &job->parts[i].attempt, arg);
    request_unref(&request);
}

bool
split_job_part_is_done(struct attempt *attempt)
{
    return CONTAINER_OF(attempt, struct part_call, attempt)->done;
}

void
split_job_give_up(struct request *request, struct attempt *attempt,
                  struct view text)
{
    struct part_call *part = CONTAINER_OF(attempt, struct part_call, attempt);

    holding_drop(request, attempt);
    split_job_drop_reply(request, part->index);
    part_fail(part, text);
}

static void
part_go(struct part_call *part, struct holding_pass *pass)
{
    struct split_job *job = part_job(part);
    uint32_t server;

    if (!attempt_is_held(&part->attempt) ||
        !holding_release(pass, part->request, &part->attempt, &part->call,
                         &server))
        return;
    split_job_drop_reply(part->request, part->index);
    job->split.parts[part->index].shard = server;
    part_send(part);
}

/* Keys on both sides of a move: a command of one key is answered by either. */
static bool
needs_one_key_each(const struct part_call *part)
{
    return part->attempt.hold == HOLD_WAIT &&
        part->attempt.outcome == OUTCOME_TRYAGAIN &&
        part_job(part)->split.parts[part->index].count > 1;
}

void
split_job_go(struct request *request, struct holding_pass *pass)
{
    if (request->job->fanout != NULL) {
        fanout_go(request, pass);
        return;
    }
    request->refs++;
    request_route_anew(request, request->session->generation);
    /* Before any of them is under way: parts move in memory. */
    for (uint32_t i = 0; i < request->job->split.part_count; i++) {
        if (needs_one_key_each(&request->job->parts[i]))
            split_job_one_key_each(request, i);
    }
    for (uint32_t i = 0; i < request->job->split.part_count; i++) {
        if (request->session == NULL || request->done)
            break;
        part_go(&request->job->parts[i], pass);
    }
    request_unref(&request);
}

static void
let_go(struct request *request, struct attempt *attempt, void *arg UNUSED)
{
    holding_drop(request, attempt);
}

void
split_job_let_go(struct request *request)
{
    split_job_visit(request, let_go, NULL);
}

/* --- giving up ---------------------------------------------------------------- */

/* True when the part may have been executed. */
static bool
part_withdraw(struct part_call *part)
{
    struct request *request = part->request;

    if (part->call.state == CALL_SENT)
        return true;
    if (part->call.state == CALL_WAITING &&
        server_withdraw(part_server(part), &part->call)) {
        fanout_end_lease(part);
        request_unref(&request);
    }
    return false;
}

static struct view
part_text_unserved(const struct part_call *part)
{
    const struct request *request = part->request;

    if (request->job->fanout != NULL)
        return fanout_text_unserved(request, part_shard(part),
                                    &part->attempt);
    return request_text_unserved(request, &part->attempt);
}

void
split_job_expire(struct request *request)
{
    struct split_job *job = request->job;

    if (job->left == 0) {
        request_fail(request, VIEW(REQUEST_TEXT_NO_ANSWER));
        return;
    }
    request->refs++;
    for (uint32_t i = 0; i < job->split.part_count; i++) {
        struct part_call *part = &job->parts[i];
        if (part->done)
            continue;
        if (attempt_is_held(&part->attempt)) {
            split_job_give_up(request, &part->attempt,
                              part_text_unserved(part));
            continue;
        }
        bool sent = part_withdraw(part);
        note_late(request, part_shard(part), sent);
        part_fail(part, request_text_late(request, part_shard(part),
                                          part_may_have_run(part, sent)));
    }
    /* All are answered first: what servers make of it may end other calls. */
    for (uint32_t i = 0; i < job->split.part_count; i++) {
        struct part_call *part = &job->parts[i];
        if (part->call.state == CALL_SENT)
            server_on_expired(
                generation_server(request->generation, part_shard(part)),
                &part->call);
    }
    request_unref(&request);
}

void
split_job_give_up_rest(struct request *request, struct view text)
{
    struct split_job *job = request->job;

    request->refs++;
    for (uint32_t i = 0; i < job->split.part_count; i++) {
        struct part_call *part = &job->parts[i];
        if (part->done)
            continue;
        if (attempt_is_held(&part->attempt)) {
            split_job_give_up(request, &part->attempt, text);
            continue;
        }
        (void)part_withdraw(part);
        part_fail(part, text);
    }
    request_unref(&request);
}

void
split_job_abandon(struct request *request)
{
    struct split_job *job = request->job;

    request->refs++;
    for (uint32_t i = 0; i < job->split.part_count; i++) {
        (void)part_withdraw(&job->parts[i]);
        chunk_unref(&job->parts[i].call.body.chunk);
        split_job_drop_reply(request, i);
    }
    request_unref(&request);
}

void
split_job_discard(struct request *request, struct split_job *job)
{
    for (uint32_t i = 0; i < job->split.part_count; i++) {
        chunk_unref(&job->parts[i].call.body.chunk);
        request_discharge(request, job->replies[i].bytes);
        chain_clear(&job->replies[i]);
    }
    chunk_unref(&job->words.chunk);
    fanout_job_free(request, &job->fanout);
    combine_free(&job->combine);
    split_fini(&job->split);
    mem_free(job->replies);
    mem_free(job);
}

void
split_job_free(struct request *request)
{
    struct split_job *job = request->job;

    if (job == NULL)
        return;
    request->job = NULL;
    split_job_discard(request, job);
}
