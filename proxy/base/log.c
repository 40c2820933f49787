/*
 * base/log.c - logfmt lines to a file or standard error.
 */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define LOG_LINE_MAX 2048

enum log_level log_level_now = LOG_LEVEL_INFO;
static int log_fd = STDERR_FILENO;
static bool is_torn;       /* the last line has no end */
static uint64_t lost;      /* lines that could not be written ... */
static uint64_t lost_told; /* ... and how many of them the log tells of */

static const char *const level_names[LOG_LEVEL_COUNT] = {
    [LOG_LEVEL_ERROR] = "error",
    [LOG_LEVEL_WARN] = "warn",
    [LOG_LEVEL_INFO] = "info",
    [LOG_LEVEL_DEBUG] = "debug",
};

/*
 * Write to fd, which is taken, from now on.  A number once in use is kept,
 * since other threads may be writing to it right now.
 */
static int
log_switch(int fd, const char *name, struct error *error)
{
    int used = __atomic_load_n(&log_fd, __ATOMIC_RELAXED);
    int result = fd;

    if (fd >= 0 && used == STDERR_FILENO) {
        __atomic_store_n(&log_fd, fd, __ATOMIC_RELAXED);
    } else if (fd >= 0) {
        result = dup3(fd, used, O_CLOEXEC);
        close(fd);
    }
    if (result < 0)
        return error_set(error, "cannot open log file %s: %s", name,
                         strerror(errno));
    return 0;
}

int
log_open(const char *path, struct error *error)
{
    int fd;

    if (path == NULL || strcmp(path, "-") == 0) {
        path = "standard error";
        fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    } else {
        fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    }
    return log_switch(fd, path, error);
}

int
log_descriptor(void)
{
    return __atomic_load_n(&log_fd, __ATOMIC_RELAXED);
}

void
log_set_level(enum log_level level)
{
    __atomic_store_n(&log_level_now, level, __ATOMIC_RELAXED);
}

int
log_level_parse(const char *name)
{
    for (int i = 0; i < LOG_LEVEL_COUNT; i++) {
        if (strcmp(level_names[i], name) == 0)
            return i;
    }
    return -1;
}

static int
write_head(char *line, size_t size, enum log_level level, const char *msg)
{
    struct timespec now;
    struct tm utc;

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    return snprintf(line, size,
                    "ts=%04d-%02d-%02dT%02d:%02d:%02d.%06ldZ level=%s "
                    "msg=\"%s\"",
                    utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                    utc.tm_hour, utc.tm_min, utc.tm_sec, now.tv_nsec / 1000,
                    level_names[level], msg);
}

/* --- lines that did not get out --------------------------------------------- */

/* Written in one piece, or part of a line stands there without its end. */
static void
note_lost(ssize_t written)
{
    __atomic_add_fetch(&lost, 1, __ATOMIC_RELAXED);
    if (written > 0)
        __atomic_store_n(&is_torn, true, __ATOMIC_RELAXED);
}

static bool
write_line(const char *line, size_t len)
{
    ssize_t written = write(log_descriptor(), line, len);

    if (written == (ssize_t)len)
        return true;
    /* A full disk must not stop the proxy; the line is lost. */
    note_lost(written);
    return false;
}

uint64_t
log_lost(void)
{
    return __atomic_load_n(&lost, __ATOMIC_RELAXED);
}

/* --- writing ---------------------------------------------------------------- */

/* False: the line is lost. */
static bool put_line(enum log_level level, const char *msg, const char *fmt,
                     va_list args) PRINTF_LIKE(3, 0);

static bool
put_line(enum log_level level, const char *msg, const char *fmt, va_list args)
{
    char buffer[LOG_LINE_MAX + 1];
    char *line = buffer + 1;        /* behind the end of a line that was torn */
    size_t room = LOG_LINE_MAX - 1; /* the newline always fits */
    size_t len = MIN((size_t)write_head(line, room, level, msg), room - 2);

    if (fmt != NULL && fmt[0] != '\0') {
        line[len++] = ' ';
        int more = vsnprintf(line + len, room - len, fmt, args);
        len += MIN((size_t)more, room - len - 1);
    }
    line[len++] = '\n';
    if (unlikely(__atomic_exchange_n(&is_torn, false, __ATOMIC_RELAXED))) {
        *--line = '\n';
        len++;
    }
    return write_line(line, len);
}

static bool put(enum log_level level, const char *msg, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

static bool
put(enum log_level level, const char *msg, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    bool is_written = put_line(level, msg, fmt, args);
    va_end(args);
    return is_written;
}

/* There is room again: say how many lines are missing. */
static void
tell_lost(void)
{
    uint64_t now = log_lost();
    uint64_t told = __atomic_exchange_n(&lost_told, now, __ATOMIC_RELAXED);

    if (now <= told ||
        put(LOG_LEVEL_WARN, "log lines were lost", "count=%llu",
            (unsigned long long)(now - told)))
        return;
    __atomic_sub_fetch(&lost_told, now - told, __ATOMIC_RELAXED);
}

void
log_vwrite(enum log_level level, const char *msg, const char *fmt, va_list args)
{
    if (put_line(level, msg, fmt, args) &&
        unlikely(log_lost() != __atomic_load_n(&lost_told, __ATOMIC_RELAXED)))
        tell_lost();
}

void
log_write(enum log_level level, const char *msg, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    log_vwrite(level, msg, fmt, args);
    va_end(args);
}

const char *
log_quote(char *out, size_t size, struct view text)
{
    static const char hex[] = "0123456789abcdef";
    size_t n = 0;

    ASSERT(size >= 8);
    out[n++] = '"';
    for (size_t i = 0; i < text.len && n + 6 < size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c == '"' || c == '\\') {
            out[n++] = '\\';
            out[n++] = (char)c;
        } else if (c < 0x20 || c >= 0x7f) {
            out[n++] = '\\';
            out[n++] = 'x';
            out[n++] = hex[c >> 4];
            out[n++] = hex[c & 15];
        } else {
            out[n++] = (char)c;
        }
    }
    out[n++] = '"';
    out[n] = '\0';
    return out;
}
