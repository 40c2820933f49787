/*
 * config/report.h - sentences for the operator, one a line.
 *
 *   FILE:LINE:COLUMN: error: SECTION.KEY: found X, allowed Y
 *
 * All errors of a file are reported, up to REPORT_ERRORS_MAX of them (and as
 * many warnings); what comes after is counted only.  Text from the file is
 * quoted and cut; secrets never get here.
 */
#ifndef CONFIG_REPORT_H
#define CONFIG_REPORT_H

#include "base/base.h"
#include "base/buf.h"
#include "config/node.h"

#define REPORT_ERRORS_MAX 20
#define REPORT_WARNINGS_MAX 20
/* Room for a piece of quoted text. */
#define REPORT_QUOTE_SIZE 100

struct report {
    const char *file;
    struct buf *out;
    const char *section; /* "alpha" or "alpha.servers"; NULL at the top */
    unsigned errors;
    unsigned warnings;
};

/* `key` may be NULL: the sentence is then about the whole section. */
void report_error(struct report *report, struct mark at, const char *key,
                  const char *fmt, ...) PRINTF_LIKE(4, 5);
void report_warning(struct report *report, struct mark at, const char *key,
                    const char *fmt, ...) PRINTF_LIKE(4, 5);

/* "found ..., allowed ...": what was found is the node itself. */
void report_found(struct report *report, const struct node *node,
                  const char *key, const char *allowed, ...)
    PRINTF_LIKE(4, 5);

/* About the file as a whole, without a position. */
void report_file_error(struct report *report, const char *fmt, ...)
    PRINTF_LIKE(2, 3);

/* Say how much was left out, once, at the end. */
void report_finish(struct report *report);

#endif
