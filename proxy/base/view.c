/*
 * base/view.c - comparing and reading views.
 */
#include "base/view.h"

static unsigned char
lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c | 0x20) : c;
}

bool
view_equal_nocase(struct view a, struct view b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        if (lower((unsigned char)a.data[i]) != lower((unsigned char)b.data[i]))
            return false;
    }
    return true;
}

int
view_compare(struct view a, struct view b)
{
    size_t common = MIN(a.len, b.len);
    int order = common == 0 ? 0 : memcmp(a.data, b.data, common);

    if (order != 0)
        return order;
    return a.len < b.len ? -1 : a.len > b.len;
}

struct view
view_take(struct view *rest, char end)
{
    const char *found =
        rest->len == 0 ? NULL : memchr(rest->data, end, rest->len);
    size_t len = found == NULL ? rest->len : (size_t)(found - rest->data);
    size_t used = found == NULL ? len : len + 1;
    struct view taken = view_of(rest->data, len);

    if (used > 0)
        *rest = view_of(rest->data + used, rest->len - used);
    return taken;
}

struct view
view_trim_line(struct view line)
{
    while (line.len > 0 && (line.data[line.len - 1] == '\n' ||
                            line.data[line.len - 1] == '\r'))
        line.len--;
    return line;
}

bool
view_to_u64(struct view text, uint64_t *value)
{
    uint64_t sum = 0;

    if (text.len == 0)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        unsigned digit = (unsigned)(unsigned char)text.data[i] - '0';
        if (digit > 9)
            return false;
        if (__builtin_mul_overflow(sum, (uint64_t)10, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)digit, &sum))
            return false;
    }
    *value = sum;
    return true;
}

bool
view_to_i64(struct view text, int64_t *value)
{
    bool negative = text.len > 0 && text.data[0] == '-';
    uint64_t size;

    if (negative)
        text = view_of(text.data + 1, text.len - 1);
    if (!view_to_u64(text, &size))
        return false;
    if (size > (uint64_t)INT64_MAX + (negative ? 1 : 0))
        return false;
    *value = negative ? (int64_t)(0 - size) : (int64_t)size;
    return true;
}
