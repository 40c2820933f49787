/*
 * command/combine_count.c - PFCOUNT and PFMERGE over several shards.
 *
 *   PFCOUNT a b    ->  GET a, GET b: the registers are merged and counted here
 *   PFMERGE t a b  ->  GET t, GET a, GET b: what comes of them is written at t
 */
#include "base/mem.h"
#include "command/combine_priv.h"
#include "resp/reply_read.h"

#define NOT_ONE "WRONGTYPE Key is not a valid HyperLogLog string value."
#define CORRUPT "INVALIDOBJ Corrupted HLL object detected"

static enum merge_result
fail(struct gather *gather, const char *words)
{
    struct buf text = {0};

    buf_append_str(&text, words);
    gather_fail(gather, &text);
    return MERGE_ERROR;
}

/* A key that is missing counts nothing. */
static enum merge_result
take_part(struct gather *gather, uint32_t part, struct hyperloglog *merged)
{
    struct chain_cursor *cursor = &gather->cursors[part];
    enum merge_result result = MERGE_OK;
    struct reply_item item;
    struct buf bytes = {0};

    chain_cursor_read(cursor, cursor->left, &bytes);
    struct view rest = buf_view(&bytes);
    if (!reply_next(&rest, &item) || rest.len > 0 ||
        (item.type != RESP_BULK && item.type != RESP_NULL))
        result = gather_bad(gather);
    else if (!item.is_null)
        switch (hyperloglog_merge(merged, item.text)) {
        case HYPERLOGLOG_OK:
            break;
        case HYPERLOGLOG_OTHER:
            result = fail(gather, NOT_ONE);
            break;
        case HYPERLOGLOG_CORRUPT:
            result = fail(gather, CORRUPT);
            break;
        }
    buf_fini(&bytes);
    return result;
}

static enum merge_result
take_parts(struct gather *gather, const struct chain *replies,
           struct hyperloglog *merged)
{
    enum merge_result result = gather_open_good(gather, replies);

    for (uint32_t i = 0; result == MERGE_OK && i < gather->count; i++)
        result = take_part(gather, i, merged);
    return result;
}

enum merge_result
combine_count(const struct combine *combine, const struct chain *replies,
              struct chunk_pool *pool, struct buf *value, struct chain *out)
{
    struct hyperloglog *merged = MEM_NEW(struct hyperloglog);
    struct gather gather;

    gather_init(&gather, combine->command, combine->key_count, pool);
    enum merge_result result = take_parts(&gather, replies, merged);
    if (result == MERGE_OK && value != NULL)
        hyperloglog_write(merged, value);
    else if (result == MERGE_OK)
        gather_header(&gather, RESP_INTEGER,
                      (int64_t)hyperloglog_count(merged));
    gather_fini(&gather, out);
    mem_free(merged);
    return result;
}
