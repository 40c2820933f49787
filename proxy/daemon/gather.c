/*
 * daemon/gather.c - picking lines out of a gathered text.
 */
#include "daemon/gather.h"

/* The number behind "id=" at the start of a line. */
static struct view
line_id(const char *line, size_t len)
{
    size_t from = 3, to = 3;

    if (len < 4 || memcmp(line, "id=", 3) != 0)
        return view_of(line, 0);
    while (to < len && line[to] != ' ')
        to++;
    return view_of(line + from, to - from);
}

static bool
has_word(struct view words, struct view word)
{
    size_t i = 0;

    while (i < words.len) {
        size_t end = i;
        while (end < words.len && words.data[end] != ' ')
            end++;
        if (view_equal(view_of(words.data + i, end - i), word))
            return true;
        i = end + 1;
    }
    return false;
}

void
gather_keep_ids(struct buf *text, struct view ids)
{
    size_t to = 0;

    if (ids.len == 0)
        return;
    for (size_t i = 0; i < text->len;) {
        char *line = text->data + i;
        char *end = memchr(line, '\n', text->len - i);
        size_t len = end == NULL ? text->len - i : (size_t)(end - line) + 1;
        if (has_word(ids, line_id(line, len))) {
            memmove(text->data + to, line, len);
            to += len;
        }
        i += len;
    }
    text->len = to;
}
