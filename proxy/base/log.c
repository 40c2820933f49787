/*
 * base/log.c - logfmt lines to a file or standard error.
 */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define LOG_LINE_MAX 2048

enum log_level log_level_now = LOG_LEVEL_INFO;
static int log_fd = STDERR_FILENO;

static const char *const level_names[LOG_LEVEL_COUNT] = {
    [LOG_LEVEL_ERROR] = "error",
    [LOG_LEVEL_WARN] = "warn",
    [LOG_LEVEL_INFO] = "info",
    [LOG_LEVEL_DEBUG] = "debug",
};

int
log_open(const char *path, struct error *error)
{
    if (path == NULL || strcmp(path, "-") == 0) {
        log_fd = STDERR_FILENO;
        return 0;
    }

    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    if (fd < 0)
        return error_set(error, "cannot open log file %s: %s", path,
                         strerror(errno));
    if (log_fd == STDERR_FILENO) {
        log_fd = fd;
        return 0;
    }
    /* Keep the number: other threads may be writing to it right now. */
    int result = dup3(fd, log_fd, O_CLOEXEC);
    close(fd);
    if (result < 0)
        return error_set(error, "cannot reopen log file %s: %s", path,
                         strerror(errno));
    return 0;
}

void
log_set_level(enum log_level level)
{
    log_level_now = level;
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

void
log_write(enum log_level level, const char *msg, const char *fmt, ...)
{
    char line[LOG_LINE_MAX];
    size_t room = sizeof(line) - 2; /* a space before, a newline after */
    size_t len = MIN((size_t)write_head(line, room, level, msg), room - 1);

    if (fmt != NULL && fmt[0] != '\0') {
        va_list args;
        line[len++] = ' ';
        va_start(args, fmt);
        int more = vsnprintf(line + len, room - len, fmt, args);
        va_end(args);
        len += MIN((size_t)more, room - len - 1);
    }
    line[len++] = '\n';
    /* A full disk must not stop the proxy; the line is lost. */
    ssize_t written = write(log_fd, line, len);
    (void)written;
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
