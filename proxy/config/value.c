/*
 * config/value.c - reading scalars, each with its type and limits.
 */
#include "config/value.h"

#include <inttypes.h>

#include "base/mem.h"
#include "config/units.h"

bool
value_is_printable(struct view text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c < 0x20 || c == 0x7f)
            return false;
    }
    return true;
}

bool
value_read_bool(struct report *report, const struct node *node,
                const char *key, bool *value)
{
    bool is_true = view_equal(node_text(node), VIEW("true"));

    if (!is_true && !view_equal(node_text(node), VIEW("false"))) {
        report_found(report, node, key, "true or false");
        return false;
    }
    *value = is_true;
    return true;
}

static bool
read_number(struct report *report, const struct node *node, const char *key,
            uint64_t min, uint64_t max, uint64_t *value)
{
    uint64_t number;

    if (!view_to_u64(node_text(node), &number) || number < min ||
        number > max) {
        report_found(report, node, key,
                     "a number from %" PRIu64 " to %" PRIu64, min, max);
        return false;
    }
    *value = number;
    return true;
}

bool
value_read_count(struct report *report, const struct node *node,
                 const char *key, uint64_t max, uint64_t *value)
{
    return read_number(report, node, key, 0, max, value);
}

bool
value_read_text(struct report *report, const struct node *node,
                const char *key, char **value)
{
    struct view text = node_text(node);

    if (text.len == 0 || !value_is_printable(text)) {
        report_found(report, node, key,
                     "a text without control characters, not empty");
        return false;
    }
    mem_free(*value);
    *value = mem_view_dup(text);
    return true;
}

static void
read_msec(struct report *report, const struct node *node,
          const struct value_row *row, int64_t *value)
{
    char min[UNITS_TEXT_SIZE], max[UNITS_TEXT_SIZE];
    int64_t msec;

    if (row->min < 0 && view_equal(node_text(node), VIEW("-1"))) {
        *value = -1;
        return;
    }
    if (!units_parse_msec(node_text(node), &msec) || msec < row->min ||
        msec > row->max) {
        report_found(report, node, row->key,
                     "%sa duration from %s to %s (units ms, s, m, h; without "
                     "one it is milliseconds)",
                     row->min < 0 ? "-1 or " : "",
                     units_print_msec(min, MAX(row->min, 0)),
                     units_print_msec(max, row->max));
        return;
    }
    *value = msec;
}

/* As servers have it, -1 means that there is none. */
static void
read_usec(struct report *report, const struct node *node,
          const struct value_row *row, int64_t *value)
{
    char max[UNITS_TEXT_SIZE];
    int64_t usec;

    if (view_equal(node_text(node), VIEW("-1"))) {
        *value = -1;
        return;
    }
    if (!units_parse_usec(node_text(node), &usec) || usec > row->max) {
        report_found(report, node, row->key,
                     "-1 or a duration up to %s (units us, ms, s; without one "
                     "it is microseconds)",
                     units_print_usec(max, row->max));
        return;
    }
    *value = usec;
}

static void
read_bytes(struct report *report, const struct node *node,
           const struct value_row *row, uint64_t *value)
{
    char min[UNITS_TEXT_SIZE], max[UNITS_TEXT_SIZE];
    uint64_t bytes;

    if (!units_parse_bytes(node_text(node), &bytes) ||
        bytes < (uint64_t)row->min || bytes > (uint64_t)row->max) {
        report_found(report, node, row->key,
                     "a size from %s to %s (units kb, mb, gb; without one it "
                     "is bytes)",
                     units_print_bytes(min, (uint64_t)row->min),
                     units_print_bytes(max, (uint64_t)row->max));
        return;
    }
    *value = bytes;
}

void
value_read(struct report *report, const struct node *node,
           const struct value_row *row, void *target)
{
    void *field = (char *)target + row->offset;

    switch (row->type) {
    case VALUE_BOOL:
        value_read_bool(report, node, row->key, field);
        return;
    case VALUE_COUNT:
        read_number(report, node, row->key, (uint64_t)row->min,
                    (uint64_t)row->max, field);
        return;
    case VALUE_MSEC:
        read_msec(report, node, row, field);
        return;
    case VALUE_USEC:
        read_usec(report, node, row, field);
        return;
    case VALUE_BYTES:
        read_bytes(report, node, row, field);
        return;
    case VALUE_TEXT:
        value_read_text(report, node, row->key, field);
        return;
    }
}
