/*
 * command/scan_cursor.c - one SCAN over several shards.
 */
#include "command/scan_cursor.h"

#include <stdlib.h>

#include "base/mem.h"
#include "command/gather.h"
#include "resp/encode.h"
#include "resp/resp.h"

#define PLACE_BITS 15
#define NODE_BITS 10       /* two nodes are rarely taken for one */
#define BACKEND_BITS 38    /* some servers have the slot in 14 of them */
#define PLACE_MAX ((1u << PLACE_BITS) - 1)
#define PLACES_DRAWN 30000 /* of them, so that there is room behind */
#define DEFAULT_COUNT 10   /* as servers have it */
#define COPIED_BELOW 512   /* bytes; more are referenced where they are */
#define NUMBER_MAX 20      /* digits of a server's cursor */

/* --- cursors ------------------------------------------------------------------ */

bool
scan_cursor_parse(struct scan_cursor *cursor, struct view text)
{
    uint64_t number;

    if (!view_to_u64(text, &number) || number > INT64_MAX)
        return false;
    cursor->place = (uint32_t)(number & PLACE_MAX);
    cursor->node = (uint32_t)(number >> PLACE_BITS) & ((1u << NODE_BITS) - 1);
    cursor->backend = number >> (PLACE_BITS + NODE_BITS);
    return cursor->place != 0 || number == 0;
}

bool
scan_cursor_make(const struct scan_cursor *cursor, uint64_t *number)
{
    if (cursor->backend >> BACKEND_BITS != 0)
        return false;
    *number = cursor->backend << (PLACE_BITS + NODE_BITS) |
        (uint64_t)cursor->node << PLACE_BITS | cursor->place;
    return true;
}

uint32_t
scan_node(struct view identity)
{
    return hash_bytes(HASH_FNV1A_32, true, identity) % (1u << NODE_BITS);
}

/* --- places ------------------------------------------------------------------- */

struct draw {
    uint32_t place;
    uint32_t shard;
    struct view name;
};

static int
compare_draws(const void *one, const void *other)
{
    const struct draw *a = one, *b = other;

    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    int by_name = view_compare(a->name, b->name);
    if (by_name != 0)
        return by_name;
    return a->shard < b->shard ? -1 : 1;
}

void
scan_places_by_name(const struct view *names, uint32_t count, uint32_t *places)
{
    struct draw *draws = mem_array(count, sizeof(*draws));
    uint32_t taken = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t hash = hash_bytes(HASH_FNV1A_32, true, names[i]);
        draws[i] = (struct draw){1 + hash % PLACES_DRAWN, i, names[i]};
    }
    qsort(draws, count, sizeof(*draws), compare_draws);
    for (uint32_t i = 0; i < count; i++) {
        taken = MAX(taken + 1, draws[i].place);
        places[draws[i].shard] = taken;
    }
    mem_free(draws);
}

void
scan_places_by_slot(const struct route *route, uint32_t count, uint32_t *places)
{
    uint32_t *longest = mem_array(MAX(count, 1u), sizeof(*longest));
    uint32_t run = 0, before = ROUTE_NONE;

    for (uint32_t i = 0; i < count; i++)
        places[i] = 0;
    for (uint32_t slot = 0; slot < ROUTE_SLOTS; slot++) {
        uint32_t owner = route_slot_owner(route, slot);
        run = owner == before ? run + 1 : 1;
        before = owner;
        if (owner < count && run > longest[owner]) {
            longest[owner] = run;
            places[owner] = slot + 1;
        }
    }
    mem_free(longest);
}

uint32_t
scan_next_place(const uint32_t *places, uint32_t count, uint32_t place)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < count; i++)
        if (places[i] > place && (next == 0 || places[i] < next))
            next = places[i];
    return next;
}

uint32_t
scan_find_place(const uint32_t *places, uint32_t count, uint32_t place)
{
    uint32_t wanted =
        scan_next_place(places, count, place == 0 ? 0 : place - 1);

    for (uint32_t i = 0; wanted != 0 && i < count; i++)
        if (places[i] == wanted)
            return i;
    return ROUTE_NONE;
}

/* --- requests and replies ----------------------------------------------------- */

void
scan_encode(const struct command_args *args, uint64_t backend, struct buf *out)
{
    encode_array(out, args->argc);
    encode_bulk(out, command_arg(args, 0));
    encode_bulk_u64(out, backend);
    for (uint32_t i = 2; i < args->argc; i++)
        encode_bulk(out, command_arg(args, i));
}

/* The server's next cursor, a bulk of digits. */
static bool
read_cursor(struct chain_cursor *cursor, uint64_t *number)
{
    struct buf text = {0};
    int64_t len;
    bool is_good = false;

    if (!chain_cursor_number(cursor, RESP_BULK, &len) || len < 1 ||
        len > NUMBER_MAX || (size_t)len > cursor->left)
        return false;
    chain_cursor_read(cursor, (size_t)len, &text);
    is_good = view_to_u64(buf_view(&text), number) &&
        chain_cursor_literal(cursor, VIEW("\r\n"));
    buf_fini(&text);
    return is_good;
}

uint64_t
scan_page_size(const struct command_args *args)
{
    uint64_t size = DEFAULT_COUNT, given;

    for (uint32_t i = 2; i + 1 < args->argc; i += 2)
        if (view_equal_nocase(command_arg(args, i), VIEW("COUNT")) &&
            view_to_u64(command_arg(args, i + 1), &given))
            size = given;
    return size;
}

/* The keys are the elements of an array, with which the reply ends. */
static bool
read_keys(struct gather *gather, struct chain_cursor *cursor,
          struct scan_page *page)
{
    struct chain_cursor end = *cursor;
    int64_t count;

    if (!chain_cursor_element(&end, &gather->scan) || end.left > 0 ||
        !chain_cursor_number(cursor, RESP_ARRAY, &count) || count < 0)
        return false;
    page->count += (uint64_t)count;
    if (cursor->left < COPIED_BELOW)
        chain_cursor_copy(cursor, cursor->left, gather->pool, &page->keys);
    else
        chain_cursor_share(cursor, cursor->left, &page->keys);
    return true;
}

static enum merge_result
read_page(struct gather *gather, struct chain_cursor *cursor,
          struct scan_page *page)
{
    int64_t words;

    if (!chain_cursor_number(cursor, RESP_ARRAY, &words) || words != 2 ||
        !read_cursor(cursor, &page->backend) ||
        !read_keys(gather, cursor, page))
        return gather_bad(gather);
    return MERGE_OK;
}

enum merge_result
scan_read(const struct command *command, const struct chain *reply,
          struct chunk_pool *pool, struct scan_page *page, struct chain *out)
{
    struct gather gather;
    enum merge_result result = MERGE_ERROR;

    gather_init(&gather, command, 1, pool);
    bool is_good = gather_open(&gather, reply);
    struct chain_cursor *cursor = &gather.cursors[0];
    if (is_good && !gather_is_error(cursor))
        result = read_page(&gather, cursor, page);
    else if (!is_good || !gather_element(&gather, cursor))
        result = gather_bad(&gather);
    gather_fini(&gather, out);
    return result;
}

/* The client goes on at this shard, at the next one, or not at all. */
static bool
next_cursor(const struct scan_step *step, const struct scan_page *page,
            uint64_t *number)
{
    struct scan_cursor next = {.node = step->node, .place = step->place};

    next.backend = page->backend;
    if (next.backend == 0)
        next = (struct scan_cursor){.place = step->next};
    return scan_cursor_make(&next, number);
}

enum merge_result
scan_give(const struct scan_step *step, struct scan_page *page,
          struct chunk_pool *pool, struct chain *out)
{
    struct buf head = {0};
    uint64_t number;

    bool is_good = next_cursor(step, page, &number);
    if (is_good) {
        encode_array(&head, 2);
        encode_bulk_u64(&head, number);
        encode_array(&head, page->count);
    } else {
        encode_error(&head,
                     VIEW("ERR proxy: the cursor of a shard is too large"));
        chain_clear(&page->keys);
    }
    chain_copy(out, pool, head.data, head.len);
    chain_take(out, &page->keys);
    buf_fini(&head);
    return is_good ? MERGE_OK : MERGE_ERROR;
}
