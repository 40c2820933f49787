/*
 * session/fanout.c - one command at every shard, and SCAN over all of them.
 */
#include "session/fanout_priv.h"

#include <string.h>

#include "base/mem.h"
#include "session/body_words.h"
#include "session/deadline.h"
#include "session/published.h"
#include "session/retry.h"
#include "session/scripts.h"
#include "session/sentence.h"
#include "session/server_command.h"
#include "session/split_job_priv.h"

#define ROUNDS_MAX 3 /* times that all are asked anew, as the map has changed */
#define KEYSPACE_PATIENCE_MS 500
#define PATIENCE 4   /* waits for a map that is on its way */

/* May its parts be held? */
static bool
is_followed(const struct request *request)
{
    return pool_is_followed(request->pool->settings);
}

bool
fanout_is_aside(const struct command *command)
{
    return command->class == CLASS_FANOUT &&
        (command->flags & COMMAND_ALLOW_BUSY) != 0;
}

bool
fanout_concerns_us(const struct command *command)
{
    return command->id == COMMAND_ID_CONFIG_RESETSTAT;
}

bool
fanout_is_for(const struct session *session, const struct command *command)
{
    if (server_command_is_for_all(session, command))
        return true;
    if (!fanout_is_scan(command) && !fanout_is_known(command))
        return false;
    return pool_is_followed(session->pool->settings) ||
        session->generation->shard_count > 1 || fanout_is_aside(command) ||
        published_concerns(session, command);
}

/* --- who is asked ------------------------------------------------------------- */

/* Parts for `count` shards, as many as are filled in later. */
static struct split
empty_split(const struct command *command, uint32_t count)
{
    return (struct split){
        .command = command,
        .parts = mem_array(count, sizeof(struct split_part)),
    };
}

static void
add_part(struct split *split, uint32_t shard, uint32_t slot)
{
    split->parts[split->part_count++] = (struct split_part){
        .shard = shard,
        .slot = slot,
        .count = 1,
    };
}

/* Nobody yet: the request has to be held. */
static struct split
nobody(const struct command *command)
{
    struct split split = empty_split(command, 1);

    add_part(&split, ROUTE_NONE, 0);
    return split;
}

/* What holding knows a shard by: a slot of it in a cluster, else its number. */
static uint32_t
slot_of(const struct generation *generation, uint32_t shard, uint32_t place)
{
    return pool_is_cluster(generation->settings) ? place - 1 : shard;
}

/* Without parts while no node of a cluster is known to have slots. */
static struct split
everybody(const struct request *request)
{
    const struct generation *generation = request->session->generation;
    uint32_t *places = scan_places(generation);
    struct split split =
        empty_split(request->command, MAX(generation->shard_count, 1u));

    for (uint32_t i = 0; i < generation->shard_count; i++)
        if (places[i] != 0)
            add_part(&split, i, slot_of(generation, i, places[i]));
    mem_free(places);
    return split;
}

/* --- what they are sent ------------------------------------------------------- */

static struct extent
scan_body(struct request *request, uint64_t backend)
{
    struct chunk_pool *pool = loop_chunks(request->pool->env->loop);
    struct request_scan scan;
    struct buf text = {0};

    struct command_args args = body_words(&scan, &request->job->fanout->bytes);
    scan_encode(&args, backend, &text);
    request_scan_fini(&scan);
    struct extent body = extent_copy(pool, buf_view(&text));
    buf_fini(&text);
    return body;
}

static struct extent
same_body(const struct request *request)
{
    struct extent body = request->job->fanout->bytes;

    chunk_ref(body.chunk);
    return body;
}

struct extent
fanout_words(const struct fanout_job *job)
{
    return job->bytes;
}

/* --- jobs --------------------------------------------------------------------- */

/* A job of these parts with nothing sent; takes the split over. */
static struct split_job *
new_job(struct request *request, struct split *split, struct fanout_job *fanout)
{
    struct split_job *job = job_new(request, split);

    job->fanout = fanout;
    for (uint32_t i = 0; i < job->split.part_count; i++)
        job->parts[i].attempt.is_read = false; /* primaries only */
    return job;
}

/* Is it the same shard, or what has come in its place? */
static bool
is_same_shard(const struct request *request, const struct split_part *before,
              const struct generation *generation, const struct split_part *now)
{
    if (before->shard == ROUTE_NONE || now->shard == ROUTE_NONE)
        return false;
    const struct server *was = generation_server(generation, before->shard);
    const struct server *is =
        generation_server(request->generation, now->shard);
    if (was == is)
        return true;
    if (pool_is_cluster(generation->settings))
        return before->slot == now->slot;
    return strcmp(was->name, is->name) == 0;
}

/* What a part has met so far, so that its patience grows from try to try. */
static void
take_attempt(struct part_call *part, const struct part_call *before)
{
    part->attempt.waits = before->attempt.waits;
    part->attempt.hops = before->attempt.hops;
    part->attempt.outcome = before->attempt.outcome;
}

/* Who has answered a command that does not only read is not asked again. */
static void
take_answer(struct split_job *job, uint32_t index, struct split_job *before,
            uint32_t of)
{
    struct part_call *part = &job->parts[index];

    if (!before->parts[of].done || part->done)
        return;
    part->done = true;
    job->left--;
    chain_take(&job->replies[index], &before->replies[of]);
}

/* `before` went by `generation`. */
static void
take_over(struct request *request, struct split_job *before,
          const struct generation *generation)
{
    struct split_job *job = request->job;

    for (uint32_t i = 0; i < job->split.part_count; i++) {
        for (uint32_t k = 0; k < before->split.part_count; k++) {
            if (!is_same_shard(request, &before->split.parts[k], generation,
                               &job->split.parts[i]))
                continue;
            take_attempt(&job->parts[i], &before->parts[k]);
            if (!retry_only_reads(request->command))
                take_answer(job, i, before, k);
        }
    }
}

/* In place of the job that there was; all of its calls are idle. */
static void
replace_job(struct request *request, struct split *split)
{
    struct split_job *before = request->job;
    struct generation *generation = generation_ref(request->generation);

    request_route_anew(request, request->session->generation);
    request->job = new_job(request, split, before->fanout);
    take_over(request, before, generation);
    before->fanout = NULL;
    generation_unref(&generation);
    split_job_discard(request, before);
}

/* --- sending ------------------------------------------------------------------ */

static void
send_parts(struct request *request)
{
    /* Sending may fail at once and end the request, so hold on to it. */
    request->refs++;
    for (uint32_t i = 0; i < request->job->split.part_count; i++) {
        if (request->session == NULL || request->done)
            break;
        if (!request->job->parts[i].done)
            part_send(&request->job->parts[i]);
    }
    request_unref(&request);
}

/* Nobody is known yet. */
static void
wait_for_shards(struct request *request)
{
    struct split split = nobody(request->command);

    replace_job(request, &split);
    holding_take_unserved(request, &request->job->parts[0].attempt);
}

static void
send_to_all(struct request *request)
{
    struct split split = everybody(request);

    if (split.part_count == 0) {
        split_fini(&split);
        wait_for_shards(request);
        return;
    }
    replace_job(request, &split);
    struct split_job *job = request->job;
    cell_inc(&request->pool->stats->requests_fanout);
    cell_add(&request->pool->stats->fragments, job->left);
    for (uint32_t i = 0; i < job->split.part_count; i++)
        if (!job->parts[i].done)
            job->parts[i].call.body = same_body(request);
    if (job->left == 0)
        split_job_gathered(request);
    else
        send_parts(request);
}

void
fanout_send_scan(struct request *request)
{
    struct fanout_job *fanout = request->job->fanout;
    struct scan_target target = scan_find(request->session, fanout->scan);

    if (target.shard == ROUTE_NONE && fanout->scan.place == 0) {
        wait_for_shards(request);
        return;
    }
    if (target.shard == ROUTE_NONE) {
        fanout_end_scan(request);
        return;
    }
    struct split split = empty_split(request->command, 1);
    add_part(&split, target.shard,
             slot_of(request->session->generation, target.shard,
                     target.step.place));
    replace_job(request, &split);
    fanout->step = target.step;
    request->job->parts[0].call.body = scan_body(request, target.backend);
    cell_inc(&request->pool->stats->requests_fanout);
    send_parts(request);
}

/* --- waiting for a map -------------------------------------------------------- */

/* Has something been seen that the next map will tell of?  A page of a scan
 * need not wait for it. */
static bool
is_doubtful(const struct request *request)
{
    return is_followed(request) && !fanout_is_scan(request->command) &&
        request->pool->hint_is_open && request->job->fanout->waits < PATIENCE;
}

static void
hold_all(struct request *request)
{
    struct split_job *job = request->job;

    for (uint32_t i = 0; i < job->split.part_count; i++)
        if (!job->parts[i].done)
            holding_take_patience(request, &job->parts[i].attempt);
}

/* Nothing of it is held or under way. */
static void
go_or_wait(struct request *request)
{
    if (is_doubtful(request)) {
        request->job->fanout->waits++;
        hold_all(request);
    } else if (fanout_is_scan(request->command)) {
        fanout_send_scan(request);
    } else {
        send_to_all(request);
    }
}

void
fanout_go(struct request *request, struct holding_pass *pass)
{
    struct split_job *job = request->job;
    bool is_held = false;

    for (uint32_t i = 0; i < job->split.part_count; i++) {
        struct attempt *attempt = &job->parts[i].attempt;
        if (attempt_is_held(attempt) && !holding_is_due(pass, attempt))
            return;
        is_held = is_held || attempt_is_held(attempt);
    }
    if (!is_held)
        return;
    for (uint32_t i = 0; i < job->split.part_count; i++)
        holding_drop(request, &job->parts[i].attempt);
    go_or_wait(request);
}

/* --- the answer --------------------------------------------------------------- */

bool
fanout_is_stale(const struct request *request)
{
    const struct fanout_job *fanout = request->job->fanout;

    return is_followed(request) && retry_only_reads(request->command) &&
        !request->was_late && fanout->rounds < ROUNDS_MAX &&
        (request->pool->pool->current != request->generation ||
         is_doubtful(request));
}

/* Called by a part, so that the job has to stay until the next pass. */
static void
ask_anew(struct request *request)
{
    struct split_job *job = request->job;

    job->fanout->rounds++;
    for (uint32_t i = 0; i < job->split.part_count; i++) {
        split_job_drop_reply(request, i);
        job->parts[i].done = false;
        job->left++;
        holding_take_anew(request, &job->parts[i].attempt);
    }
}

bool
fanout_finish(struct request *request)
{
    if (fanout_is_stale(request)) {
        ask_anew(request);
        return false;
    }
    if (fanout_asks_control(request))
        return false;
    return fanout_answer(request);
}

struct view
fanout_text_unserved(const struct request *request, uint32_t shard,
                     const struct attempt *attempt)
{
    if (shard == ROUTE_NONE)
        return request_text_no_map(request);
    return request_text_untaken(request, shard, attempt);
}

/* --- starting ----------------------------------------------------------------- */

static struct fanout_job *
fanout_job_new(const struct incoming *in)
{
    struct fanout_job *fanout = MEM_NEW(struct fanout_job);
    uint64_t dice = pool_random(in->session->pool->pool, UINT32_MAX);

    fanout_init(&fanout->fanout, in->command, &in->args, dice);
    fanout->bytes = in->bytes;
    chunk_ref(in->bytes.chunk);
    if (in->command->id == COMMAND_ID_SCRIPT_EXISTS)
        fanout->fanout.known = fanout->known = scripts_known(in);
    return fanout;
}

void
fanout_job_free(struct request *request, struct fanout_job **jobp)
{
    struct fanout_job *fanout = *jobp;

    *jobp = NULL;
    if (fanout == NULL)
        return;
    chunk_unref(&fanout->bytes.chunk);
    mem_free(fanout->known);
    if (fanout->request != NULL)
        timer_stop(&fanout->patience);
    buf_fini(&fanout->head);
    request_discharge(request, fanout->page.keys.bytes);
    chain_clear(&fanout->page.keys);
    mem_free(fanout);
}

/* False after having answered. */
static bool
take_cursor(struct request *request, const struct command_args *args,
            struct scan_cursor *cursor)
{
    if (!fanout_is_scan(request->command) ||
        scan_cursor_parse(cursor, command_arg(args, 1)))
        return true;
    request_fail(request, VIEW("ERR invalid cursor"));
    return false;
}

void
fanout_start(const struct incoming *in)
{
    struct session *session = in->session;
    struct request *request = request_new(session, in->command);
    struct scan_cursor cursor = {0};

    if (!take_cursor(request, &in->args, &cursor))
        return;
    request_start_deadline(request);
    request_weigh(request, in->bytes.len);
    struct fanout_job *fanout = fanout_job_new(in);
    struct split split = nobody(in->command);
    request->job = new_job(request, &split, fanout);
    fanout->scan = cursor;
    fanout->page_size = scan_page_size(&in->args);
    session->barrier = session->barrier || is_followed(request) ||
        fanout_concerns_us(in->command);
    request->refs++;
    go_or_wait(request);
    request_unref(&request);
}

static void
on_impatience(struct timer *timer UNUSED, void *arg)
{
    struct fanout_job *fanout = arg;
    struct request *request = fanout->request;

    if (request->session != NULL && !request->done)
        split_job_give_up_rest(request, VIEW("ERR proxy: too late"));
}

void
fanout_keyspace(struct request *request, struct view head)
{
    struct session_env *env = request->pool->env;
    struct fanout_job *fanout = MEM_NEW(struct fanout_job);
    struct view bytes = VIEW("*2\r\n$4\r\nINFO\r\n$8\r\nkeyspace\r\n");
    struct split split = nobody(request->command);

    buf_append_view(&fanout->head, head);
    fanout->bytes = extent_copy(loop_chunks(env->loop), bytes);
    fanout->request = request;
    timer_init(&fanout->patience, env->loop, on_impatience, fanout);
    timer_start(&fanout->patience, KEYSPACE_PATIENCE_MS);
    request->job = new_job(request, &split, fanout);
    request->refs++;
    go_or_wait(request);
    request_unref(&request);
}

bool
fanout_try(const struct incoming *in)
{
    if (!fanout_is_for(in->session, in->command) &&
        !fanout_concerns_us(in->command))
        return false;
    fanout_start(in);
    return true;
}
