/*
 * command/missing.c - a table from commands to the answers of an empty server.
 *
 * Only commands whose answer the table can tell for all their options are in
 * it: the others end with an error.
 */
#include "command/missing.h"

#include "resp/encode.h"

#define NO_SUCH_KEY (-2) /* what TTL and its relatives say */

enum missing_kind {
    MISSING_UNKNOWN,
    MISSING_NULL,    /* $-1 or _ */
    MISSING_ZERO,    /* :0 */
    MISSING_NO_KEY,  /* :-2 */
    MISSING_TEXT,    /* an empty text */
    MISSING_NONE,    /* +none */
    MISSING_ARRAY,   /* an empty one */
    MISSING_SET,
    MISSING_MAP,
    MISSING_NULLS,        /* a null for each word behind the name */
    MISSING_FIELD_NULLS,  /* ... behind the key */
    MISSING_MEMBER_ZEROS  /* a 0 for each word behind the key */
};

static const uint8_t kinds[COMMAND_ID_ALL] = {
    [COMMAND_ID_GET] = MISSING_NULL,
    [COMMAND_ID_HGET] = MISSING_NULL,
    [COMMAND_ID_LINDEX] = MISSING_NULL,
    [COMMAND_ID_ZSCORE] = MISSING_NULL,
    [COMMAND_ID_DUMP] = MISSING_NULL,
    [COMMAND_ID_MGET] = MISSING_NULLS,
    [COMMAND_ID_HMGET] = MISSING_FIELD_NULLS,
    [COMMAND_ID_ZMSCORE] = MISSING_FIELD_NULLS,
    [COMMAND_ID_SMISMEMBER] = MISSING_MEMBER_ZEROS,
    [COMMAND_ID_EXISTS] = MISSING_ZERO,
    [COMMAND_ID_TOUCH] = MISSING_ZERO,
    [COMMAND_ID_STRLEN] = MISSING_ZERO,
    [COMMAND_ID_GETBIT] = MISSING_ZERO,
    [COMMAND_ID_BITCOUNT] = MISSING_ZERO,
    [COMMAND_ID_HEXISTS] = MISSING_ZERO,
    [COMMAND_ID_HLEN] = MISSING_ZERO,
    [COMMAND_ID_HSTRLEN] = MISSING_ZERO,
    [COMMAND_ID_LLEN] = MISSING_ZERO,
    [COMMAND_ID_SCARD] = MISSING_ZERO,
    [COMMAND_ID_SISMEMBER] = MISSING_ZERO,
    [COMMAND_ID_ZCARD] = MISSING_ZERO,
    [COMMAND_ID_ZCOUNT] = MISSING_ZERO,
    [COMMAND_ID_ZLEXCOUNT] = MISSING_ZERO,
    [COMMAND_ID_XLEN] = MISSING_ZERO,
    [COMMAND_ID_PFCOUNT] = MISSING_ZERO,
    [COMMAND_ID_TTL] = MISSING_NO_KEY,
    [COMMAND_ID_PTTL] = MISSING_NO_KEY,
    [COMMAND_ID_EXPIRETIME] = MISSING_NO_KEY,
    [COMMAND_ID_PEXPIRETIME] = MISSING_NO_KEY,
    [COMMAND_ID_GETRANGE] = MISSING_TEXT,
    [COMMAND_ID_SUBSTR] = MISSING_TEXT,
    [COMMAND_ID_TYPE] = MISSING_NONE,
    [COMMAND_ID_LRANGE] = MISSING_ARRAY,
    [COMMAND_ID_HKEYS] = MISSING_ARRAY,
    [COMMAND_ID_HVALS] = MISSING_ARRAY,
    [COMMAND_ID_ZRANGE] = MISSING_ARRAY,
    [COMMAND_ID_ZREVRANGE] = MISSING_ARRAY,
    [COMMAND_ID_ZRANGEBYSCORE] = MISSING_ARRAY,
    [COMMAND_ID_ZREVRANGEBYSCORE] = MISSING_ARRAY,
    [COMMAND_ID_ZRANGEBYLEX] = MISSING_ARRAY,
    [COMMAND_ID_ZREVRANGEBYLEX] = MISSING_ARRAY,
    [COMMAND_ID_XRANGE] = MISSING_ARRAY,
    [COMMAND_ID_XREVRANGE] = MISSING_ARRAY,
    [COMMAND_ID_SMEMBERS] = MISSING_SET,
    [COMMAND_ID_SINTER] = MISSING_SET,
    [COMMAND_ID_SUNION] = MISSING_SET,
    [COMMAND_ID_SDIFF] = MISSING_SET,
    [COMMAND_ID_HGETALL] = MISSING_MAP,
};

/* The number of words, of "*3\r\n...".  0: it is written inline. */
static uint64_t
word_count(struct view request)
{
    const char *end = memchr(request.data, '\r', request.len);
    uint64_t count;

    if (request.data[0] != '*' || end == NULL ||
        !view_to_u64(view_of(request.data + 1,
                             (size_t)(end - request.data) - 1),
                     &count))
        return 0;
    return count;
}

static void
encode_many(uint64_t count, bool are_null, int resp, struct buf *out)
{
    encode_array(out, count);
    for (uint64_t i = 0; i < count; i++) {
        if (are_null)
            encode_null(out, resp);
        else
            encode_integer(out, 0);
    }
}

/* `before`: words before those that are answered one by one. */
static bool
reply_many(struct view request, uint64_t before, bool are_null, int resp,
           struct buf *out)
{
    uint64_t count = word_count(request);

    if (count <= before)
        return false;
    encode_many(count - before, are_null, resp, out);
    return true;
}

bool
missing_reply(const struct command *command, struct view request, int resp,
              struct buf *out)
{
    switch ((enum missing_kind)kinds[command->id]) {
    case MISSING_UNKNOWN:
        return false;
    case MISSING_NULL:
        encode_null(out, resp);
        return true;
    case MISSING_ZERO:
        encode_integer(out, 0);
        return true;
    case MISSING_NO_KEY:
        encode_integer(out, NO_SUCH_KEY);
        return true;
    case MISSING_TEXT:
        encode_bulk(out, VIEW(""));
        return true;
    case MISSING_NONE:
        encode_simple(out, "none");
        return true;
    case MISSING_ARRAY:
        encode_array(out, 0);
        return true;
    case MISSING_SET:
        encode_set(out, resp, 0);
        return true;
    case MISSING_MAP:
        encode_map(out, resp, 0);
        return true;
    case MISSING_NULLS:
        return reply_many(request, 1, true, resp, out);
    case MISSING_FIELD_NULLS:
        return reply_many(request, 2, true, resp, out);
    case MISSING_MEMBER_ZEROS:
        return reply_many(request, 2, false, resp, out);
    }
    return false;
}
