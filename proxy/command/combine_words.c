/*
 * command/combine_words.c - the words of SUNION, ZINTERSTORE, BITOP and their like.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "command/combine_priv.h"

static const struct {
    enum command_id id;
    enum combine_kind kind;
    enum command_id store_id; /* which writes it, or COMMAND_ID_COUNT */
    bool is_sorted, is_count, is_counted; /* the last: numkeys is in front */
    bool only_stores;         /* what reads needs no more than one shard */
    const char *option;       /* for the members' scores */
} kinds[] = {
    {COMMAND_ID_SUNION, COMBINE_UNION, COMMAND_ID_SUNIONSTORE, false, false,
     false, false, NULL},
    {COMMAND_ID_SINTER, COMBINE_INTER, COMMAND_ID_SINTERSTORE, false, false,
     false, false, NULL},
    {COMMAND_ID_SDIFF, COMBINE_DIFF, COMMAND_ID_SDIFFSTORE, false, false, false,
     false, NULL},
    {COMMAND_ID_SINTERCARD, COMBINE_INTER, COMMAND_ID_COUNT, false, true, true,
     false, NULL},
    {COMMAND_ID_ZUNION, COMBINE_UNION, COMMAND_ID_ZUNIONSTORE, true, false,
     true, false, NULL},
    {COMMAND_ID_ZINTER, COMBINE_INTER, COMMAND_ID_ZINTERSTORE, true, false,
     true, false, NULL},
    {COMMAND_ID_ZDIFF, COMBINE_DIFF, COMMAND_ID_ZDIFFSTORE, true, false, true,
     false, NULL},
    {COMMAND_ID_PFCOUNT, COMBINE_COUNT, COMMAND_ID_PFMERGE, false, true, false,
     false, NULL},
    {COMMAND_ID_ZINTERCARD, COMBINE_INTER, COMMAND_ID_COUNT, true, true, true,
     false, NULL},
    {COMMAND_ID_GET, COMBINE_BITS, COMMAND_ID_BITOP, false, false, false, true,
     NULL},
    {COMMAND_ID_ZRANGE, COMBINE_UNION, COMMAND_ID_ZRANGESTORE, true, false,
     false, true, "WITHSCORES"},
    {COMMAND_ID_GEOSEARCH, COMBINE_UNION, COMMAND_ID_GEOSEARCHSTORE, true,
     false, false, true, "WITHHASH"},
};

static bool
take_keys(struct combine *combine, const struct command_args *args,
          bool is_counted, uint32_t *at)
{
    /* PFMERGE takes in what is at its target. */
    bool is_target_read = combine->kind == COMBINE_COUNT;
    uint32_t first = combine->is_store && !is_target_read ? 2 : 1;
    uint64_t count;

    combine->first_key = is_counted ? first + 1 : first;
    if (!is_counted)
        count = args->argc - first;
    else if (!view_to_u64(command_arg(args, first), &count) ||
             count > args->argc - combine->first_key)
        return false;
    combine->key_count = (uint32_t)count;
    *at = combine->first_key + combine->key_count;
    return count > 0;
}

/* A weight that a server would take. */
static bool
is_number(struct view text)
{
    char copy[NUMBER_MAX + 1];
    char *end;

    if (text.len == 0 || text.len > NUMBER_MAX ||
        strchr(" \t\r\n\v\f", text.data[0]) != NULL)
        return false;
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    double value = strtod(copy, &end);
    return end == copy + text.len && !isnan(value);
}

static bool
take_weights(struct combine *combine, const struct command_args *args,
             uint32_t *at)
{
    combine->first_weight = *at;
    if (args->argc - *at < combine->key_count)
        return false;
    for (uint32_t i = 0; i < combine->key_count; i++)
        if (!is_number(command_arg(args, (*at)++)))
            return false;
    return true;
}

static bool
take_aggregate(struct combine *combine, struct view word)
{
    if (view_equal_nocase(word, VIEW("SUM")))
        combine->aggregate = AGGREGATE_SUM;
    else if (view_equal_nocase(word, VIEW("MIN")))
        combine->aggregate = AGGREGATE_MIN;
    else if (view_equal_nocase(word, VIEW("MAX")))
        combine->aggregate = AGGREGATE_MAX;
    else
        return false;
    return true;
}

/* One option with what belongs to it. */
static bool
take_option(struct combine *combine, const struct command_args *args,
            uint32_t *at)
{
    struct view word = command_arg(args, (*at)++);
    bool has_more = *at < args->argc;
    bool is_list = combine->is_sorted && !combine->is_count;
    bool is_weighed = is_list && combine->kind != COMBINE_DIFF;

    if (is_list && !combine->is_store &&
        view_equal_nocase(word, VIEW("WITHSCORES")))
        return combine->with_scores = true;
    if (combine->is_count && has_more && view_equal_nocase(word, VIEW("LIMIT")))
        return view_to_u64(command_arg(args, (*at)++), &combine->limit);
    if (is_weighed && has_more && view_equal_nocase(word, VIEW("WEIGHTS")))
        return take_weights(combine, args, at);
    if (is_weighed && has_more && view_equal_nocase(word, VIEW("AGGREGATE")))
        return take_aggregate(combine, command_arg(args, (*at)++));
    return false;
}

/* BITOP operation target key ... */
static bool
take_bits(struct combine *combine, const struct command_args *args)
{
    static const char *const names[] = {
        [BITS_AND] = "AND",
        [BITS_OR] = "OR",
        [BITS_XOR] = "XOR",
        [BITS_NOT] = "NOT",
    };
    size_t i = 0;

    while (i < ARRAY_LEN(names) &&
           !view_equal_nocase(command_arg(args, 1), view_str(names[i])))
        i++;
    combine->operation = (enum bit_operation)i;
    combine->first_key = 3;
    combine->key_count = args->argc - 3;
    return i < ARRAY_LEN(names) && (i != BITS_NOT || combine->key_count == 1);
}

/* A word with which scores cannot be asked for, or are not what is stored. */
static bool
forbids_scores(struct view word)
{
    static const char *const words[] = {"BYLEX",    "WITHSCORES", "STOREDIST",
                                        "WITHDIST", "WITHCOORD",  "WITHHASH"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (view_equal_nocase(word, view_str(words[i])))
            return true;
    }
    return false;
}

/* ZRANGESTORE target key ... */
static bool
take_range(struct combine *combine, const struct command_args *args)
{
    combine->first_key = 2;
    combine->key_count = 1;
    for (uint32_t i = 3; i < args->argc; i++) {
        if (forbids_scores(command_arg(args, i)))
            return false;
    }
    return true;
}

static bool
take_words(struct combine *combine, const struct command_args *args,
           bool is_counted)
{
    uint32_t at;

    if (combine->kind == COMBINE_BITS)
        return take_bits(combine, args);
    if (combine->option != NULL)
        return take_range(combine, args);
    if (!take_keys(combine, args, is_counted, &at))
        return false;
    while (at < args->argc)
        if (!take_option(combine, args, &at))
            return false;
    return true;
}

/* In kinds; ARRAY_LEN(kinds) when it is none of them. */
static size_t
find_kind(const struct command *command)
{
    size_t i = 0;

    while (i < ARRAY_LEN(kinds) &&
           (kinds[i].id != command->id || kinds[i].only_stores) &&
           kinds[i].store_id != command->id)
        i++;
    return i;
}

bool
combine_is_store(const struct command *command)
{
    size_t i = find_kind(command);

    return i < ARRAY_LEN(kinds) && kinds[i].store_id == command->id;
}

struct combine *
combine_new(const struct command *command, const struct command_args *args)
{
    size_t i = find_kind(command);

    if (i == ARRAY_LEN(kinds))
        return NULL;
    struct combine *combine = MEM_NEW(struct combine);
    combine->command = command_by_id(kinds[i].id);
    combine->kind = kinds[i].kind;
    combine->is_sorted = kinds[i].is_sorted;
    combine->is_count = kinds[i].is_count;
    combine->is_store = kinds[i].store_id == command->id;
    combine->option = kinds[i].option;
    if (!take_words(combine, args, kinds[i].is_counted))
        combine_free(&combine);
    return combine;
}

void
combine_free(struct combine **combinep)
{
    mem_free(*combinep);
    *combinep = NULL;
}

uint32_t
combine_target(const struct combine *combine)
{
    return combine->kind == COMBINE_BITS ? 2 : 1;
}

uint32_t
combine_first_key(const struct combine *combine)
{
    return combine->first_key;
}

uint32_t
combine_key_count(const struct combine *combine)
{
    return combine->key_count;
}
