/*
 * command/merge.c - the replies of the parts become one reply.
 *
 * Replies are read where they lie.  An array is put together in the order of
 * the request: one cursor stands in the reply of each part, and key after key
 * the cursor of its part gives the next element.
 */
#include <stdio.h>

#include "base/mem.h"
#include "command/chain_cursor.h"
#include "command/split.h"
#include "command/split_shape.h"
#include "resp/encode.h"
#include "resp/resp.h"

/* From this size on an element is referenced: pinning its chunk costs less
 * than copying it. */
#define SHARE_FROM 512

struct merge {
    const struct split *split;
    struct chain_cursor *cursors; /* one a part */
    uint32_t *part_of;            /* of each key */
    struct chunk_pool *pool;
    struct reply_scan scan; /* between two elements */
    struct chain reply;     /* so far */
};

static void
merge_init(struct merge *merge, const struct split *split,
           struct chunk_pool *pool)
{
    size_t cursors = split->part_count * sizeof(*merge->cursors);
    size_t parts = split->key_count * sizeof(*merge->part_of);

    merge->split = split;
    merge->pool = pool;
    merge->cursors = mem_alloc(cursors + parts);
    merge->part_of = (uint32_t *)(void *)(merge->cursors + split->part_count);
    merge->reply = (struct chain){0};
    reply_scan_init(&merge->scan);
}

static void
merge_fini(struct merge *merge)
{
    mem_free(merge->cursors);
    chain_clear(&merge->reply);
}

/* Another part of a write may have done its work when this one failed. */
static const char *
failure_suffix(const struct split *split)
{
    if (split->part_count > 1 && (split->command->flags & COMMAND_WRITE))
        return " (proxy: other parts may have been executed)";
    return "";
}

/* Append the error `text`, which begins with its code, to the reply. */
static void
reply_error(struct merge *merge, struct buf *text)
{
    struct buf line = {0};

    buf_append_str(text, failure_suffix(merge->split));
    encode_error(&line, buf_view(text));
    chain_copy(&merge->reply, merge->pool, line.data, line.len);
    buf_fini(&line);
    buf_fini(text);
}

static enum merge_result
reply_bad(struct merge *merge)
{
    struct buf text = {0};

    chain_clear(&merge->reply);
    buf_printf(&text, "ERR proxy: the reply of a shard is no answer to '%s'",
               merge->split->command->name);
    reply_error(merge, &text);
    return MERGE_BAD_REPLY;
}

/* The text of an error reply without its first byte, length and line end. */
static bool
read_error(struct merge *merge, struct chain_cursor *cursor, struct buf *text)
{
    struct chain_cursor end = *cursor;
    int64_t len;

    if (!chain_cursor_element(&end, &merge->scan) || end.left > 0)
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

static enum merge_result
take_error(struct merge *merge, struct chain_cursor *cursor)
{
    struct buf text = {0};

    if (!read_error(merge, cursor, &text)) {
        buf_fini(&text);
        return reply_bad(merge);
    }
    reply_error(merge, &text);
    return MERGE_ERROR;
}

/* Put each cursor on its part's reply proper; an error answers for all. */
static enum merge_result
open_replies(struct merge *merge, const struct chain *replies)
{
    bool bad = false;

    for (uint32_t p = 0; p < merge->split->part_count; p++) {
        struct chain_cursor *cursor = &merge->cursors[p];
        chain_cursor_init(cursor, &replies[p]);
        if (!chain_cursor_attributes(cursor, &merge->scan)) {
            reply_scan_init(&merge->scan);
            bad = true;
            continue;
        }
        char type = chain_cursor_peek(cursor);
        if (type == RESP_ERROR || type == RESP_BULK_ERROR)
            return take_error(merge, cursor);
    }
    return bad ? reply_bad(merge) : MERGE_OK;
}

/* Turn order, which lists keys by part, around. */
static void
find_parts(struct merge *merge)
{
    const struct split *split = merge->split;

    for (uint32_t p = 0; p < split->part_count; p++) {
        const uint32_t *keys = &split->order[split->parts[p].first];
        for (uint32_t i = 0; i < split->parts[p].count; i++)
            merge->part_of[keys[i]] = p;
    }
}

static bool
read_array_headers(struct merge *merge)
{
    const struct split *split = merge->split;
    int64_t count;

    for (uint32_t p = 0; p < split->part_count; p++)
        if (!chain_cursor_number(&merge->cursors[p], RESP_ARRAY, &count) ||
            count != split->parts[p].count)
            return false;
    return true;
}

static bool
take_element(struct merge *merge, struct chain_cursor *cursor)
{
    struct chain_cursor start = *cursor;

    if (!chain_cursor_element(cursor, &merge->scan))
        return false;
    size_t size = start.left - cursor->left;
    if (size >= SHARE_FROM)
        chain_cursor_share(&start, size, &merge->reply);
    else
        chain_cursor_copy(&start, size, merge->pool, &merge->reply);
    return true;
}

static bool
all_read(const struct merge *merge)
{
    for (uint32_t p = 0; p < merge->split->part_count; p++)
        if (merge->cursors[p].left > 0)
            return false;
    return true;
}

static void
reply_header(struct merge *merge, char type, int64_t value)
{
    char header[32];
    int len =
        snprintf(header, sizeof(header), "%c%lld\r\n", type, (long long)value);

    chain_copy(&merge->reply, merge->pool, header, (size_t)len);
}

static bool
merge_values(struct merge *merge)
{
    uint32_t keys = merge->split->key_count;

    if (!read_array_headers(merge))
        return false;
    find_parts(merge);
    reply_header(merge, RESP_ARRAY, keys);
    for (uint32_t i = 0; i < keys; i++)
        if (!take_element(merge, &merge->cursors[merge->part_of[i]]))
            return false;
    return all_read(merge);
}

static bool
merge_sum(struct merge *merge)
{
    int64_t sum = 0, value;

    for (uint32_t p = 0; p < merge->split->part_count; p++)
        if (!chain_cursor_number(&merge->cursors[p], RESP_INTEGER, &value) ||
            __builtin_add_overflow(sum, value, &sum))
            return false;
    reply_header(merge, RESP_INTEGER, sum);
    return all_read(merge);
}

static bool
merge_all_ok(struct merge *merge)
{
    for (uint32_t p = 0; p < merge->split->part_count; p++)
        if (!chain_cursor_literal(&merge->cursors[p], VIEW("+OK\r\n")))
            return false;
    chain_copy(&merge->reply, merge->pool, "+OK\r\n", 5);
    return all_read(merge);
}

static bool
merge_by_kind(struct merge *merge)
{
    switch (split_shape_of(merge->split->command)->merge) {
    case MERGE_VALUES:
        return merge_values(merge);
    case MERGE_SUM:
        return merge_sum(merge);
    case MERGE_ALL_OK:
        return merge_all_ok(merge);
    }
    return false;
}

/* The merged replies are spelled alike in both versions of the protocol; a
 * null inside was asked for on a connection of the client's own version. */
enum merge_result
merge_replies(const struct split *split, const struct chain *replies,
              int resp UNUSED, struct chunk_pool *pool, struct chain *out)
{
    struct merge merge;

    merge_init(&merge, split, pool);
    enum merge_result result = open_replies(&merge, replies);
    if (result == MERGE_OK && !merge_by_kind(&merge))
        result = reply_bad(&merge);
    chain_take(out, &merge.reply);
    merge_fini(&merge);
    return result;
}
