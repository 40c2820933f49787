/*
 * session/split_job.h - the parts of one split request on their way.
 *
 * Each part is a call of its own with an answer of its own; when the last has
 * been answered, lost or given up, the answers are merged into the request's.
 * A part always ends, by reply or by deadline.  Parts travel on shared lanes.
 */
#ifndef SESSION_SPLIT_JOB_H
#define SESSION_SPLIT_JOB_H

#include "command/combine.h"
#include "session/holding.h"
#include "session/request.h"

/* Take a split of two or more parts over, write its parts and send them.  What
 * stands in request->call.body, or nothing, is kept as split_job_words(). */
void split_job_start(struct request *request, struct split *split,
                     const struct command_args *args);
/* The same for sets, one a part; takes `combine` over. */
void split_job_combine(struct request *request, struct split *split,
                       struct combine *combine,
                       const struct command_args *args);

/* The deadline has passed: what is missing ends with an error. */
void split_job_expire(struct request *request);

/* What has not been answered by now is not waited for: it ends with an error,
 * which is no fault of its server. */
void split_job_give_up_rest(struct request *request, struct view text);

/* Nobody waits for it any more: withdraw what is unsent. */
void split_job_abandon(struct request *request);

/* In the pool of a cluster: is none of its parts under way? */
bool split_job_is_idle(const struct request *request) MUST_CHECK;
/* Do something to each part's attempt. */
void split_job_visit(struct request *request,
                     void (*fn)(struct request *request,
                                struct attempt *attempt, void *arg),
                     void *arg);
/* Has the part of this attempt its answer? */
bool split_job_part_is_done(struct attempt *attempt) MUST_CHECK;
/* The part of this attempt, which is held, ends with an error. */
void split_job_give_up(struct request *request, struct attempt *attempt,
                       struct view text);
/* A request that went out whole, and is held, becomes a job of one part. */
void split_job_adopt(struct request *request);
/* Parts that are held go as the pass allows. */
void split_job_go(struct request *request, struct holding_pass *pass);
/* Nothing of it is held any more. */
void split_job_let_go(struct request *request);

/* Do something to each part's answer. */
void split_job_each_reply(struct request *request,
                          void (*fn)(struct chain *reply,
                                     struct chunk_pool *pool));

/* The bytes that its answers have so far. */
size_t split_job_kept(const struct request *request) MUST_CHECK;

/* For those who look at it later: its words, where they are kept; when the first
 * of its parts was sent, or 0. */
struct extent split_job_words(const struct request *request);
uint64_t split_job_sent_us(const struct request *request);

void split_job_free(struct request *request);

#endif
