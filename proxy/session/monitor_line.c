/*
 * session/monitor_line.c - writing requests for people.
 */
#include "session/monitor_line.h"

#include <time.h>

#include "session/redact.h"

static void
quote_byte(struct buf *out, unsigned char byte)
{
    static const char plain[] = "\\\"\n\r\t\a\b";
    static const char letters[] = "\\\"nrtab";
    const char *found = byte == '\0' ? NULL : strchr(plain, byte);

    if (found != NULL) {
        buf_append_char(out, '\\');
        buf_append_char(out, letters[found - plain]);
    } else if (byte >= ' ' && byte <= '~') {
        buf_append_char(out, (char)byte);
    } else {
        buf_printf(out, "\\x%02x", byte);
    }
}

void
monitor_quote(struct buf *out, struct view bytes)
{
    buf_append_char(out, '"');
    for (size_t i = 0; i < bytes.len; i++)
        quote_byte(out, (unsigned char)bytes.data[i]);
    buf_append_char(out, '"');
}

void
monitor_line(struct buf *out, uint32_t db, const char *peer,
             const struct command *command, const struct command_args *args,
             bool has_more)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    buf_printf(out, "+%lld.%06ld [%u %s]", (long long)now.tv_sec,
               now.tv_nsec / 1000, db, peer);
    for (uint32_t i = 0; i < args->argc; i++) {
        buf_append_char(out, ' ');
        monitor_quote(out, redact_word(command, args, i));
    }
    buf_append_str(out, has_more ? " ...\r\n" : "\r\n");
}

bool
monitor_script_line(struct buf *out, struct view line, uint64_t first,
                    uint64_t databases)
{
    struct view time = view_take(&line, '[');
    struct view number = view_take(&line, ' ');
    struct view who = VIEW("lua] ");
    uint64_t db;

    if (line.len < who.len ||
        !view_equal(view_of(line.data, who.len), who) ||
        !view_to_u64(number, &db) || db < first || db - first >= databases)
        return false;
    buf_append_view(out, time);
    buf_printf(out, "[%llu ", (unsigned long long)(db - first));
    buf_append_view(out, line);
    return true;
}
