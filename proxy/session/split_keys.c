/*
 * session/split_keys.c - while a slot moves, one command a key.
 *
 *   MGET {s}1 {s}2  --TRYAGAIN-->  MGET {s}1 | MGET {s}2
 *
 * Some keys of the slot are at the old owner, some at the new one, and neither
 * answers for both; but one of them does for each.
 */
#include <string.h>

#include "base/mem.h"
#include "session/body_words.h"
#include "session/session.h"
#include "session/split_job_priv.h"

/* --- room for more parts ----------------------------------------------------- */

/* Move the parts behind `index` up by `more`; no call is under way, so nobody
 * points at them. */
static struct split_job *
job_widen(struct request *request, uint32_t index, uint32_t more)
{
    struct split_job *job = request->job;
    uint32_t count = job->split.part_count, behind = count - index - 1;

    job = mem_realloc(job, sizeof(*job) +
                               (count + more) * sizeof(struct part_call));
    job->replies = mem_realloc(job->replies,
                               (count + more) * sizeof(struct chain));
    /* split->parts has room for one a key. */
    memmove(&job->split.parts[index + 1 + more], &job->split.parts[index + 1],
            behind * sizeof(struct split_part));
    memmove(&job->replies[index + 1 + more], &job->replies[index + 1],
            behind * sizeof(struct chain));
    memmove(&job->parts[index + 1 + more], &job->parts[index + 1],
            behind * sizeof(struct part_call));
    job->split.part_count = count + more;
    job->left += more;
    for (uint32_t i = index + 1 + more; i < count + more; i++)
        job->parts[i].index = i;
    request->job = job;
    return job;
}

/* --- cutting ------------------------------------------------------------------- */

/* The words of one part as a split of their own, a key a part. */
static void
cut_words(struct split *cut, const struct command *command,
          const struct command_args *args, uint32_t keys)
{
    *cut = (struct split){.command = command,
                          .first_key = split_first_key(command, args),
                          .key_count = keys,
                          .part_count = keys};
    cut->parts = mem_array(keys, sizeof(*cut->parts));
    cut->order = mem_array(keys, sizeof(*cut->order));
    for (uint32_t i = 0; i < keys; i++) {
        cut->parts[i] = (struct split_part){.count = 1, .first = i};
        cut->order[i] = i;
    }
}

/* The i-th key of what was part `index` is part `index` + i now. */
static void
set_part(struct request *request, const struct split_part *whole,
         const struct attempt *attempt, uint32_t index, uint32_t i)
{
    struct split_job *job = request->job;
    struct part_call *part = &job->parts[index + i];

    job->split.parts[index + i] = *whole;
    job->split.parts[index + i].count = 1;
    job->split.parts[index + i].first = whole->first + i;
    job->replies[index + i] = (struct chain){0};
    *part = (struct part_call){.request = request, .index = index + i};
    call_init(&part->call, &part_call_ops);
    part->attempt.slot = attempt->slot;
    part->attempt.hops = attempt->hops;
    part->attempt.is_read = attempt->is_read;
    holding_take_anew(request, &part->attempt);
}

void
split_job_one_key_each(struct request *request, uint32_t index)
{
    struct chunk_pool *pool = loop_chunks(request->pool->env->loop);
    struct split_part whole = request->job->split.parts[index];
    struct attempt attempt = request->job->parts[index].attempt;
    struct extent body = request->job->parts[index].call.body;
    struct request_scan scan;
    struct split cut;

    struct command_args args = body_words(&scan, &body);
    cut_words(&cut, request->command, &args, whole.count);
    struct split_job *job = job_widen(request, index, whole.count - 1);
    for (uint32_t i = 0; i < whole.count; i++) {
        set_part(request, &whole, &attempt, index, i);
        job->parts[index + i].call.body = part_encode(&cut, i, &args, pool);
    }
    holding_forget(request); /* the part that they were */
    request_scan_fini(&scan);
    mem_free(cut.parts);
    mem_free(cut.order);
    chunk_unref(&body.chunk);
}

/* --- a whole request ------------------------------------------------------------ */

void
split_job_adopt(struct request *request)
{
    struct request_scan scan;
    struct split split;
    uint32_t bad_key;

    struct command_args args = body_words(&scan, &request->call.body);
    enum split_result result =
        split_make(&split, request->command, &args,
                   request->generation->route, true, NULL, &bad_key);
    ASSERT(result == SPLIT_OK && split.part_count == 1);
    request_scan_fini(&scan);
    request->job = job_new(request, &split);
    struct part_call *part = &request->job->parts[0];
    part->call.body = request->call.body; /* with its ref */
    request->call.body = (struct extent){0};
    part->attempt = request->attempt; /* held as it was */
    request->attempt = (struct attempt){.slot = part->attempt.slot};
}
