/*
 * command/shebang.c - what the first line of a script says of it.
 */
#include "command/shebang.h"

/* Take a word off the front, if it stands there. */
static bool
take_prefix(struct view *text, struct view prefix)
{
    if (text->len < prefix.len ||
        !view_equal(view_of(text->data, prefix.len), prefix))
        return false;
    *text = view_of(text->data + prefix.len, text->len - prefix.len);
    return true;
}

static bool
list_has(struct view list, struct view flag)
{
    while (list.len > 0) {
        if (view_equal(view_take(&list, ','), flag))
            return true;
    }
    return false;
}

bool
shebang_has_flag(struct view body, struct view flag)
{
    if (!take_prefix(&body, VIEW("#!")))
        return false;
    struct view line = view_take(&body, '\n');
    while (line.len > 0) {
        struct view word = view_take(&line, ' ');
        if (take_prefix(&word, VIEW("flags=")) && list_has(word, flag))
            return true;
    }
    return false;
}
