/*
 * daemon/messages.c - from lines of text to lines of the log.
 */
#include "daemon/messages.h"

#include <string.h>

#include "base/log.h"
#include "base/view.h"

#define QUOTED_MAX 512

static void
log_message(struct view line)
{
    char quoted[QUOTED_MAX];
    const char *text = log_quote(quoted, sizeof(quoted), line);

    if (memmem(line.data, line.len, ": error: ", 9) != NULL)
        log_error("configuration", "text=%s", text);
    else
        log_warn("configuration", "text=%s", text);
}

void
messages_log(const struct buf *messages)
{
    size_t from = 0;

    while (from < messages->len) {
        const char *line = messages->data + from;
        const char *end = memchr(line, '\n', messages->len - from);
        size_t len = end == NULL ? messages->len - from : (size_t)(end - line);
        log_message(view_of(line, len));
        from += len + 1;
    }
}
