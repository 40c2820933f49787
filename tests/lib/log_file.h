/*
 * tests/lib/log_file.h - a log of its own for each test of a file.
 */
#ifndef TESTS_LOG_FILE_H
#define TESTS_LOG_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit.h"

#include "base/log.h"

static char log_path[64];

static inline void
log_file_begin(void)
{
    struct error error;

    snprintf(log_path, sizeof(log_path), "/tmp/test-log-XXXXXX");
    int fd = mkstemp(log_path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(log_open(log_path, &error), 0);
}

static inline void
log_file_end(void)
{
    unlink(log_path);
}

#endif
