/*
 * command/merge.c - the replies of the parts become one reply.
 *
 * An array is put together in the order of the request: one cursor stands in
 * the reply of each part, and key after key the cursor of its part gives the
 * next element.
 */
#include "base/mem.h"
#include "command/gather.h"
#include "command/split.h"
#include "command/split_shape.h"
#include "resp/resp.h"

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

/* An error answers for all. */
static enum merge_result
open_replies(struct gather *gather, const struct chain *replies)
{
    bool is_good = gather_open(gather, replies);

    for (uint32_t p = 0; p < gather->count; p++) {
        if (gather_is_error(&gather->cursors[p]))
            return take_error(gather, &gather->cursors[p]);
    }
    return is_good ? MERGE_OK : gather_bad(gather);
}

/* Turn order, which lists keys by part, around; freed by the caller. */
static uint32_t *
find_parts(const struct split *split)
{
    uint32_t *part_of = mem_array(split->key_count, sizeof(*part_of));

    for (uint32_t p = 0; p < split->part_count; p++) {
        const uint32_t *keys = &split->order[split->parts[p].first];
        for (uint32_t i = 0; i < split->parts[p].count; i++)
            part_of[keys[i]] = p;
    }
    return part_of;
}

static bool
read_array_headers(struct gather *gather, const struct split *split)
{
    int64_t count;

    for (uint32_t p = 0; p < split->part_count; p++)
        if (!chain_cursor_number(&gather->cursors[p], RESP_ARRAY, &count) ||
            count != split->parts[p].count)
            return false;
    return true;
}

static bool
merge_values(struct gather *gather, const struct split *split)
{
    uint32_t keys = split->key_count;
    bool is_good = true;

    if (!read_array_headers(gather, split))
        return false;
    uint32_t *part_of = find_parts(split);
    gather_header(gather, RESP_ARRAY, keys);
    for (uint32_t i = 0; is_good && i < keys; i++)
        is_good = gather_element(gather, &gather->cursors[part_of[i]]);
    mem_free(part_of);
    return is_good && gather_all_read(gather);
}

static bool
merge_sum(struct gather *gather)
{
    int64_t sum = 0;

    for (uint32_t p = 0; p < gather->count; p++)
        if (!gather_add(&gather->cursors[p], &sum))
            return false;
    gather_header(gather, RESP_INTEGER, sum);
    return gather_all_read(gather);
}

static bool
merge_all_ok(struct gather *gather)
{
    for (uint32_t p = 0; p < gather->count; p++)
        if (!chain_cursor_literal(&gather->cursors[p], VIEW("+OK\r\n")))
            return false;
    chain_copy(&gather->reply, gather->pool, "+OK\r\n", 5);
    return gather_all_read(gather);
}

static bool
merge_by_kind(struct gather *gather, const struct split *split)
{
    switch (split_shape_of(split->command)->merge) {
    case MERGE_VALUES:
        return merge_values(gather, split);
    case MERGE_SUM:
        return merge_sum(gather);
    case MERGE_ALL_OK:
        return merge_all_ok(gather);
    }
    return false;
}

/* The merged replies are spelled alike in both versions of the protocol; a
 * null inside was asked for on a connection of the client's own version. */
enum merge_result
merge_replies(const struct split *split, const struct chain *replies,
              int resp UNUSED, struct chunk_pool *pool, struct chain *out)
{
    struct gather gather;

    gather_init(&gather, split->command, split->part_count, pool);
    enum merge_result result = open_replies(&gather, replies);
    if (result == MERGE_OK && !merge_by_kind(&gather, split))
        result = gather_bad(&gather);
    gather_fini(&gather, out);
    return result;
}
