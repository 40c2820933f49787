/*
 * command/gather.c - replies of several shards, read side by side.
 */
#include "command/gather.h"

#include <stdio.h>

#include "base/mem.h"
#include "resp/encode.h"
#include "resp/resp.h"

/* From this size on an element is referenced: pinning its chunk costs less
 * than copying it. */
#define SHARE_FROM 512

void
gather_init(struct gather *gather, const struct command *command,
            uint32_t count, struct chunk_pool *pool)
{
    *gather = (struct gather){
        .command = command,
        .count = count,
        .cursors = mem_array(count, sizeof(struct chain_cursor)),
        .pool = pool,
    };
    reply_scan_init(&gather->scan);
}

void
gather_fini(struct gather *gather, struct chain *out)
{
    chain_take(out, &gather->reply);
    reply_scan_fini(&gather->scan);
    mem_free(gather->cursors);
}

/* --- errors ------------------------------------------------------------------- */

bool
gather_is_error(const struct chain_cursor *cursor)
{
    char type = chain_cursor_peek(cursor);

    return type == RESP_ERROR || type == RESP_BULK_ERROR;
}

bool
gather_read_error(struct gather *gather, struct chain_cursor *cursor,
                  struct buf *text)
{
    struct chain_cursor end = *cursor;
    int64_t len;

    if (!chain_cursor_element(&end, &gather->scan) || end.left > 0)
        return false;
    if (chain_cursor_peek(cursor) == RESP_BULK_ERROR) {
        if (!chain_cursor_number(cursor, RESP_BULK_ERROR, &len))
            return false;
    } else if (!chain_cursor_literal(cursor, VIEW("-"))) {
        return false;
    }
    chain_cursor_read(cursor, cursor->left - 2, text);
    return true;
}

void
gather_fail(struct gather *gather, struct buf *text)
{
    struct buf line = {0};

    encode_error(&line, buf_view(text));
    chain_clear(&gather->reply);
    chain_copy(&gather->reply, gather->pool, line.data, line.len);
    buf_fini(&line);
    buf_fini(text);
}

void
gather_fail_one(struct gather *gather, struct buf *text)
{
    /* Another part of a write may have done its work when this one failed; so
     * may one that is only let through. */
    bool is_write = (gather->command->flags & COMMAND_WRITE) != 0 ||
        gather->command->class == CLASS_REFUSE;
    if (gather->count > 1 && is_write)
        buf_append_str(text, " (proxy: other parts may have been executed)");
    gather_fail(gather, text);
}

enum merge_result
gather_bad(struct gather *gather)
{
    struct buf text = {0};

    buf_printf(&text, "ERR proxy: the reply of a shard is no answer to '%s'",
               gather->command->name);
    gather_fail_one(gather, &text);
    return MERGE_BAD_REPLY;
}

/* --- reading and writing ------------------------------------------------------ */

bool
gather_open(struct gather *gather, const struct chain *replies)
{
    bool is_good = true;

    for (uint32_t i = 0; i < gather->count; i++) {
        struct chain_cursor *cursor = &gather->cursors[i];
        chain_cursor_init(cursor, &replies[i]);
        if (!chain_cursor_attributes(cursor, &gather->scan)) {
            reply_scan_fini(&gather->scan);
            reply_scan_init(&gather->scan);
            cursor->left = 0; /* wherever it stands */
            is_good = false;
        }
    }
    return is_good;
}

static enum merge_result
take_error(struct gather *gather, struct chain_cursor *cursor)
{
    struct buf text = {0};

    if (!gather_read_error(gather, cursor, &text)) {
        buf_fini(&text);
        return gather_bad(gather);
    }
    gather_fail_one(gather, &text);
    return MERGE_ERROR;
}

enum merge_result
gather_open_good(struct gather *gather, const struct chain *replies)
{
    bool is_good = gather_open(gather, replies);

    for (uint32_t p = 0; p < gather->count; p++) {
        if (gather_is_error(&gather->cursors[p]))
            return take_error(gather, &gather->cursors[p]);
    }
    return is_good ? MERGE_OK : gather_bad(gather);
}

void
gather_header(struct gather *gather, char type, int64_t value)
{
    char header[32];
    int len =
        snprintf(header, sizeof(header), "%c%lld\r\n", type, (long long)value);

    chain_copy(&gather->reply, gather->pool, header, (size_t)len);
}

/* Referenced, unless that costs more than a copy. */
static void
take_bytes(struct gather *gather, struct chain_cursor *from, size_t size)
{
    if (size >= SHARE_FROM)
        chain_cursor_share(from, size, &gather->reply);
    else
        chain_cursor_copy(from, size, gather->pool, &gather->reply);
}

void
gather_rest(struct gather *gather, struct chain_cursor *cursor)
{
    take_bytes(gather, cursor, cursor->left);
}

bool
gather_element(struct gather *gather, struct chain_cursor *cursor)
{
    struct chain_cursor start = *cursor;
    struct view element;

    if (likely(chain_cursor_element_here(cursor, &gather->scan, &element))) {
        if (likely(element.len < SHARE_FROM)) {
            chain_copy(&gather->reply, gather->pool, element.data,
                       element.len);
            return true;
        }
    } else if (!chain_cursor_element(cursor, &gather->scan)) {
        return false;
    }
    take_bytes(gather, &start, start.left - cursor->left);
    return true;
}

bool
gather_add(struct chain_cursor *cursor, int64_t *sum)
{
    int64_t value;

    return chain_cursor_number(cursor, RESP_INTEGER, &value) &&
        !__builtin_add_overflow(*sum, value, sum);
}

bool
gather_all_read(const struct gather *gather)
{
    for (uint32_t i = 0; i < gather->count; i++)
        if (gather->cursors[i].left > 0)
            return false;
    return true;
}
