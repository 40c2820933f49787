/*
 * session/split_job_priv.h - what the files that make parts share.
 */
#ifndef SESSION_SPLIT_JOB_PRIV_H
#define SESSION_SPLIT_JOB_PRIV_H

#include "session/session.h"
#include "session/split_job.h"

struct part_call {
    struct call call;
    struct attempt attempt; /* in the pool of a cluster */
    struct request *request;
    uint32_t index;
    bool done;
    struct lane *paused; /* its lane does not read (fanout_stream.h), or NULL */
    struct lane_lease *lease; /* it has a lane for itself, or NULL */
};

struct split_job {
    struct split split;
    struct fanout_job *fanout; /* the parts are shards (fanout.h), or NULL */
    struct extent words; /* of the request, if it may be slow; a ref */
    struct combine *combine; /* the parts are sets (combine.h), or NULL */
    uint32_t left; /* parts not done */
    struct chain *replies;
    struct part_call parts[];
};

static inline struct split_job *
part_job(const struct part_call *part)
{
    return part->request->job;
}

static inline uint32_t
part_shard(const struct part_call *part)
{
    return part_job(part)->split.parts[part->index].shard;
}

static inline struct server *
part_server(const struct part_call *part)
{
    return generation_server(part->request->generation, part_shard(part));
}

/* --- split_reply.c ----------------------------------------------------------- */

extern const struct call_ops part_call_ops;

/* --- split_job.c ------------------------------------------------------------- */

/* Its whole answer is here. */
void part_done(struct part_call *part);
/* It ends with an error: with this one, or as its server cannot be reached. */
void part_fail(struct part_call *part, struct view text);
void part_fail_unreachable(struct part_call *part);
/* It was sent: may it have written?  Those of a command that stores what comes of
 * them only read. */
bool part_may_have_run(const struct part_call *part, bool sent) MUST_CHECK;

/* Write the request of one part into a chunk; the ref is the caller's. */
struct extent part_encode(const struct split *split, uint32_t index,
                          const struct command_args *args,
                          struct chunk_pool *pool);

/* A job without bodies; takes the split over. */
struct split_job *job_new(struct request *request, struct split *split);

void part_send(struct part_call *part);

/* What a part was answered is not needed. */
void split_job_drop_reply(struct request *request, uint32_t index);
/* All parts have their answers. */
void split_job_gathered(struct request *request);
/* Free a job whose place another has taken; its calls are idle. */
void split_job_discard(struct request *request, struct split_job *job);

/* Make one part a key of a part with several, which is held; each of them is
 * held as it was. */
void split_job_one_key_each(struct request *request, uint32_t index);

#endif
