/*
 * session/survey_priv.h - what those who answer surveys share.
 */
#ifndef SESSION_SURVEY_PRIV_H
#define SESSION_SURVEY_PRIV_H

#include "base/buf.h"
#include "session/survey.h"

struct request;
struct session_pool;

/* The part of this worker: ends in survey_tell(), now or later, once. */
typedef void (*survey_take_fn)(struct session_pool *pool,
                               const struct survey *survey);
/* What the session is answered, of what all have told. */
typedef void (*survey_reply_fn)(const struct request *request, struct view text,
                                struct buf *out);

void survey_tell(struct session_env *env, const struct survey *survey,
                 struct view text);
/* A number in a line, for survey_sum(). */
void survey_tell_count(struct session_env *env, const struct survey *survey,
                       uint64_t count);
/* The sum of the numbers in all lines. */
uint64_t survey_sum(struct view text);

/* The session of this worker with this id, or NULL. */
struct session *session_find(struct session_pool *pool, uint64_t id);

/* --- local_memory.c ------------------------------------------------------ */

void memory_reply_stats(const struct request *request, struct view text,
                        struct buf *out);

/* --- clients_survey.c ---------------------------------------------------- */

void clients_survey_list(struct session_pool *pool,
                         const struct survey *survey);
void clients_survey_kill(struct session_pool *pool,
                         const struct survey *survey);

#endif
