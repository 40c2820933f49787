/*
 * command/combine.c - sets of several shards: union, intersection, difference.
 *
 * The members of all parts are listed, sorted by their bytes and then by part, so
 * that equal ones stand together:
 *
 *   member  part          union          one of each run
 *     x      0            intersection   of runs with all parts
 *     y      0, 1         difference     of runs with part 0 alone
 *
 * A set has a member once, so a run has a part once.
 */
#include "command/combine_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "command/dump.h"
#include "resp/encode.h"
#include "resp/reply_read.h"

/* A member of a part, and its place in all that was read. */
struct member {
    struct view bytes;
    double score;
    struct view score_text;
    uint32_t part;
};

struct members {
    struct buf *replies; /* one a part */
    struct member *all;
    uint32_t count;
};

/* --- parts ------------------------------------------------------------------- */

/* ZRANGE, GEOSEARCH: with all that stands behind the key. */
static void
encode_with_words(const struct combine *combine,
                  const struct command_args *args, struct buf *out)
{
    encode_array(out, args->argc - combine->first_key + 2);
    encode_bulk_str(out, combine->command->name);
    for (uint32_t i = combine->first_key; i < args->argc; i++)
        encode_bulk(out, command_arg(args, i));
    encode_bulk_str(out, combine->option);
}

void
combine_encode(const struct combine *combine, const struct command_args *args,
               uint32_t part, struct buf *out)
{
    struct view key = command_arg(args, combine->first_key + part);

    if (combine->option != NULL) {
        encode_with_words(combine, args, out);
        return;
    }
    if (!combine->is_sorted) {
        bool is_string =
            combine->kind == COMBINE_COUNT || combine->kind == COMBINE_BITS;
        encode_array(out, 2);
        encode_bulk_str(out, is_string ? "GET" : "SUNION");
        encode_bulk(out, key);
        return;
    }
    encode_array(out, combine->first_weight > 0 ? 6 : 4);
    encode_bulk_str(out, "ZUNION");
    encode_bulk_str(out, "1");
    encode_bulk(out, key);
    if (combine->first_weight > 0) {
        encode_bulk_str(out, "WEIGHTS");
        encode_bulk(out, command_arg(args, combine->first_weight + part));
    }
    encode_bulk_str(out, "WITHSCORES");
}

/* --- reading ----------------------------------------------------------------- */

/* An integer is a place on earth, as GEOSEARCH has it. */
static bool
read_score(struct view *rest, struct member *member)
{
    struct reply_item item;
    char text[NUMBER_MAX + 1];

    if (!reply_next(rest, &item) || item.is_null ||
        (item.type != RESP_BULK && item.type != RESP_DOUBLE &&
         item.type != RESP_INTEGER) ||
        item.text.len == 0 || item.text.len > NUMBER_MAX)
        return false;
    memcpy(text, item.text.data, item.text.len);
    text[item.text.len] = '\0';
    member->score_text = item.text;
    member->score = strtod(text, NULL);
    return true;
}

/* In the third version a member and its score are an array of two. */
static bool
read_member(const struct combine *combine, struct view *rest,
            struct member *member)
{
    struct reply_item item;

    if (!reply_next(rest, &item))
        return false;
    if (combine->is_sorted && item.type == RESP_ARRAY &&
        (item.count != 2 || !reply_next(rest, &item)))
        return false;
    if (item.type != RESP_BULK || item.is_null)
        return false;
    member->bytes = item.text;
    return !combine->is_sorted || read_score(rest, member);
}

/* The header of a part; how many members it has. */
static bool
read_size(const struct combine *combine, struct view *rest, uint64_t *size)
{
    struct reply_item item;

    if (!reply_next(rest, &item) || item.is_null ||
        (item.type != RESP_ARRAY && item.type != RESP_SET))
        return false;
    *size = item.count;
    /* Flat in the second version, member and score by turns. */
    struct view ahead = *rest;
    if (combine->is_sorted && item.count > 0 && reply_next(&ahead, &item) &&
        item.type == RESP_BULK)
        *size /= 2;
    return *size <= rest->len;
}

static bool
read_part(const struct combine *combine, struct members *members,
          uint32_t part)
{
    struct view rest = buf_view(&members->replies[part]);
    uint64_t size;

    if (!read_size(combine, &rest, &size) ||
        size > UINT32_MAX / 2 - members->count)
        return false;
    members->all = mem_realloc(
        members->all,
        (members->count + (size_t)size + 1) * sizeof(*members->all));
    for (uint64_t i = 0; i < size; i++) {
        struct member *member = &members->all[members->count++];
        *member = (struct member){.part = part};
        if (!read_member(combine, &rest, member))
            return false;
    }
    return rest.len == 0;
}

static bool
read_parts(const struct combine *combine, struct gather *gather,
           struct members *members)
{
    members->replies = mem_array(gather->count, sizeof(struct buf));
    for (uint32_t i = 0; i < gather->count; i++) {
        chain_cursor_read(&gather->cursors[i], gather->cursors[i].left,
                          &members->replies[i]);
        if (!read_part(combine, members, i))
            return false;
    }
    return true;
}

static void
members_fini(struct members *members, uint32_t parts)
{
    for (uint32_t i = 0; members->replies != NULL && i < parts; i++)
        buf_fini(&members->replies[i]);
    mem_free(members->replies);
    mem_free(members->all);
}

/* --- doing ------------------------------------------------------------------- */

static int
by_bytes(const void *one, const void *other)
{
    const struct member *a = one, *b = other;
    int order = view_compare(a->bytes, b->bytes);

    if (order != 0)
        return order;
    return a->part < b->part ? -1 : a->part > b->part;
}

static int
by_score(const void *one, const void *other)
{
    const struct member *a = one, *b = other;

    if (a->score < b->score)
        return -1;
    return a->score > b->score ? 1 : view_compare(a->bytes, b->bytes);
}

/* What one more score makes of a member's. */
static void
add_score(const struct combine *combine, struct member *member, double score)
{
    double value = member->score;

    switch (combine->aggregate) {
    case AGGREGATE_SUM:
        value += score;
        if (isnan(value)) /* inf and -inf */
            value = 0;
        break;
    case AGGREGATE_MIN:
        value = MIN(value, score);
        break;
    case AGGREGATE_MAX:
        value = MAX(value, score);
        break;
    }
    member->score = value;
    member->score_text = view_of(NULL, 0);
}

static bool
is_wanted(const struct combine *combine, const struct member *run,
          uint32_t len)
{
    switch (combine->kind) {
    case COMBINE_UNION:
        return true;
    case COMBINE_INTER:
        return len == combine->key_count;
    case COMBINE_DIFF:
        return len == 1 && run->part == 0;
    case COMBINE_COUNT:
    case COMBINE_BITS:
        break;
    }
    return false;
}

/* A part, and how many members it has. */
struct part_size {
    uint32_t part, size;
};

static int
by_size(const void *one, const void *other)
{
    const struct part_size *a = one, *b = other;

    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return a->part < b->part ? -1 : 1;
}

/* Servers add the scores of the smallest set first, which tells where some are
 * infinite: number the parts so. */
static void
number_by_size(struct members *members, uint32_t parts)
{
    struct part_size *sizes = mem_array(parts, sizeof(*sizes));
    uint32_t *numbers = mem_array(parts, sizeof(*numbers));

    for (uint32_t i = 0; i < parts; i++)
        sizes[i].part = i;
    for (uint32_t i = 0; i < members->count; i++)
        sizes[members->all[i].part].size++;
    qsort(sizes, parts, sizeof(*sizes), by_size);
    for (uint32_t i = 0; i < parts; i++)
        numbers[sizes[i].part] = i;
    for (uint32_t i = 0; i < members->count; i++)
        members->all[i].part = numbers[members->all[i].part];
    mem_free(sizes);
    mem_free(numbers);
}

/* Leave one member a run that is wanted. */
static void
combine_members(const struct combine *combine, struct members *members)
{
    uint32_t kept = 0, next;

    if (combine->is_sorted && combine->kind != COMBINE_DIFF)
        number_by_size(members, combine->key_count);
    if (members->count > 0)
        qsort(members->all, members->count, sizeof(*members->all), by_bytes);
    for (uint32_t at = 0; at < members->count; at = next) {
        struct member member = members->all[at];
        for (next = at + 1; next < members->count &&
             view_equal(members->all[next].bytes, member.bytes);
             next++)
            add_score(combine, &member, members->all[next].score);
        if (is_wanted(combine, &members->all[at], next - at))
            members->all[kept++] = member;
    }
    members->count = kept;
    if (combine->is_sorted && kept > 0)
        qsort(members->all, kept, sizeof(*members->all), by_score);
}

/* --- writing ----------------------------------------------------------------- */

/* As it came, if nothing was added to it. */
static void
encode_score(struct buf *out, int resp, const struct member *member)
{
    char text[NUMBER_MAX];
    struct view score = member->score_text;

    if (score.len == 0) {
        int len = isinf(member->score)
            ? snprintf(text, sizeof(text), member->score > 0 ? "inf" : "-inf")
            : snprintf(text, sizeof(text), "%.17g", member->score);
        score = view_of(text, (size_t)len);
    }
    if (resp < 3) {
        encode_bulk(out, score);
        return;
    }
    buf_append_char(out, ',');
    buf_append_view(out, score);
    buf_append_str(out, "\r\n");
}

static void
encode_header(const struct combine *combine, int resp, uint32_t count,
              struct buf *out)
{
    if (!combine->is_sorted)
        encode_set(out, resp, count);
    else
        encode_array(out, combine->with_scores && resp < 3 ? 2 * (size_t)count
                                                           : count);
}

static void
encode_members(const struct combine *combine, const struct members *members,
               int resp, struct buf *out)
{
    encode_header(combine, resp, members->count, out);
    for (uint32_t i = 0; i < members->count; i++) {
        const struct member *member = &members->all[i];
        if (combine->with_scores && resp >= 3)
            encode_array(out, 2);
        encode_bulk(out, member->bytes);
        if (combine->with_scores)
            encode_score(out, resp, member);
    }
}

static void
encode_reply(const struct combine *combine, const struct members *members,
             int resp, struct buf *out)
{
    uint64_t count = members->count;

    if (!combine->is_count)
        encode_members(combine, members, resp, out);
    else
        encode_integer(out, (int64_t)(combine->limit > 0
                                          ? MIN(count, combine->limit)
                                          : count));
}

/* --- the whole ----------------------------------------------------------------- */

/* Read all parts and leave the members that there are; if that does not work an
 * error is in gather->reply. */
static enum merge_result
gather_members(const struct combine *combine, const struct chain *replies,
               struct gather *gather, struct members *members)
{
    enum merge_result result = gather_open_good(gather, replies);

    if (result == MERGE_OK && !read_parts(combine, gather, members))
        result = gather_bad(gather);
    if (result == MERGE_OK)
        combine_members(combine, members);
    return result;
}

enum merge_result
combine_merge(const struct combine *combine, const struct chain *replies,
              int resp, struct chunk_pool *pool, struct chain *out)
{
    struct gather gather;
    struct members members = {0};
    struct buf reply = {0};

    if (combine->kind == COMBINE_COUNT)
        return combine_count(combine, replies, pool, NULL, out);
    gather_init(&gather, combine->command, combine->key_count, pool);
    enum merge_result result =
        gather_members(combine, replies, &gather, &members);
    if (result == MERGE_OK) {
        encode_reply(combine, &members, resp, &reply);
        chain_copy(&gather.reply, pool, reply.data, reply.len);
    }
    members_fini(&members, gather.count);
    buf_fini(&reply);
    gather_fini(&gather, out);
    return result;
}

static void
dump_members(const struct combine *combine, const struct members *members,
             struct buf *value)
{
    if (combine->is_sorted)
        dump_begin_sorted_set(value, members->count);
    else
        dump_begin_set(value, members->count);
    for (uint32_t i = 0; i < members->count; i++) {
        dump_string(value, members->all[i].bytes);
        if (combine->is_sorted)
            dump_score(value, members->all[i].score);
    }
    dump_end(value);
}

static enum merge_result
dump_bits(const struct combine *combine, const struct chain *replies,
          struct chunk_pool *pool, struct combined *combined,
          struct chain *out)
{
    enum merge_result result =
        combine_bits(combine, replies, pool, &combined->value, out);

    combined->is_string = true;
    combined->count = combined->value.len;
    return result;
}

enum merge_result
combine_dump(const struct combine *combine, const struct chain *replies,
             struct chunk_pool *pool, struct combined *combined,
             struct chain *out)
{
    struct gather gather;
    struct members members = {0};

    combined->is_string = combined->keeps_time = combine->kind == COMBINE_COUNT;
    if (combined->is_string)
        return combine_count(combine, replies, pool, &combined->value, out);
    if (combine->kind == COMBINE_BITS)
        return dump_bits(combine, replies, pool, combined, out);
    gather_init(&gather, combine->command, combine->key_count, pool);
    enum merge_result result =
        gather_members(combine, replies, &gather, &members);
    combined->count = members.count;
    if (result == MERGE_OK && members.count > 0)
        dump_members(combine, &members, &combined->value);
    members_fini(&members, gather.count);
    gather_fini(&gather, out);
    return result;
}
