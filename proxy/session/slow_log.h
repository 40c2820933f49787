/*
 * session/slow_log.h - requests that took long, and where their time went.
 *
 *   last byte read --queue--> sent --server--> answered --wait--> its turn
 *
 * Each worker keeps slowlog_max_len of them for each pool; the newest of all
 * workers are what SLOWLOG shows.  LATENCY keeps the longest one of each second.
 * A request costs one comparison with pool->notice_us.
 *
 * Owner: the pool of a worker.
 */
#ifndef SESSION_SLOW_LOG_H
#define SESSION_SLOW_LOG_H

#include "base/buf.h"
#include "session/request.h"
#include "session/survey.h"

/* A split request is kept up to this size, to be shown if it is slow. */
#define SLOW_LOG_WORDS_MAX 16384

/* The pool has new settings. */
void slow_log_configure(struct session_pool *pool);
void slow_log_free(struct session_pool *pool);

/* Its answer leaves now; it took pool->notice_us, or longer. */
void slow_log_note(struct request *request, uint64_t took_us);

/* Is SLOWLOG the proxy's own? */
static inline bool
slow_log_is_on(const struct session_pool *pool)
{
    return pool->settings->slowlog_log_slower_than_us >= 0;
}

/* Of surveys; the text of the first is "count details resp". */
void slow_log_survey_get(struct session_pool *pool,
                         const struct survey *survey);
void slow_log_survey_len(struct session_pool *pool,
                         const struct survey *survey);
void slow_log_survey_reset(struct session_pool *pool,
                           const struct survey *survey);
void slow_log_reply_get(const struct request *request, struct view text,
                        struct buf *out);
void slow_log_reply_len(const struct request *request, struct view text,
                        struct buf *out);

#endif
