/*
 * config/spans.c - reading ranges and slots.
 */
#include "config/spans.h"

#include "base/mem.h"
#include "config/section.h"

static const struct word range_words[] = {
#define RANGE_WORD(key, read) {#key, read},
#include "config/words.def"
};

static const struct section range_section = {
    .words = range_words,
    .word_count = ARRAY_LEN(range_words),
};

static struct view
copy_view(struct view bytes)
{
    return view_of(mem_view_dup(bytes), bytes.len);
}

/* The bytes are ours, though a view calls them constant. */
static void
free_view(struct view bytes)
{
    mem_free((void *)(uintptr_t)bytes.data);
}

static bool
read_bound(struct report *report, const struct node *node, uint64_t *bound)
{
    return node == NULL ||
           value_read_count(report, node, node->key, UINT64_MAX, bound);
}

/* Both ends belong to the range; the end that is left out is the utmost. */
static bool
read_number_range(struct report *report, const struct node *map,
                  struct range_spec *range)
{
    const struct node *before = node_find(map, VIEW("before"));

    *range = (struct range_spec){.to_number = UINT64_MAX};
    if (before != NULL) {
        report_error(report, before->key_at, "before", "found with range_by: "
                     "number, allowed to:, whose number is part of the range");
        return false;
    }
    if (!read_bound(report, node_find(map, VIEW("from")),
                    &range->from_number) ||
        !read_bound(report, node_find(map, VIEW("to")), &range->to_number))
        return false;
    if (range->from_number <= range->to_number)
        return true;
    report_found(report, node_find(map, VIEW("to")), "to",
                 "a number not below that of from");
    return false;
}

static bool
is_bytes(struct report *report, const struct node *node)
{
    if (node == NULL || (node->kind == NODE_TEXT && !node_is_empty(node)))
        return true;
    report_found(report, node, node->key, "a text");
    return false;
}

/* The upper end is the first key that is not part of the range. */
static bool
read_byte_range(struct report *report, const struct node *map,
                struct range_spec *range)
{
    const struct node *from = node_find(map, VIEW("from"));
    const struct node *before = node_find(map, VIEW("before"));
    const struct node *to = node_find(map, VIEW("to"));

    if (to != NULL) {
        report_error(report, to->key_at, "to", "found with range_by: bytes, "
                     "allowed before:, the first key behind the range");
        return false;
    }
    if (!is_bytes(report, from) || !is_bytes(report, before))
        return false;
    if (before != NULL &&
        view_compare(from ? node_text(from) : VIEW(""), node_text(before)) >=
            0) {
        report_found(report, before, "before", "a text behind that of from");
        return false;
    }
    *range = (struct range_spec){
        .from_bytes = copy_view(from ? node_text(from) : VIEW("")),
        .before_bytes = copy_view(before ? node_text(before) : VIEW("")),
        .no_before = before == NULL,
    };
    return true;
}

static void
add_range(struct report *report, const struct node *map, enum range_by by,
          struct server_settings *server)
{
    struct range_spec range;
    bool ok = by == RANGE_BY_NUMBER ? read_number_range(report, map, &range)
                                    : read_byte_range(report, map, &range);

    if (ok)
        server->ranges[server->range_count++] = range;
}

static void
read_range_list(struct report *report, const struct node *list,
                enum range_by by, struct server_settings *server)
{
    if (list->kind != NODE_LIST || list->count == 0) {
        report_found(report, list, "ranges", "a list of {from: X, %s: Y}",
                     by == RANGE_BY_NUMBER ? "to" : "before");
        return;
    }
    server->ranges = mem_array(list->count, sizeof(*server->ranges));
    for (const struct node *item = list->first; item; item = item->next) {
        if (item->kind != NODE_MAP || item->count == 0) {
            report_found(report, item, "ranges", "{from: X, %s: Y}",
                         by == RANGE_BY_NUMBER ? "to" : "before");
            continue;
        }
        section_read(report, item, &range_section, NULL);
        add_range(report, item, by, server);
    }
}

void
spans_read_ranges(struct report *report, const struct node *map,
                  enum range_by by, struct server_settings *server)
{
    const struct node *list = node_find(map, VIEW("ranges"));
    bool is_single = node_find(map, VIEW("from")) != NULL ||
                     node_find(map, VIEW("to")) != NULL ||
                     node_find(map, VIEW("before")) != NULL;

    if (list != NULL && is_single) {
        report_error(report, list->key_at, "ranges", "found together with "
                     "from, to or before, allowed one or the other");
    } else if (list != NULL) {
        read_range_list(report, list, by, server);
    } else if (is_single) {
        server->ranges = mem_array(1, sizeof(*server->ranges));
        add_range(report, map, by, server);
    }
}

static struct view
trim(struct view text)
{
    while (text.len > 0 && text.data[0] == ' ')
        text = view_of(text.data + 1, text.len - 1);
    while (text.len > 0 && text.data[text.len - 1] == ' ')
        text.len--;
    return text;
}

/* The bytes before the first `c`, or all; `rest` is what stands behind it. */
static struct view
cut_first(struct view text, char c, struct view *rest)
{
    const char *found = memchr(text.data, c, text.len);
    size_t len = found == NULL ? text.len : (size_t)(found - text.data);

    *rest = view_of(text.data + len, text.len - len);
    if (found != NULL)
        *rest = view_of(found + 1, text.len - len - 1);
    return view_of(text.data, len);
}

/* "5" or "5-8". */
static bool
parse_slot_span(struct view text, struct slot_span *span)
{
    struct view last, first = cut_first(text, '-', &last);
    uint64_t low, high;

    if (!view_to_u64(first, &low) || low >= ROUTE_SLOTS)
        return false;
    high = low;
    if (first.len < text.len &&
        (!view_to_u64(last, &high) || high >= ROUTE_SLOTS || high < low))
        return false;
    *span = (struct slot_span){(uint16_t)low, (uint16_t)high};
    return true;
}

static void
push_slots(struct server_settings *server, struct slot_span span)
{
    /* Full at each power of two, which is then doubled. */
    size_t n = server->slot_count;
    if ((n & (n - 1)) == 0)
        server->slots = mem_realloc(server->slots,
                                    MAX(2 * n, 1) * sizeof(*server->slots));
    server->slots[server->slot_count++] = span;
}

static bool
parse_slot_text(struct view text, struct server_settings *server)
{
    while (text.data != NULL) {
        struct slot_span span;
        struct view rest, item = cut_first(text, ',', &rest);

        if (!parse_slot_span(trim(item), &span) ||
            server->slot_count == SPANS_MAX)
            return false;
        push_slots(server, span);
        text = item.len == text.len ? (struct view){0} : rest;
    }
    return true;
}

static void
read_slot_text(struct report *report, const struct node *node,
               struct server_settings *server)
{
    if (node->kind != NODE_TEXT || !parse_slot_text(node_text(node), server))
        report_found(report, node, "slots", "slots from 0 to %d such as 5, "
                     "0-8191 or 0-100,200", ROUTE_SLOTS - 1);
}

void
spans_read_slots(struct report *report, const struct node *node,
                 struct server_settings *server)
{
    if (node->kind != NODE_LIST || node->count == 0) {
        read_slot_text(report, node, server);
        return;
    }
    for (const struct node *item = node->first; item; item = item->next)
        read_slot_text(report, item, server);
}

void
spans_fini(struct server_settings *server)
{
    for (size_t i = 0; i < server->range_count; i++) {
        free_view(server->ranges[i].from_bytes);
        free_view(server->ranges[i].before_bytes);
    }
    mem_free(server->ranges);
    mem_free(server->slots);
}
