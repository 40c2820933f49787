/*
 * base/log.h - one line of logfmt an event.
 *
 *   ts=2026-11-30T01:10:56.123456Z level=info msg="listening" pool=a addr=...
 *
 * log_info("msg", "key=%s other=%d", ...): the second argument is printf for
 * the fields that follow msg; text from peers and paths go through log_quote()
 * first.
 * One write(2) a line, so threads never mix lines.  A line that cannot be
 * written (a full disk) is lost and counted; the next that can be is followed
 * by their number.  The mutable globals of the building live here.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdarg.h>
#include <stdbool.h>

#include "base/base.h"
#include "base/error.h"
#include "base/view.h"

enum log_level {
    LOG_LEVEL_ERROR,
    LOG_LEVEL_WARN,
    LOG_LEVEL_INFO,
    LOG_LEVEL_DEBUG,
    LOG_LEVEL_COUNT
};

extern enum log_level log_level_now;

/* NULL or "-" means standard error.  Call again to reopen after a rotation. */
int log_open(const char *path, struct error *error) MUST_CHECK;
void log_set_level(enum log_level level);
/* -1 when no level has this name. */
int log_level_parse(const char *name) MUST_CHECK;

void log_write(enum log_level level, const char *msg, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
void log_vwrite(enum log_level level, const char *msg, const char *fmt,
                va_list args) PRINTF_LIKE(3, 0);

/* Where lines go at the moment: for those who have to write by themselves. */
int log_descriptor(void);
/* Lines that could not be written, ever. */
uint64_t log_lost(void);

/* Room for a path, quoted; a longer one is cut. */
#define LOG_PATH_MAX 1024

/* Quote and escape untrusted bytes into out (always terminated, cut to fit). */
const char *log_quote(char *out, size_t size, struct view text);

#define log_is_on(level) \
    ((int)(level) <= (int)__atomic_load_n(&log_level_now, __ATOMIC_RELAXED))

#define log_at(level, ...)                   \
    do {                                     \
        if (log_is_on(level))                \
            log_write((level), __VA_ARGS__); \
    } while (0)

#define log_error(...) log_at(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...) log_at(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...) log_at(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_at(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
