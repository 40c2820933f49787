/*
 * tests/fuzz/fuzz_split.c - any request has keys, parts and an answer.
 *
 * Input: a byte of choices, a byte of cuts, a request, then the bytes of the
 * servers.  Properties: keys stand inside the request; the parts of a split
 * hold each key once, in order, on its own shard, in requests that scan; the
 * right replies to them merge into what one server would have said; any other
 * bytes merge into exactly one reply; no chunk is left behind.
 */
#include "command/describe.h"
#include "command/keys.h"
#include "command/refuse.h"
#include "command/split.h"
#include "fuzz.h"
#include "resp/reply_scan.h"

#define INPUT_MAX 4096
#define SHARDS 5

struct setting {
    bool by_slot;
    int resp;
    uint32_t seed; /* of cuts */
    struct route *route;
    struct chunk_pool pool;
};

static const struct request_limits limits = {INT32_MAX, RESP_MAX_BULK, false};

/* Words "0" to "4" name their shards; a key of other letters has none. */
static struct route *
make_route(bool by_slot)
{
    struct range_spec ranges[SHARDS];
    struct route_shard_spec shards[SHARDS];
    struct error error;

    for (uint32_t i = 0; i < SHARDS; i++) {
        static const char digits[] = "012345";
        ranges[i] =
            (struct range_spec){.from_bytes = view_of(digits + i, 1),
                                .before_bytes = view_of(digits + i + 1, 1)};
        shards[i] =
            (struct route_shard_spec){.name = VIEW("shard"),
                                      .weight = 1,
                                      .live = true,
                                      .ranges = by_slot ? NULL : &ranges[i],
                                      .range_count = !by_slot};
    }
    struct route *route =
        route_new(&(struct route_spec){.distribution = by_slot
                                           ? DISTRIBUTION_SLOTS
                                           : DISTRIBUTION_RANGE,
                                       .range_by = RANGE_BY_BYTES,
                                       .shards = shards,
                                       .shard_count = SHARDS},
                  &error);
    ASSERT(route != NULL);
    return route;
}

static const struct command *
find_command(const struct command_args *args)
{
    const struct command *row = command_find(command_arg(args, 0));

    if (row != NULL && (row->flags & COMMAND_CONTAINER) && args->argc > 1)
        row = command_find_sub(row, command_arg(args, 1));
    return row;
}

static void
check_keys(const struct command *row, const struct command_args *args)
{
    struct key_list keys;

    key_list_init(&keys);
    enum keys_result result = command_keys(row, args, &keys);
    ASSERT(result == KEYS_OK || keys.count == 0);
    for (uint32_t i = 0; i < keys.count; i++)
        ASSERT(keys.at[i] > 0 && keys.at[i] < args->argc);
    if (command_routes_early(row, args->argc, args->argc / 2 + 1)) {
        ASSERT(keys.count > 0);
        for (uint32_t i = 0; i < keys.count; i++)
            ASSERT(keys.at[i] <= args->argc / 2);
    }
    key_list_fini(&keys);
}

/* A text for a client must be one frame, whatever words it quotes. */
static void
check_frame(const struct buf *out)
{
    struct reply_scan scan;
    size_t used;

    reply_scan_init(&scan);
    ASSERT(reply_scan(&scan, out->data, out->len, &used) == RESP_OK);
    ASSERT(used == out->len);
}

static void
check_texts(const struct command *row, const struct command_args *args,
            int resp)
{
    struct buf out = {0};

    if (row == NULL)
        refuse_unknown_command(&out, args);
    else if (!command_arity_ok(row, args->argc))
        refuse_wrong_arity(&out, row);
    else if (row->id == COMMAND_ID_COMMAND_GETKEYSANDFLAGS ||
             row->id == COMMAND_ID_COMMAND_LIST)
        describe_reply(row, args, resp, &(struct describe_more){0}, &out);
    else
        refuse_command(&out, row, args);
    check_frame(&out);
    buf_fini(&out);
}

/* The part's request says what its entries in `order` say. */
static void
check_part(const struct setting *setting, const struct split *split,
           const struct command_args *args, uint32_t p)
{
    const struct split_part *part = &split->parts[p];
    uint32_t stride = (args->argc - 1) / split->key_count;
    struct request_scan scan;
    struct buf out = {0};

    split_encode(split, args, p, split_encoded_size(split, args, p), &out);
    request_scan_init(&scan);
    ASSERT(request_scan(&scan, &limits, out.data, out.len) == RESP_OK);
    ASSERT(scan.size == out.len);
    for (uint32_t i = 0; i < part->count; i++) {
        uint32_t key = split->order[part->first + i];
        struct view word = request_arg(&scan, out.data, 1 + i * stride);
        ASSERT(i == 0 || key > split->order[part->first + i - 1]);
        ASSERT(view_equal(word, command_arg(args, 1 + key * stride)));
        if (setting->by_slot)
            ASSERT(route_slot(setting->route, word) == part->slot);
        else
            ASSERT(part->shard == (uint32_t)(word.data[0] - '0'));
    }
    request_scan_fini(&scan);
    buf_fini(&out);
}

static void
push_cut(struct setting *setting, struct chain *chain, struct view bytes)
{
    size_t most = setting->seed % 3 == 0 ? 1 : 40;

    while (bytes.len > 0) {
        size_t len = fuzz_piece(&setting->seed, most, bytes.len);
        struct chunk *chunk = chunk_new_exact(&setting->pool, len);
        memcpy(chunk->data, bytes.data, len);
        chunk->fill = (uint32_t)len;
        chain_push(chain, chunk, 0, (uint32_t)len);
        chunk_unref(&chunk);
        bytes = view_of(bytes.data + len, bytes.len - len);
    }
}

/* What a server of this part would say, were values their keys. */
static void
right_reply(const struct split *split, const struct command_args *args,
            const uint32_t *keys, uint32_t count, struct buf *out)
{
    uint32_t stride = (args->argc - 1) / split->key_count;

    if (split->command->split == SPLIT_SUM) {
        buf_printf(out, ":%u\r\n", count);
        return;
    }
    if (split->command->split == SPLIT_PAIRS ||
        split->command->split == SPLIT_TRIPLES) {
        buf_append_str(out, "+OK\r\n");
        return;
    }
    buf_printf(out, "*%u\r\n", count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t key = keys == NULL ? i : keys[i];
        struct view word = command_arg(args, 1 + key * stride);
        buf_printf(out, "$%zu\r\n", word.len);
        buf_append_view(out, word);
        buf_append_str(out, "\r\n");
    }
}

static void
read_chain(const struct chain *chain, struct buf *out)
{
    chain_peek(chain, buf_reserve(out, chain->bytes), chain->bytes);
    out->len += chain->bytes;
}

static enum merge_result
merge(struct setting *setting, const struct split *split, struct chain *replies,
      struct buf *merged)
{
    struct chain out = {0};
    enum merge_result result =
        merge_replies(split, replies, setting->resp, &setting->pool, &out);

    read_chain(&out, merged);
    chain_clear(&out);
    for (uint32_t p = 0; p < split->part_count; p++)
        chain_clear(&replies[p]);
    return result;
}

static void
check_right_replies(struct setting *setting, const struct split *split,
                    const struct command_args *args)
{
    struct chain *replies = mem_array(split->part_count, sizeof(*replies));
    struct buf expected = {0}, merged = {0};

    for (uint32_t p = 0; p < split->part_count; p++) {
        const struct split_part *part = &split->parts[p];
        struct buf reply = {0};
        right_reply(split, args, split->order + part->first, part->count,
                    &reply);
        push_cut(setting, &replies[p], buf_view(&reply));
        buf_fini(&reply);
    }
    right_reply(split, args, NULL, split->key_count, &expected);
    ASSERT(merge(setting, split, replies, &merged) == MERGE_OK);
    ASSERT(view_equal(buf_view(&merged), buf_view(&expected)));
    buf_fini(&merged);
    buf_fini(&expected);
    mem_free(replies);
}

/* The servers' bytes are dealt out frame by frame, what is no frame too. */
static struct view
next_reply(struct view *bytes)
{
    struct reply_scan scan;
    size_t used = 0;

    reply_scan_init(&scan);
    if (bytes->len > 0 &&
        reply_scan(&scan, bytes->data, bytes->len, &used) != RESP_OK)
        used = bytes->len;
    reply_scan_fini(&scan);
    struct view reply = view_of(bytes->data, used);
    *bytes = view_of(bytes->data + used, bytes->len - used);
    return reply;
}

static void
check_any_replies(struct setting *setting, const struct split *split,
                  struct view bytes)
{
    struct chain *replies = mem_array(split->part_count, sizeof(*replies));
    struct buf merged = {0};

    for (uint32_t p = 0; p < split->part_count; p++)
        push_cut(setting, &replies[p], next_reply(&bytes));
    enum merge_result result = merge(setting, split, replies, &merged);
    check_frame(&merged);
    ASSERT((result == MERGE_OK) == (merged.data[0] != '-'));
    buf_fini(&merged);
    mem_free(replies);
}

static void
check_split(struct setting *setting, const struct command *row,
            const struct command_args *args, struct view servers)
{
    struct split split;
    uint64_t dice = setting->seed;
    uint32_t bad_key = 0, keys = 0;
    enum split_result result = split_make(&split, row, args, setting->route,
                                          setting->by_slot, &dice, &bad_key);

    if (result == SPLIT_NO_SHARD)
        ASSERT(bad_key > 0 && bad_key < args->argc);
    if (result != SPLIT_OK)
        return;
    for (uint32_t p = 0; p < split.part_count; p++) {
        ASSERT(split.parts[p].first == keys);
        keys += split.parts[p].count;
        check_part(setting, &split, args, p);
    }
    ASSERT(keys == split.key_count);
    check_right_replies(setting, &split, args);
    check_any_replies(setting, &split, servers);
    split_fini(&split);
}

/* Its parts are of its words, and any replies have an answer. */
static void
check_streams(struct setting *setting, const struct command *row,
              const struct command_args *args, struct view servers)
{
    struct split split;
    uint64_t dice = setting->seed;
    uint32_t bad_key = 0;

    if (split_make(&split, row, args, setting->route, setting->by_slot, &dice,
                   &bad_key) != SPLIT_OK)
        return;
    for (uint32_t p = 0; p < split.part_count; p++) {
        struct buf out = {0};
        split_encode(&split, args, p, split_encoded_size(&split, args, p),
                     &out);
        buf_fini(&out);
    }
    check_any_replies(setting, &split, servers);
    split_fini(&split);
}

static void
check_request(struct setting *setting, const struct command_args *args,
              struct view servers)
{
    const struct command *row = find_command(args);

    check_texts(row, args, setting->resp);
    if (row == NULL || !command_arity_ok(row, args->argc))
        return;
    check_keys(row, args);
    (void)!command_pattern_option(row, args);
    if (row->class == CLASS_SPLIT)
        check_split(setting, row, args, servers);
    if (row->split == SPLIT_STREAMS)
        check_streams(setting, row, args, servers);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view input = view_of((const char *)data, MIN(size, INPUT_MAX));
    uint8_t choices = fuzz_choice(&input);
    struct setting setting = {.by_slot = choices & 1,
                              .resp = choices & 2 ? 3 : 2,
                              .seed = fuzz_choice(&input)};
    struct request_scan scan;

    request_scan_init(&scan);
    if (request_scan(&scan, &limits, input.data, input.len) == RESP_OK &&
        scan.kind == REQUEST_ARRAY) {
        char *request = fuzz_copy(view_of(input.data, scan.size));
        const struct command_args args = {request, scan.args, scan.argc};
        setting.route = make_route(setting.by_slot);
        chunk_pool_init(&setting.pool);
        check_request(&setting, &args,
                      view_of(input.data + scan.size, input.len - scan.size));
        chunk_pool_fini(&setting.pool);
        route_free(&setting.route);
        mem_free(request);
    }
    request_scan_fini(&scan);
    return 0;
}
