/*
 * base/log_limit.h - the same line again and again: a few, then their number.
 *
 * Lines are of one kind when they have the same msg, pool and key (a server's
 * name, a reason).  Of each kind a thread writes so many within
 * LOG_LIMIT_SECONDS; the rest is counted, and told when that time is over (lines
 * of level debug are all written):
 *
 *   level=warn msg="repeated" line="client refused" pool=a key=x times=812 ...
 *
 * Time goes by in log_limit_tick(), which every thread calls about once a
 * second.  What is kept for it belongs to the thread.
 */
#ifndef BASE_LOG_LIMIT_H
#define BASE_LOG_LIMIT_H

#include "base/log.h"

#define LOG_LIMIT_SECONDS 10
#define LOG_LIMIT_KINDS 64 /* a thread tells apart at a time */

/* Lines of one kind that a thread writes in that time; 0: all. */
void log_limit_set(uint64_t lines);

/* As log_write(), unless too many of its kind were written lately.  `pool` and
 * `key` may be NULL; msg must stay for ever. */
void log_limited(enum log_level level, const char *pool, const char *key,
                 const char *msg, const char *fmt, ...) PRINTF_LIKE(5, 6);

/* It is now_s, in seconds since whenever: tell what was kept back for long
 * enough. */
void log_limit_tick(uint64_t now_s);
/* Tell everything that was kept back: the thread ends. */
void log_limit_flush(void);

#define log_limited_at(level, ...)             \
    do {                                       \
        if (log_is_on(level))                  \
            log_limited((level), __VA_ARGS__); \
    } while (0)

#define log_error_limited(...) log_limited_at(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn_limited(...) log_limited_at(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info_limited(...) log_limited_at(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug_limited(...) log_limited_at(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
