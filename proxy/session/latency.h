/*
 * session/latency.h - LATENCY: the longest request of each second.
 *
 * There are two events, as at a server: "fast-command" for commands that take
 * servers little time, and "command" for the others.  Each worker keeps the last
 * LATENCY_SAMPLES seconds that had one; together they are what LATENCY shows.
 *
 * Owner: the pool of a worker.
 */
#ifndef SESSION_LATENCY_H
#define SESSION_LATENCY_H

#include "base/buf.h"
#include "session/session.h"
#include "session/survey.h"

#define LATENCY_SAMPLES 160

struct latency;
struct request;

/* A request has been answered; is it an event? */
void latency_note(struct session_pool *pool, const struct command *command,
                  uint64_t took_us);
void latency_free(struct session_pool *pool);

/* Is it the name of one? */
bool latency_is_event(struct view name) MUST_CHECK;

/* Of surveys: all samples, of the events that the text names or of all; and to
 * forget them. */
void latency_survey_get(struct session_pool *pool,
                        const struct survey *survey);
void latency_survey_graph(struct session_pool *pool,
                          const struct survey *survey);
void latency_survey_reset(struct session_pool *pool,
                          const struct survey *survey);
void latency_reply_latest(const struct request *request, struct view text,
                          struct buf *out);
void latency_reply_history(const struct request *request, struct view text,
                           struct buf *out);
void latency_reply_doctor(const struct request *request, struct view text,
                          struct buf *out);
void latency_reply_graph(const struct request *request, struct view text,
                         struct buf *out);
void latency_reply_reset(const struct request *request, struct view text,
                         struct buf *out);

#endif
