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

/* --- streams ---------------------------------------------------------------- */

/* What the parts answer: null, an array of pairs, in version 3 a map. */
static bool
read_stream_header(struct chain_cursor *cursor, int64_t *count, char *type)
{
    *type = chain_cursor_peek(cursor);
    if (*type == RESP_NULL) {
        *count = 0;
        return chain_cursor_literal(cursor, VIEW("_\r\n"));
    }
    if ((*type != RESP_ARRAY && *type != RESP_MAP) ||
        !chain_cursor_number(cursor, *type, count))
        return false;
    *count = MAX(*count, 0);
    return true;
}

static struct view
name_of_key(const struct split *split, uint32_t key)
{
    uint32_t begin = key > 0 ? split->name_ends[key - 1] : 0;

    return view_of(split->names.data + begin, split->name_ends[key] - begin);
}

/* Is the next stream of this reply the one of that name? */
static bool
is_at_stream(const struct chain_cursor *cursor, char type, struct view name)
{
    struct chain_cursor at = *cursor;
    int64_t pair, len;

    if (type == RESP_ARRAY &&
        (!chain_cursor_number(&at, RESP_ARRAY, &pair) || pair != 2))
        return false;
    return chain_cursor_number(&at, RESP_BULK, &len) &&
        len == (int64_t)name.len && chain_cursor_literal(&at, name);
}

struct stream_counts {
    int64_t *left; /* streams of each part that are not read yet */
    int64_t all;
    char type; /* of the replies that are not null */
};

static bool
read_stream_headers(struct gather *gather, struct stream_counts *counts)
{
    for (uint32_t p = 0; p < gather->count; p++) {
        char type;
        if (!read_stream_header(&gather->cursors[p], &counts->left[p], &type))
            return false;
        counts->all += counts->left[p];
        if (counts->left[p] > 0)
            counts->type = type;
    }
    return true;
}

/* Each part gives its streams in the order in which it was asked. */
static bool
take_streams(struct gather *gather, const struct split *split,
             struct stream_counts *counts)
{
    uint32_t *part_of = find_parts(split);
    bool is_good = true;

    for (uint32_t i = 0; is_good && i < split->key_count; i++) {
        struct chain_cursor *cursor = &gather->cursors[part_of[i]];
        int64_t *left = &counts->left[part_of[i]];
        if (*left == 0 ||
            !is_at_stream(cursor, counts->type, name_of_key(split, i)))
            continue;
        --*left;
        is_good = gather_element(gather, cursor) &&
            (counts->type == RESP_ARRAY || gather_element(gather, cursor));
    }
    mem_free(part_of);
    return is_good && gather_all_read(gather);
}

static bool
merge_streams(struct gather *gather, const struct split *split, int resp)
{
    struct stream_counts counts = {
        .left = mem_array(gather->count, sizeof(*counts.left)),
    };
    bool is_good = read_stream_headers(gather, &counts);

    if (is_good && counts.all == 0) {
        struct view null = resp == 3 ? VIEW("_\r\n") : VIEW("*-1\r\n");
        chain_copy(&gather->reply, gather->pool, null.data, null.len);
    } else if (is_good) {
        gather_header(gather, counts.type, counts.all);
        is_good = take_streams(gather, split, &counts);
    }
    mem_free(counts.left);
    return is_good;
}

/* --- by kind ----------------------------------------------------------------- */

static bool
merge_by_kind(struct gather *gather, const struct split *split, int resp)
{
    switch (split_shape_of(split->command)->merge) {
    case MERGE_VALUES:
        return merge_values(gather, split);
    case MERGE_SUM:
        return merge_sum(gather);
    case MERGE_ALL_OK:
        return merge_all_ok(gather);
    case MERGE_STREAMS:
        return merge_streams(gather, split, resp);
    }
    return false;
}

/* Nearly all merged replies are spelled alike in both versions of the protocol;
 * what is inside was asked for on a connection of the client's own version. */
enum merge_result
merge_replies(const struct split *split, const struct chain *replies,
              int resp, struct chunk_pool *pool, struct chain *out)
{
    struct gather gather;

    gather_init(&gather, split->command, split->part_count, pool);
    enum merge_result result = gather_open_good(&gather, replies);
    if (result == MERGE_OK && !merge_by_kind(&gather, split, resp))
        result = gather_bad(&gather);
    gather_fini(&gather, out);
    return result;
}
