/*
 * config/value.h - one scalar of the file into one field of a struct.
 */
#ifndef CONFIG_VALUE_H
#define CONFIG_VALUE_H

#include "base/base.h"
#include "config/node.h"
#include "config/report.h"

enum value_type {
    VALUE_BOOL,
    VALUE_COUNT,
    VALUE_MSEC,
    VALUE_USEC,
    VALUE_BYTES,
    VALUE_TEXT,
};

/* What a row of settings.def says, and where its field is. */
struct value_row {
    const char *key;
    enum value_type type;
    size_t offset;
    int64_t min;
    int64_t max;
};

/* Fill the field in `target`, or report and leave it as it is. */
void value_read(struct report *report, const struct node *node,
                const struct value_row *row, void *target);

/* For keys that are no rows.  False: reported, `*value` is as it was. */
bool value_read_bool(struct report *report, const struct node *node,
                     const char *key, bool *value);
bool value_read_count(struct report *report, const struct node *node,
                      const char *key, uint64_t max, uint64_t *value);
/* A text that is not empty and holds no control characters, which would end
 * up in logs and statistics; *value is replaced by a copy. */
bool value_read_text(struct report *report, const struct node *node,
                     const char *key, char **value);

bool value_is_printable(struct view text) MUST_CHECK;

#endif
