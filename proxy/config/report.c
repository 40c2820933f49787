/*
 * config/report.c - the form of every message about a configuration.
 */
#include "config/report.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/log.h"

static void PRINTF_LIKE(2, 0)
append_formatted(struct buf *out, const char *fmt, va_list args)
{
    va_list again;

    ASSERT(fmt != NULL);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    ASSERT(len >= 0);
    vsnprintf(buf_reserve(out, (size_t)len + 1), (size_t)len + 1, fmt, args);
    out->len += (size_t)len;
}

static void
begin_line(struct report *report, struct mark at, const char *severity,
           const char *key)
{
    buf_printf(report->out, "%s:%u:%u: %s: ", report->file, at.line, at.column,
               severity);
    if (report->section != NULL)
        buf_append_str(report->out, report->section);
    if (report->section != NULL && key != NULL)
        buf_append_char(report->out, '.');
    if (key != NULL)
        buf_append_str(report->out, key);
    if (report->section != NULL || key != NULL)
        buf_append_str(report->out, ": ");
}

void
report_error(struct report *report, struct mark at, const char *key,
             const char *fmt, ...)
{
    va_list args;

    if (report->errors++ >= REPORT_ERRORS_MAX)
        return;
    begin_line(report, at, "error", key);
    va_start(args, fmt);
    append_formatted(report->out, fmt, args);
    va_end(args);
    buf_append_char(report->out, '\n');
}

void
report_warning(struct report *report, struct mark at, const char *key,
               const char *fmt, ...)
{
    va_list args;

    if (report->warnings++ >= REPORT_WARNINGS_MAX)
        return;
    begin_line(report, at, "warning", key);
    va_start(args, fmt);
    append_formatted(report->out, fmt, args);
    va_end(args);
    buf_append_char(report->out, '\n');
}

static void
append_found(struct buf *out, const struct node *node)
{
    char quoted[REPORT_QUOTE_SIZE];

    if (node_is_empty(node))
        buf_append_str(out, "nothing");
    else if (node->kind == NODE_LIST)
        buf_append_str(out, node->count == 0 ? "an empty list" : "a list");
    else if (node->kind == NODE_MAP)
        buf_append_str(out, node->count == 0 ? "an empty map of keys"
                                             : "a map of keys");
    else
        buf_append_str(out, log_quote(quoted, sizeof(quoted),
                                      node_text(node)));
}

void
report_found(struct report *report, const struct node *node, const char *key,
             const char *allowed, ...)
{
    va_list args;

    if (report->errors++ >= REPORT_ERRORS_MAX)
        return;
    begin_line(report, node->at, "error", key);
    buf_append_str(report->out, "found ");
    append_found(report->out, node);
    buf_append_str(report->out, ", allowed ");
    va_start(args, allowed);
    append_formatted(report->out, allowed, args);
    va_end(args);
    buf_append_char(report->out, '\n');
}

void
report_file_error(struct report *report, const char *fmt, ...)
{
    va_list args;

    report->errors++;
    buf_printf(report->out, "%s: error: ", report->file);
    va_start(args, fmt);
    append_formatted(report->out, fmt, args);
    va_end(args);
    buf_append_char(report->out, '\n');
}

void
report_finish(struct report *report)
{
    if (report->errors > REPORT_ERRORS_MAX)
        buf_printf(report->out, "%s: error: %u more errors are not shown\n",
                   report->file, report->errors - REPORT_ERRORS_MAX);
    if (report->warnings > REPORT_WARNINGS_MAX)
        buf_printf(report->out, "%s: warning: %u more warnings are not shown\n",
                   report->file, report->warnings - REPORT_WARNINGS_MAX);
}
