/*
 * command/fanout_merge.c - the replies of all shards become one reply.
 */
#include "command/fanout_merge.h"

#include <stdlib.h>

#include "base/mem.h"
#include "command/gather.h"
#include "resp/resp.h"

#define LOG_ENTRIES 10 /* that SLOWLOG GET gives when it is not told */

enum fanout_kind {
    FANOUT_UNKNOWN,
    FANOUT_SUM,    /* integers are added */
    FANOUT_CONCAT, /* arrays, or what else has elements, one behind another */
    FANOUT_UNION,  /* the same without what has been there */
    FANOUT_COUNTS, /* name, integer, name, integer: added by place */
    FANOUT_ALL,    /* integers 0 or 1: 1 where all say so */
    FANOUT_LOG,    /* entries, the newest first */
    FANOUT_FIRST,  /* all succeed: what the first says */
    FANOUT_SOME,   /* anybody's that is not null */
    FANOUT_BUSY,   /* of who runs a script: its second element is not null */
    FANOUT_ONE_IS_ENOUGH /* who succeeds speaks for all */
};

static const uint8_t kinds[COMMAND_ID_ALL] = {
    [COMMAND_ID_DBSIZE] = FANOUT_SUM,
    [COMMAND_ID_KEYS] = FANOUT_CONCAT,
    [COMMAND_ID_RANDOMKEY] = FANOUT_SOME,
    [COMMAND_ID_FLUSHALL] = FANOUT_FIRST,
    [COMMAND_ID_FLUSHDB] = FANOUT_FIRST,
    [COMMAND_ID_SCRIPT_LOAD] = FANOUT_FIRST,
    [COMMAND_ID_SCRIPT_FLUSH] = FANOUT_FIRST,
    [COMMAND_ID_SCRIPT_EXISTS] = FANOUT_ALL,
    [COMMAND_ID_SCRIPT_KILL] = FANOUT_ONE_IS_ENOUGH,
    [COMMAND_ID_FUNCTION_LOAD] = FANOUT_FIRST,
    [COMMAND_ID_FUNCTION_DELETE] = FANOUT_FIRST,
    [COMMAND_ID_FUNCTION_FLUSH] = FANOUT_FIRST,
    [COMMAND_ID_FUNCTION_RESTORE] = FANOUT_FIRST,
    [COMMAND_ID_FUNCTION_KILL] = FANOUT_ONE_IS_ENOUGH,
    [COMMAND_ID_FUNCTION_STATS] = FANOUT_BUSY,
    [COMMAND_ID_PUBSUB_CHANNELS] = FANOUT_UNION,
    [COMMAND_ID_PUBSUB_SHARDCHANNELS] = FANOUT_UNION,
    [COMMAND_ID_PUBSUB_NUMSUB] = FANOUT_COUNTS,
    [COMMAND_ID_PUBSUB_SHARDNUMSUB] = FANOUT_COUNTS,
    [COMMAND_ID_PUBSUB_NUMPAT] = FANOUT_SUM,
    [COMMAND_ID_CONFIG_RESETSTAT] = FANOUT_FIRST,
    [COMMAND_ID_MEMORY_PURGE] = FANOUT_FIRST,
    [COMMAND_ID_LATENCY_RESET] = FANOUT_SUM,
    [COMMAND_ID_SLOWLOG_GET] = FANOUT_LOG,
    [COMMAND_ID_SLOWLOG_LEN] = FANOUT_SUM,
    [COMMAND_ID_SLOWLOG_RESET] = FANOUT_FIRST,
    [COMMAND_ID_COMMANDLOG_GET] = FANOUT_LOG,
    [COMMAND_ID_COMMANDLOG_LEN] = FANOUT_SUM,
    [COMMAND_ID_COMMANDLOG_RESET] = FANOUT_FIRST,
    [COMMAND_ID_TS_MGET] = FANOUT_CONCAT,
    [COMMAND_ID_TS_MRANGE] = FANOUT_CONCAT,
    [COMMAND_ID_TS_MREVRANGE] = FANOUT_CONCAT,
    [COMMAND_ID_TS_QUERYINDEX] = FANOUT_UNION,
    [COMMAND_ID_TS_QUERYLABELS] = FANOUT_UNION,
};

/* An element that is to be sorted: where it begins, and by what. */
struct item {
    struct chain_cursor at;
    struct view bytes; /* FANOUT_UNION: all of it */
    int64_t time;      /* FANOUT_LOG */
    uint32_t order;
};

struct item_list {
    struct item *items;
    uint32_t count;
    struct buf bytes;
};

/* --- numbers ------------------------------------------------------------------ */

static bool
merge_sum(struct gather *gather)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < gather->count; i++)
        if (!gather_add(&gather->cursors[i], &sum))
            return false;
    gather_header(gather, RESP_INTEGER, sum);
    return true;
}

/* The headers of arrays that must be of one length. */
static bool
read_equal_arrays(struct gather *gather, int64_t *count)
{
    int64_t other;

    if (!chain_cursor_number(&gather->cursors[0], RESP_ARRAY, count) ||
        *count < 0)
        return false;
    for (uint32_t i = 1; i < gather->count; i++)
        if (!chain_cursor_number(&gather->cursors[i], RESP_ARRAY, &other) ||
            other != *count)
            return false;
    gather_header(gather, RESP_ARRAY, *count);
    return true;
}

/* Each one's next element, of which the first one's is given on. */
static bool
take_same(struct gather *gather)
{
    for (uint32_t i = 1; i < gather->count; i++)
        if (!chain_cursor_element(&gather->cursors[i], &gather->scan))
            return false;
    return gather_element(gather, &gather->cursors[0]);
}

static bool
merge_counts(struct gather *gather)
{
    int64_t count;

    if (!read_equal_arrays(gather, &count) || count % 2 != 0)
        return false;
    for (int64_t i = 0; i < count / 2; i++)
        if (!take_same(gather) || !merge_sum(gather))
            return false;
    return true;
}

static bool
merge_all(struct gather *gather, const uint8_t *known)
{
    int64_t count;

    if (!read_equal_arrays(gather, &count))
        return false;
    for (int64_t k = 0; k < count; k++) {
        int64_t having = 0;
        for (uint32_t i = 0; i < gather->count; i++)
            if (!gather_add(&gather->cursors[i], &having))
                return false;
        bool is_known = known != NULL && known[k] != 0;
        gather_header(gather, RESP_INTEGER,
                      is_known || having == gather->count);
    }
    return true;
}

/* --- elements ----------------------------------------------------------------- */

static bool
has_elements(char type)
{
    return type == RESP_ARRAY || type == RESP_SET || type == RESP_MAP;
}

/* Headers of what has elements, all of one type: how many there are at which
 * shard (counts[i]) and in all. */
static bool
read_headers(struct gather *gather, char *type, int64_t *counts, int64_t *total)
{
    *type = chain_cursor_peek(&gather->cursors[0]);
    *total = 0;
    if (!has_elements(*type))
        return false;
    for (uint32_t i = 0; i < gather->count; i++) {
        if (!chain_cursor_number(&gather->cursors[i], *type, &counts[i]) ||
            counts[i] < 0 || (uint64_t)counts[i] > gather->cursors[i].left)
            return false;
        *total += counts[i];
    }
    return *total <= UINT32_MAX / 2;
}

static bool
concat(struct gather *gather, int64_t *counts)
{
    int64_t total;
    char type;

    if (!read_headers(gather, &type, counts, &total))
        return false;
    gather_header(gather, type, total);
    for (uint32_t i = 0; i < gather->count; i++)
        gather_rest(gather, &gather->cursors[i]);
    return true;
}

/* Where the elements are; false when they are not whole. */
static bool
list_items(struct gather *gather, struct item_list *list, int64_t *counts,
           char *type)
{
    int64_t total;

    if (!read_headers(gather, type, counts, &total) || *type == RESP_MAP)
        return false;
    list->items = mem_array((size_t)MAX(total, 1), sizeof(*list->items));
    for (uint32_t i = 0; i < gather->count; i++) {
        for (int64_t k = 0; k < counts[i]; k++) {
            struct item *item = &list->items[list->count];
            item->at = gather->cursors[i];
            item->order = list->count++;
            if (!chain_cursor_element(&gather->cursors[i], &gather->scan))
                return false;
            item->bytes.len = item->at.left - gather->cursors[i].left;
        }
    }
    return true;
}

static bool
write_items(struct gather *gather, const struct item_list *list, char type)
{
    gather_header(gather, type, list->count);
    for (uint32_t i = 0; i < list->count; i++)
        if (!gather_element(gather, &list->items[i].at))
            return false;
    return true;
}

static int
by_bytes(const void *one, const void *other)
{
    const struct item *a = one, *b = other;

    return view_compare(a->bytes, b->bytes);
}

/* Give each item its bytes, which stand one behind the other. */
static void
read_bytes(struct item_list *list)
{
    size_t at = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        struct chain_cursor cursor = list->items[i].at;
        chain_cursor_read(&cursor, list->items[i].bytes.len, &list->bytes);
    }
    for (uint32_t i = 0; i < list->count; i++) {
        list->items[i].bytes.data = list->bytes.data + at;
        at += list->items[i].bytes.len;
    }
}

static void
drop_doubles(struct item_list *list)
{
    uint32_t kept = 0;

    qsort(list->items, list->count, sizeof(*list->items), by_bytes);
    for (uint32_t i = 0; i < list->count; i++) {
        if (kept == 0 || by_bytes(&list->items[kept - 1], &list->items[i]) != 0)
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
}

static bool
merge_union(struct gather *gather, struct item_list *list, int64_t *counts)
{
    char type;

    if (!list_items(gather, list, counts, &type))
        return false;
    read_bytes(list);
    drop_doubles(list);
    return write_items(gather, list, type);
}

/* Of entries [number, time, ...]; those of one time as they came. */
static int
by_time(const void *one, const void *other)
{
    const struct item *a = one, *b = other;

    if (a->time != b->time)
        return a->time > b->time ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

static bool
read_times(struct item_list *list)
{
    int64_t skipped;

    for (uint32_t i = 0; i < list->count; i++) {
        struct chain_cursor cursor = list->items[i].at;
        if (!chain_cursor_number(&cursor, RESP_ARRAY, &skipped) ||
            !chain_cursor_number(&cursor, RESP_INTEGER, &skipped) ||
            !chain_cursor_number(&cursor, RESP_INTEGER, &list->items[i].time))
            return false;
    }
    return true;
}

static bool
merge_log(struct gather *gather, struct item_list *list, int64_t *counts,
          uint64_t limit)
{
    char type;

    if (!list_items(gather, list, counts, &type) || !read_times(list))
        return false;
    qsort(list->items, list->count, sizeof(*list->items), by_time);
    list->count = (uint32_t)MIN((uint64_t)list->count, limit);
    return write_items(gather, list, type);
}

/* --- one for all -------------------------------------------------------------- */

/* What the others say is read over. */
static bool
give_one(struct gather *gather, uint32_t chosen)
{
    for (uint32_t i = 0; i < gather->count; i++)
        if (i != chosen &&
            !chain_cursor_element(&gather->cursors[i], &gather->scan))
            return false;
    return gather_element(gather, &gather->cursors[chosen]);
}

static bool
is_null(const struct chain_cursor *cursor)
{
    struct chain_cursor at = *cursor;
    int64_t len;

    char type = chain_cursor_peek(&at);

    if (type == RESP_NULL)
        return true;
    return (type == RESP_BULK || type == RESP_ARRAY) &&
        chain_cursor_number(&at, type, &len) && len < 0;
}

static bool
merge_some(struct gather *gather, uint64_t dice)
{
    uint32_t candidates = 0, chosen = 0;

    for (uint32_t i = 0; i < gather->count; i++)
        candidates += !is_null(&gather->cursors[i]);
    if (candidates == 0)
        return give_one(gather, 0);
    uint64_t skip = dice % candidates;
    for (chosen = 0; is_null(&gather->cursors[chosen]) || skip > 0; chosen++)
        skip -= !is_null(&gather->cursors[chosen]);
    return give_one(gather, chosen);
}

/* "running_script", and what it is. */
static bool
is_busy(struct gather *gather, const struct chain_cursor *cursor)
{
    struct chain_cursor at = *cursor;
    char type = chain_cursor_peek(&at);
    int64_t count;

    return (type == RESP_ARRAY || type == RESP_MAP) &&
        chain_cursor_number(&at, type, &count) && count > 0 &&
        chain_cursor_element(&at, &gather->scan) && !is_null(&at);
}

static bool
merge_busy(struct gather *gather)
{
    uint32_t chosen = 0;

    while (chosen < gather->count && !is_busy(gather, &gather->cursors[chosen]))
        chosen++;
    return give_one(gather, chosen < gather->count ? chosen : 0);
}

static bool
merge_by_kind(struct gather *gather, const struct fanout *fanout)
{
    struct item_list list = {0};
    int64_t *counts = mem_array(gather->count, sizeof(*counts));
    bool is_good = false;

    switch ((enum fanout_kind)kinds[fanout->command->id]) {
    case FANOUT_SUM:
        is_good = merge_sum(gather);
        break;
    case FANOUT_CONCAT:
        is_good = concat(gather, counts);
        break;
    case FANOUT_UNION:
        is_good = merge_union(gather, &list, counts);
        break;
    case FANOUT_COUNTS:
        is_good = merge_counts(gather);
        break;
    case FANOUT_ALL:
        is_good = merge_all(gather, fanout->known);
        break;
    case FANOUT_LOG:
        is_good = merge_log(gather, &list, counts, fanout->limit);
        break;
    case FANOUT_UNKNOWN: /* the administrator wants it */
    case FANOUT_FIRST:
    case FANOUT_ONE_IS_ENOUGH: /* all have succeeded */
        is_good = give_one(gather, 0);
        break;
    case FANOUT_SOME:
        is_good = merge_some(gather, fanout->dice);
        break;
    case FANOUT_BUSY:
        is_good = merge_busy(gather);
        break;
    }
    mem_free(counts);
    mem_free(list.items);
    buf_fini(&list.bytes);
    return is_good && gather_all_read(gather);
}

/* --- errors ------------------------------------------------------------------- */

/* Which of several errors is told: of those that stop scripts, the one that says
 * most. */
static unsigned
error_rank(const struct fanout *fanout, struct view text)
{
    if (kinds[fanout->command->id] != FANOUT_ONE_IS_ENOUGH)
        return 0;
    if (view_begins(text, VIEW("UNKILLABLE")))
        return 2;
    return view_begins(text, VIEW("NOTBUSY")) ? 0 : 1;
}

struct errors {
    struct buf told;
    uint32_t count;
    bool is_same; /* all of them say the same */
};

static bool
read_errors(struct gather *gather, const struct fanout *fanout,
            struct errors *errors)
{
    bool is_good = true;

    errors->is_same = true;
    for (uint32_t i = 0; is_good && i < gather->count; i++) {
        struct buf text = {0};
        if (!gather_is_error(&gather->cursors[i]))
            continue;
        is_good = gather_read_error(gather, &gather->cursors[i], &text);
        if (errors->count > 0 &&
            !view_equal(buf_view(&errors->told), buf_view(&text)))
            errors->is_same = false;
        if (errors->count++ == 0 ||
            error_rank(fanout, buf_view(&text)) >
                error_rank(fanout, buf_view(&errors->told))) {
            buf_fini(&errors->told);
            errors->told = text;
        } else {
            buf_fini(&text);
        }
    }
    return is_good;
}

/* Some have failed. */
static enum merge_result
merge_errors(struct gather *gather, const struct fanout *fanout)
{
    struct errors errors = {0};

    if (!read_errors(gather, fanout, &errors)) {
        buf_fini(&errors.told);
        return gather_bad(gather);
    }
    if (errors.is_same && errors.count == gather->count)
        gather_fail(gather, &errors.told);
    else
        gather_fail_one(gather, &errors.told);
    return MERGE_ERROR;
}

/* The number of one that is no error, or `count`. */
static uint32_t
find_success(const struct gather *gather)
{
    uint32_t i = 0;

    while (i < gather->count && gather_is_error(&gather->cursors[i]))
        i++;
    return i;
}

static bool
has_error(const struct gather *gather)
{
    for (uint32_t i = 0; i < gather->count; i++)
        if (gather_is_error(&gather->cursors[i]))
            return true;
    return false;
}

/* --- the door ------------------------------------------------------------------ */

bool
fanout_add_head(struct fanout_head *head, const struct chain *reply)
{
    struct chain_cursor cursor;
    int64_t count;

    chain_cursor_init(&cursor, reply);
    char type = chain_cursor_peek(&cursor);
    if (!has_elements(type) || (head->type != 0 && head->type != type) ||
        !chain_cursor_number(&cursor, type, &count) || count < 0 ||
        __builtin_add_overflow(head->count, count, &head->count))
        return false;
    head->type = type;
    head->len += reply->bytes - cursor.left;
    return true;
}

bool
fanout_is_concat(const struct command *command)
{
    return kinds[command->id] == FANOUT_CONCAT;
}

bool
fanout_is_known(const struct command *command)
{
    return kinds[command->id] != FANOUT_UNKNOWN;
}

void
fanout_init(struct fanout *fanout, const struct command *command,
            const struct command_args *args, uint64_t dice)
{
    int64_t limit = LOG_ENTRIES;

    *fanout = (struct fanout){.command = command, .dice = dice};
    /* What is no number has an error for an answer, and -1 asks for all. */
    if (kinds[command->id] == FANOUT_LOG && args->argc > 2 &&
        !view_to_i64(command_arg(args, 2), &limit))
        limit = LOG_ENTRIES;
    fanout->limit = (uint64_t)limit;
}

enum merge_result
fanout_merge(const struct fanout *fanout, const struct chain *replies,
             uint32_t count, struct chunk_pool *pool, struct chain *out)
{
    struct gather gather;
    enum merge_result result = MERGE_OK;

    gather_init(&gather, fanout->command, count, pool);
    bool is_good = gather_open(&gather, replies);
    if (kinds[fanout->command->id] == FANOUT_ONE_IS_ENOUGH &&
        find_success(&gather) < count) {
        if (!gather_element(&gather, &gather.cursors[find_success(&gather)]))
            result = gather_bad(&gather);
    } else if (has_error(&gather)) {
        result = merge_errors(&gather, fanout);
    } else if (!is_good || !merge_by_kind(&gather, fanout)) {
        result = gather_bad(&gather);
    }
    gather_fini(&gather, out);
    return result;
}
