/*
 * session/fanout_answer.c - one answer, made of those of all shards.
 */
#include "command/info_merge.h"
#include "command/keyspace.h"
#include "resp/encode.h"
#include "session/body_words.h"
#include "session/fanout_priv.h"
#include "session/published.h"
#include "session/scripts.h"
#include "session/split_job_priv.h"

#define SCAN_SHARDS_MAX 16 /* that one page is of */

static void
forget_script(const struct request *request)
{
    struct request_scan scan;

    struct command_args args = body_words(&scan, &request->job->fanout->bytes);
    scripts_forget(request->pool, command_arg(&args, 2));
    request_scan_fini(&scan);
}

/* --- INFO --------------------------------------------------------------------- */

static void
tell_text(struct request *request, const struct buf *text)
{
    struct buf answer = {0};

    encode_verbatim(&answer, request->session->resp, buf_view(text));
    chain_copy(&request->reply, loop_chunks(request->pool->env->loop),
               answer.data, answer.len);
    buf_fini(&answer);
}

/* What is the proxy's own, and the keys of those who have answered. */
static enum merge_result
tell_keyspace(struct request *request)
{
    struct split_job *job = request->job;

    keyspace_merge(job->replies, job->split.part_count, &job->fanout->head);
    tell_text(request, &job->fanout->head);
    return MERGE_OK;
}

/* By the table of commands. */
static enum merge_result
merge_by_kind(struct request *request)
{
    struct split_job *job = request->job;

    return fanout_merge(&job->fanout->fanout, job->replies,
                        job->split.part_count,
                        loop_chunks(request->pool->env->loop),
                        &request->reply);
}

/* The servers' own, as the administrator wants it, but whose clients they are. */
static enum merge_result
tell_info(struct request *request)
{
    struct split_job *job = request->job;
    struct buf text = {0};

    if (!info_merge(job->replies, job->split.part_count,
                    buf_view(&job->fanout->head), &text))
        return merge_by_kind(request);
    tell_text(request, &text);
    buf_fini(&text);
    return MERGE_OK;
}

/* Is it INFO of the servers, not the end of our own?  By how it has begun: what goes
 * to the servers a reload may have changed. */
static bool
is_their_info(const struct request *request)
{
    return request->command->id == COMMAND_ID_INFO &&
        request->job->fanout->request == NULL;
}

bool
fanout_asks_control(struct request *request)
{
    struct session *session = request->session;
    struct fanout_job *fanout = request->job->fanout;
    bool resets = fanout_concerns_us(request->command);

    /* It tells of the proxy's clients. */
    if (fanout->has_asked || (!resets && !is_their_info(request)))
        return false;
    struct question question = {
        .kind = resets ? QUESTION_RESETSTAT : QUESTION_INFO,
        .session_id = session->id,
        .request_id = request->id,
        .pool = request->pool->id,
        .text = resets ? VIEW("") : VIEW("clients stats"),
    };
    fanout->has_asked = true;
    request->pool->env->ask(request->pool->env, &question);
    return true;
}

void
fanout_take_own(struct request *request, struct view text)
{
    buf_append_view(&request->job->fanout->head, text);
    split_job_gathered(request);
}

/* By what is asked. */
static enum merge_result
tell(struct request *request)
{
    const struct command *command = request->command;

    if (command->id == COMMAND_ID_INFO)
        return is_their_info(request) ? tell_info(request)
                                      : tell_keyspace(request);
    return merge_by_kind(request);
}

/* --- SCAN ---------------------------------------------------------------------- */

/* The answer is what has come so far. */
static void
give_page(struct request *request)
{
    struct fanout_job *fanout = request->job->fanout;

    request_discharge(request, fanout->page.keys.bytes);
    request->reply_type =
        scan_give(&fanout->step, &fanout->page,
                  loop_chunks(request->pool->env->loop),
                  &request->reply) == MERGE_OK
        ? '*'
        : '-';
}

void
fanout_end_scan(struct request *request)
{
    struct fanout_job *fanout = request->job->fanout;

    fanout->page.backend = 0;
    fanout->step.next = 0;
    give_page(request);
    request_charge(request, request->reply.bytes);
    request->reply_bytes = request->reply.bytes;
    request_done(request);
}

/* An error at a shard behind others: the client meets it with its next cursor. */
static void
give_earlier_pages(struct request *request)
{
    struct fanout_job *fanout = request->job->fanout;

    chain_clear(&request->reply);
    fanout->page.backend = 0;
    fanout->step.next = fanout->scan.place;
    give_page(request);
}

/* A shard is through, and the page not full: a server would not end it here. */
static bool
may_go_on(struct fanout_job *fanout)
{
    return fanout->page.backend == 0 && fanout->step.next != 0 &&
        fanout->page.count < fanout->page_size &&
        ++fanout->shards < SCAN_SHARDS_MAX;
}

static bool
answer_scan(struct request *request)
{
    struct fanout_job *fanout = request->job->fanout;
    size_t before = fanout->page.keys.bytes;

    enum merge_result result =
        scan_read(request->command, request->job->replies,
                  loop_chunks(request->pool->env->loop), &fanout->page,
                  &request->reply);
    request_charge(request, fanout->page.keys.bytes - before);
    if (result != MERGE_OK && fanout->shards == 0) {
        request->reply_type = '-';
    } else if (result != MERGE_OK) {
        give_earlier_pages(request);
    } else if (may_go_on(fanout)) {
        fanout->scan = (struct scan_cursor){.place = fanout->step.next};
        fanout_send_scan(request);
        return false;
    } else {
        give_page(request);
    }
    return true;
}

/* --- any ---------------------------------------------------------------------- */

bool
fanout_answer(struct request *request)
{
    if (fanout_is_scan(request->command))
        return answer_scan(request);

    bool is_good = tell(request) == MERGE_OK;

    if (is_good && published_concerns(request->session, request->command))
        published_correct_sums(request);
    request->reply_type = is_good ? '*' : '-';
    if (unlikely(!is_good) && request->command->id == COMMAND_ID_SCRIPT_LOAD)
        forget_script(request);
    return true;
}
