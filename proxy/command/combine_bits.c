/*
 * command/combine_bits.c - BITOP over several shards.
 *
 *   BITOP OR t a b  ->  GET a, GET b: what comes of them is written at t
 *
 * As at servers a string that is shorter than the longest goes on with zeros, and
 * one that is missing is empty.
 */
#include "command/combine_priv.h"
#include "resp/reply_read.h"

static char
combine_bytes(enum bit_operation operation, char one, char other)
{
    switch (operation) {
    case BITS_AND:
        return one & other;
    case BITS_OR:
        return one | other;
    case BITS_XOR:
        return one ^ other;
    case BITS_NOT:
        break;
    }
    return (char)~other;
}

/* The next of the strings; what there is of the others is as long as the longest. */
static void
take_string(enum bit_operation operation, struct view string, bool is_first,
            struct buf *value)
{
    for (size_t i = value->len; i < string.len; i++)
        buf_append_char(value, '\0');
    for (size_t i = 0; i < value->len; i++) {
        char byte = i < string.len ? string.data[i] : '\0';
        value->data[i] = is_first && operation != BITS_NOT
            ? byte
            : combine_bytes(operation, value->data[i], byte);
    }
}

static bool
read_string(struct gather *gather, uint32_t part, struct buf *bytes,
            struct view *string)
{
    struct chain_cursor *cursor = &gather->cursors[part];
    struct reply_item item;

    chain_cursor_read(cursor, cursor->left, bytes);
    struct view rest = buf_view(bytes);
    if (!reply_next(&rest, &item) || rest.len > 0 ||
        (item.type != RESP_BULK && item.type != RESP_NULL))
        return false;
    *string = item.is_null ? VIEW("") : item.text;
    return true;
}

static enum merge_result
take_part(const struct combine *combine, struct gather *gather, uint32_t part,
          struct buf *value)
{
    enum merge_result result = MERGE_OK;
    struct buf bytes = {0};
    struct view string;

    if (read_string(gather, part, &bytes, &string))
        take_string(combine->operation, string, part == 0, value);
    else
        result = gather_bad(gather);
    buf_fini(&bytes);
    return result;
}

enum merge_result
combine_bits(const struct combine *combine, const struct chain *replies,
             struct chunk_pool *pool, struct buf *value, struct chain *out)
{
    struct gather gather;

    gather_init(&gather, combine->command, combine->key_count, pool);
    enum merge_result result = gather_open_good(&gather, replies);
    for (uint32_t i = 0; result == MERGE_OK && i < gather.count; i++)
        result = take_part(combine, &gather, i, value);
    gather_fini(&gather, out);
    return result;
}
