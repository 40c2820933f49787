/*
 * resp/reply_read.c - a cursor over the elements of a whole reply.
 */
#include "resp/reply_read.h"

#include "resp/resp_priv.h"

/* What stands before the text of a verbatim string ("txt:", "mkd:"). */
#define FORMAT_LEN 4

/* The line at the start of `rest`, without sign and line end. */
static bool
read_line(struct view rest, struct view *line)
{
    const char *cr;

    if (rest.len < 3)
        return false;
    cr = memchr(rest.data, '\r', rest.len - 1);
    if (cr == NULL || cr == rest.data || cr[1] != '\n')
        return false;
    *line = view_of(rest.data + 1, (size_t)(cr - rest.data) - 1);
    return true;
}

static void
advance(struct view *rest, size_t len)
{
    rest->data += len;
    rest->len -= len;
}

/* Find the text of a bulk behind its header line, and extend raw over it. */
static bool
read_payload(struct view rest, uint64_t len, struct reply_item *item)
{
    advance(&rest, item->raw.len);
    if (rest.len < 2 || len > rest.len - 2 || !is_crlf(rest.data + len))
        return false;
    item->text = view_of(rest.data, len);
    item->raw.len += len + 2;
    return true;
}

static bool
read_bulk(struct view rest, struct view line, struct reply_item *item)
{
    uint64_t len;

    if (item->type == RESP_BULK && view_equal(line, VIEW("-1"))) {
        item->is_null = true;
        return true;
    }
    return view_to_u64(line, &len) && read_payload(rest, len, item);
}

static bool
read_verbatim(struct view rest, struct view line, struct reply_item *item)
{
    if (!read_bulk(rest, line, item))
        return false;
    if (item->text.len >= FORMAT_LEN && item->text.data[FORMAT_LEN - 1] == ':')
        advance(&item->text, FORMAT_LEN);
    return true;
}

static bool
read_aggregate(struct view rest, struct view line, struct reply_item *item)
{
    bool is_pairs = item->type == RESP_MAP || item->type == RESP_ATTRIBUTE;

    if (item->type == RESP_ARRAY && view_equal(line, VIEW("-1"))) {
        item->is_null = true;
        return true;
    }
    /* No element is shorter than a byte: sums of counts stay in bounds. */
    if (!view_to_u64(line, &item->count) || item->count > rest.len)
        return false;
    item->count *= is_pairs ? 2 : 1;
    return true;
}

static bool
read_bool(struct view line, struct reply_item *item)
{
    item->number = view_equal(line, VIEW("t"));
    return item->number == 1 || view_equal(line, VIEW("f"));
}

static bool
read_null(struct view line, struct reply_item *item)
{
    item->is_null = true;
    return line.len == 0;
}

/* Read what the type makes of the line. */
static bool
read_value(struct view rest, struct view line, struct reply_item *item)
{
    switch ((enum resp_type)item->type) {
    case RESP_SIMPLE:
    case RESP_ERROR:
    case RESP_DOUBLE:
    case RESP_BIG_NUMBER:
        item->text = line;
        return true;
    case RESP_INTEGER:
        item->text = line;
        return view_to_i64(line, &item->number);
    case RESP_NULL:
        return read_null(line, item);
    case RESP_BOOL:
        return read_bool(line, item);
    case RESP_BULK:
    case RESP_BULK_ERROR:
        return read_bulk(rest, line, item);
    case RESP_VERBATIM:
        return read_verbatim(rest, line, item);
    case RESP_ARRAY:
    case RESP_MAP:
    case RESP_SET:
    case RESP_PUSH:
    case RESP_ATTRIBUTE:
        return read_aggregate(rest, line, item);
    }
    return false;
}

/* Read the next element, which may be an attribute, and advance. */
static bool
read_item(struct view *rest, struct reply_item *item)
{
    struct view line;

    if (!read_line(*rest, &line))
        return false;
    *item = (struct reply_item){0};
    item->type = rest->data[0];
    item->raw = view_of(rest->data, line.len + 3);
    if (!read_value(*rest, line, item))
        return false;
    advance(rest, item->raw.len);
    return true;
}

/* Advance over `due` elements and what is nested in them. */
static bool
skip_elements(struct view *rest, uint64_t due)
{
    struct reply_item item;

    while (due > 0) {
        if (!read_item(rest, &item))
            return false;
        /* An attribute is none of the elements: one more is due. */
        due += item.count;
        if (item.type != RESP_ATTRIBUTE)
            due--;
    }
    return true;
}

bool
reply_next(struct view *rest, struct reply_item *item)
{
    struct view at = *rest;

    do {
        if (!read_item(&at, item))
            return false;
    } while (item->type == RESP_ATTRIBUTE && skip_elements(&at, item->count));

    if (item->type == RESP_ATTRIBUTE)
        return false;
    *rest = at;
    return true;
}

bool
reply_skip(struct view *rest)
{
    struct view at = *rest;

    if (!skip_elements(&at, 1))
        return false;
    *rest = at;
    return true;
}
