/*
 * session/combining.c - one part a set.
 */
#include "session/combining.h"

#include "base/mem.h"
#include "session/body_words.h"
#include "session/carrying.h"
#include "session/deadline.h"
#include "session/session.h"
#include "session/slow_log.h"
#include "session/split_job_priv.h"

/* Where each key is.  False: one is nowhere, which has been answered. */
static bool
place_parts(const struct incoming *in, const struct combine *combine,
            struct split *split)
{
    for (uint32_t i = 0; i < split->part_count; i++) {
        struct view key =
            command_arg(&in->args, combine_first_key(combine) + i);
        struct place place = request_place(in->session, key);
        if (is_nowhere(in->session, place)) {
            no_shard(in->session, in->command, key);
            return false;
        }
        split->parts[i] = (struct split_part){.shard = place.shard,
                                              .slot = place.slot,
                                              .count = 1};
    }
    return true;
}

static struct combine *
combine_of(const struct incoming *in)
{
    const struct pool_settings *settings = in->session->pool->settings;

    if (combine_is_store(in->command) ? settings->carry_values
                                      : settings->gather_sets)
        return combine_new(in->command, &in->args);
    return NULL;
}

/* Its words, to be looked at later; those of one that stores name its key. */
static void
keep_words(struct request *request, const struct incoming *in)
{
    bool is_noticed = in->bytes.len <= SLOW_LOG_WORDS_MAX &&
        in->session->pool->notice_us != UINT64_MAX;

    if (!is_noticed && !combine_is_store(in->command))
        return;
    request->call.body = in->bytes;
    chunk_ref(in->bytes.chunk);
}

bool
combining_try(const struct incoming *in)
{
    struct session *session = in->session;
    struct combine *combine = combine_of(in);

    if (combine == NULL)
        return false;
    uint32_t count = combine_key_count(combine);
    struct split split = {.command = in->command,
                          .key_count = count,
                          .part_count = count};
    split.parts = mem_array(count, sizeof(*split.parts));
    if (!place_parts(in, combine, &split)) {
        split_fini(&split);
        combine_free(&combine);
        return true;
    }
    struct request *request = request_new(session, in->command);
    request_start_deadline(request);
    keep_words(request, in);
    session->barrier = session->barrier || combine_is_store(in->command);
    split_job_combine(request, &split, combine, &in->args);
    return true;
}

struct extent
combining_encode(const struct combine *combine, uint32_t part,
                 const struct command_args *args, struct chunk_pool *pool)
{
    struct buf text = {0};

    combine_encode(combine, args, part, &text);
    struct extent body = extent_copy(pool, buf_view(&text));
    buf_fini(&text);
    return body;
}

/* --- its answer ------------------------------------------------------------------ */

/* The job has done its work. */
static void
store(struct request *request, struct combined *combined)
{
    struct extent words = request->job->words;
    struct request_scan scan;

    struct command_args args = body_words(&scan, &words);
    struct view key = command_arg(&args, combine_target(request->job->combine));
    struct carry *carry = carry_store(request->command, key,
                                      request->session->db, combined);
    request_scan_fini(&scan);
    chunk_ref(words.chunk);
    split_job_free(request);
    carrying_begin(request, carry, words);
    chunk_unref(&words.chunk);
}

bool
combining_finish(struct request *request)
{
    struct split_job *job = request->job;
    struct chunk_pool *pool = loop_chunks(request->pool->env->loop);
    struct combined combined = {0};

    bool is_store = combine_is_store(request->command);
    enum merge_result result = is_store
        ? combine_dump(job->combine, job->replies, pool, &combined,
                       &request->reply)
        : combine_merge(job->combine, job->replies, request->session->resp,
                        pool, &request->reply);
    if (is_store && result == MERGE_OK) {
        store(request, &combined);
        return false;
    }
    request->reply_type = result == MERGE_OK ? '*' : '-';
    return true;
}
