/*
 * session/split_look.c - what others see of the parts of a request.
 */
#include "session/fanout.h"
#include "session/split_job_priv.h"

size_t
split_job_kept(const struct request *request)
{
    const struct split_job *job = request->job;
    size_t bytes = 0;

    for (uint32_t i = 0; i < job->split.part_count; i++)
        bytes += job->replies[i].bytes;
    return bytes;
}

void
split_job_each_reply(struct request *request,
                     void (*fn)(struct chain *reply, struct chunk_pool *pool))
{
    struct split_job *job = request->job;

    for (uint32_t i = 0; i < job->split.part_count; i++)
        fn(&job->replies[i], loop_chunks(request->pool->env->loop));
}

struct extent
split_job_words(const struct request *request)
{
    const struct split_job *job = request->job;

    return job->fanout == NULL ? job->words : fanout_words(job->fanout);
}

uint64_t
split_job_sent_us(const struct request *request)
{
    const struct split_job *job = request->job;
    uint64_t first_us = UINT64_MAX;

    for (uint32_t i = 0; i < job->split.part_count; i++) {
        uint64_t sent_us = job->parts[i].call.sent_us;
        if (sent_us > 0)
            first_us = MIN(first_us, sent_us);
    }
    return first_us == UINT64_MAX ? 0 : first_us;
}
