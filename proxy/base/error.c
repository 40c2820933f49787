/*
 * base/error.c - operator errors, and the end of the process on a bug.
 */
#include "base/error.h"

#include <execinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"

int
error_set(struct error *error, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(error->text, sizeof(error->text), fmt, args);
    va_end(args);
    return -1;
}

void
assert_failed(const char *file, int line, const char *cond)
{
    void *frames[64] = {0};

    fprintf(stderr, "pointsman: bug: %s:%d: assertion failed: %s\n", file, line,
            cond);
    fflush(stderr);
    if (log_descriptor() != STDERR_FILENO)
        log_error("assertion failed", "file=%s line=%d cond=\"%s\"", file,
                  line, cond);
    backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
    abort();
}
