/*
 * command/info_merge.c - the INFO texts of several servers become one.
 */
#include "command/info_merge.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "command/chain_cursor.h"

/* What becomes of the numbers of a section. */
enum rule { RULE_FIRST, RULE_ADD, RULE_GREATEST };

struct section_rule {
    const char *title;
    enum rule rule;
};

static const struct section_rule section_rules[] = {
    {"# Clients", RULE_ADD},     {"# Memory", RULE_ADD},
    {"# Stats", RULE_ADD},       {"# Persistence", RULE_GREATEST},
    {"# Keyspace", RULE_ADD},    {"# Commandstats", RULE_ADD},
    {"# Errorstats", RULE_ADD},
};

/* "# Stats", or "expired_keys" with its value. */
struct line {
    struct view name;
    struct buf value;
    bool is_title;
    enum rule rule;
};

struct page {
    struct line *lines;
    size_t count, capacity;
    size_t at; /* behind the line that was found last */
};

/* --- lines -------------------------------------------------------------------- */

static enum rule
rule_of(struct view title)
{
    for (size_t i = 0; i < ARRAY_LEN(section_rules); i++) {
        if (view_equal(title, view_str(section_rules[i].title)))
            return section_rules[i].rule;
    }
    return RULE_FIRST;
}

static struct line *
insert_line(struct page *page, size_t at)
{
    if (page->count == page->capacity) {
        page->capacity = MAX(page->capacity * 2, (size_t)64);
        page->lines =
            mem_realloc(page->lines, page->capacity * sizeof(*page->lines));
    }
    struct line *line = &page->lines[at];
    memmove(line + 1, line, (page->count - at) * sizeof(*line));
    page->count++;
    page->at = at + 1;
    *line = (struct line){0};
    return line;
}

/* From where the last one was to the end of the section, then from its start;
 * texts are alike, so it is mostly the next. */
static struct line *
find_in_section(struct page *page, size_t start, struct view name)
{
    size_t end = start;

    while (end < page->count && !page->lines[end].is_title)
        end++;
    for (size_t i = 0; i < end - start; i++) {
        size_t at = page->at + i < end ? page->at + i
                                       : page->at + i - (end - start);
        if (view_equal(page->lines[at].name, name)) {
            page->at = at + 1;
            return &page->lines[at];
        }
    }
    page->at = end;
    return NULL;
}

/* --- values ------------------------------------------------------------------- */

static int64_t
joined(enum rule rule, int64_t a, int64_t b)
{
    int64_t sum;

    if (rule == RULE_GREATEST || __builtin_add_overflow(a, b, &sum))
        return MAX(a, b);
    return sum;
}

/* Append the one value of both; the first if they are no whole numbers. */
static void
join_number(enum rule rule, struct view a, struct view b, struct buf *out)
{
    int64_t first, second;

    if (view_to_i64(a, &first) && view_to_i64(b, &second))
        buf_printf(out, "%" PRId64, joined(rule, first, second));
    else
        buf_append_view(out, a);
}

/* "calls=1,usec=20": field by field, while the names are the same. */
static void
join_fields(enum rule rule, struct view a, struct view b, struct buf *out)
{
    const char *comma = "";

    while (a.len > 0) {
        struct view value = view_take(&a, ','), other = view_take(&b, ',');
        struct view name = view_take(&value, '='), twin = view_take(&other, '=');
        bool is_same = view_equal(name, twin);
        buf_append_str(out, comma);
        buf_append_view(out, name);
        buf_append_char(out, '=');
        join_number(view_equal(name, VIEW("avg_ttl")) ? RULE_GREATEST : rule,
                    value, is_same ? other : VIEW(""), out);
        comma = ",";
    }
}

static void
join_value(struct line *line, struct view other)
{
    struct buf out = {0};
    enum rule rule = line->rule;
    struct view value = buf_view(&line->value);

    if (rule == RULE_FIRST)
        return;
    if (view_equal(line->name, VIEW("rdb_changes_since_last_save")))
        rule = RULE_ADD;
    if (value.len > 0 && memchr(value.data, '=', value.len) != NULL)
        join_fields(rule, value, other, &out);
    else
        join_number(rule, value, other, &out);
    buf_fini(&line->value);
    line->value = out;
}

/* --- texts -------------------------------------------------------------------- */

/* The first line of a section; 0 when there is none. */
static size_t
find_title(struct page *page, struct view title)
{
    for (size_t i = 0; i < page->count; i++) {
        if (page->lines[i].is_title && view_equal(page->lines[i].name, title))
            return page->at = i + 1;
    }
    return 0;
}

static size_t
get_title(struct page *page, struct view title)
{
    size_t found = find_title(page, title);

    if (found > 0)
        return found;
    struct line *line = insert_line(page, page->count);
    line->name = title;
    line->is_title = true;
    line->rule = rule_of(title);
    return page->count;
}

static void
add_field(struct page *page, size_t section, struct view text)
{
    struct view name = view_take(&text, ':');
    struct line *line = find_in_section(page, section, name);

    if (line != NULL) {
        join_value(line, text);
        return;
    }
    line = insert_line(page, page->at);
    line->name = name;
    line->rule = page->lines[section - 1].rule;
    buf_append_view(&line->value, text);
}

/* Of what is counted only the clients that track are none of the servers'. */
static bool
is_ours(struct view title, struct view name)
{
    struct view prefix = VIEW("tracking_");

    return !view_equal(title, VIEW("# Stats")) ||
        view_equal(view_of(name.data, MIN(name.len, prefix.len)), prefix);
}

/* The proxy's own, whatever servers have said. */
static void
put_field(struct page *page, size_t section, struct view text)
{
    struct view name = view_take(&text, ':');
    struct line *line = find_in_section(page, section, name);

    if (!is_ours(page->lines[section - 1].name, name))
        return;
    if (line == NULL) {
        line = insert_line(page, page->at);
        line->name = name;
    }
    line->value.len = 0;
    buf_append_view(&line->value, text);
}

typedef size_t (*section_fn)(struct page *page, struct view title);
typedef void (*field_fn)(struct page *page, size_t section, struct view text);

/* Section by section (of which the first line is known), line by line. */
static void
read_page(struct page *page, struct view text, section_fn find, field_fn take)
{
    size_t section = 0;

    while (text.len > 0) {
        struct view line = view_take(&text, '\n');
        if (line.len > 0 && line.data[line.len - 1] == '\r')
            line.len--;
        if (line.len > 0 && line.data[0] == '#')
            section = find(page, line);
        else if (section > 0 && memchr(line.data, ':', line.len) != NULL)
            take(page, section, line);
    }
}

/* What a bulk or verbatim string says; false for other replies. */
static bool
read_text(const struct chain *reply, struct buf *bytes, struct view *text)
{
    struct chain_cursor cursor;

    chain_cursor_init(&cursor, reply);
    chain_cursor_read(&cursor, cursor.left, bytes);
    *text = buf_view(bytes);
    struct view header = view_take(text, '\n');
    if (header.len == 0 || (header.data[0] != '$' && header.data[0] != '='))
        return false;
    if (header.data[0] == '=')
        (void)view_take(text, ':'); /* "txt:" */
    return true;
}

static void
write_page(const struct page *page, struct buf *out)
{
    for (size_t i = 0; i < page->count; i++) {
        const struct line *line = &page->lines[i];
        if (line->is_title && i > 0)
            buf_append_str(out, "\r\n");
        buf_append_view(out, line->name);
        if (!line->is_title) {
            buf_append_char(out, ':');
            buf_append_view(out, buf_view(&line->value));
        }
        buf_append_str(out, "\r\n");
    }
}

bool
info_merge(const struct chain *replies, uint32_t count, struct view own,
           struct buf *out)
{
    struct buf *bytes = mem_array(count, sizeof(*bytes));
    struct page page = {0};
    struct view text;
    bool is_any = false;

    for (uint32_t i = 0; i < count; i++) {
        bytes[i] = (struct buf){0};
        if (!read_text(&replies[i], &bytes[i], &text))
            continue;
        is_any = true;
        read_page(&page, text, get_title, add_field);
    }
    read_page(&page, own, find_title, put_field);
    write_page(&page, out);
    for (size_t i = 0; i < page.count; i++)
        buf_fini(&page.lines[i].value);
    mem_free(page.lines);
    for (uint32_t i = 0; i < count; i++)
        buf_fini(&bytes[i]);
    mem_free(bytes);
    return is_any;
}
