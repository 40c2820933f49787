/*
 * session/survey.h - a question about all workers, as each of them meets it.
 *
 *   session --question--> control --survey--> every worker
 *      ^                     |                    |
 *      +------answer---------+<-------text--------+
 *
 * Control puts the texts of all workers one behind the other; what they mean is
 * known here alone.  The answer is made into a reply by the worker that asked.
 */
#ifndef SESSION_SURVEY_H
#define SESSION_SURVEY_H

#include "session/env.h"

struct survey {
    enum question_kind kind;
    uint64_t id;         /* control's, for its answer */
    size_t pool;         /* id */
    uint64_t session_id; /* who asks, maybe at another worker */
    struct view text;    /* of the question; borrowed */
};

/* Have this worker's part of the answer told (env->tell), now or later. */
void survey_take(struct session_env *env, const struct survey *survey);

/* The answer to a question of a session here, whose ids and kind it has; its
 * text is what all workers, or control, had to say. */
void survey_answer(struct session_env *env, const struct question *answer);

#endif
