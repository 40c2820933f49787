/*
 * config/section.c - known keys are read, unknown ones get a hint.
 */
#include "config/section.h"

#include "base/log.h"
#include "config/hint.h"

static const struct word *
find_word(const struct section *section, struct view key)
{
    for (size_t i = 0; i < section->word_count; i++) {
        if (view_equal(view_str(section->words[i].key), key))
            return &section->words[i];
    }
    return NULL;
}

static const struct value_row *
find_row(const struct section *section, struct view key)
{
    for (size_t i = 0; i < section->row_count; i++) {
        if (view_equal(view_str(section->rows[i].key), key))
            return &section->rows[i];
    }
    return NULL;
}

/* May the key stand in a message as it is? */
static bool
is_plain(struct view key)
{
    for (size_t i = 0; i < key.len; i++) {
        unsigned char c = (unsigned char)key.data[i];
        if (c <= 0x20 || c >= 0x7f || c == '"')
            return false;
    }
    return key.len > 0 && key.len < REPORT_QUOTE_SIZE;
}

static void
report_unknown(struct report *report, const struct node *entry,
               const struct section *section)
{
    struct hint hint = hint_start(node_key(entry));
    char quoted[REPORT_QUOTE_SIZE];
    const char *key = entry->key;

    for (size_t i = 0; i < section->word_count; i++)
        hint_offer(&hint, section->words[i].key);
    for (size_t i = 0; i < section->row_count; i++)
        hint_offer(&hint, section->rows[i].key);

    if (!is_plain(node_key(entry)))
        key = log_quote(quoted, sizeof(quoted), node_key(entry));
    report_error(report, entry->key_at, key, "found an unknown key, allowed "
                 "the keys of pointsman.yml(5)%s%s%s",
                 hint.nearest ? "; did you mean " : "",
                 hint.nearest ? hint.nearest : "", hint.nearest ? "?" : "");
}

static void
read_entry(struct report *report, const struct node *entry,
           const struct section *section, void *target)
{
    const struct word *word = find_word(section, node_key(entry));
    const struct value_row *row = find_row(section, node_key(entry));

    if (word != NULL) {
        if (word->read != NULL)
            word->read(report, entry, target);
    } else if (row != NULL) {
        value_read(report, entry, row, target);
    } else {
        report_unknown(report, entry, section);
    }
}

void
section_read(struct report *report, const struct node *map,
             const struct section *section, void *target)
{
    for (const struct node *entry = map->first; entry; entry = entry->next)
        read_entry(report, entry, section, target);
}
