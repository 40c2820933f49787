/*
 * config/section.h - a map of the file, key by key, through a table.
 *
 * A section knows its scalars (rows of settings.def) and its words: keys with
 * a meaning of their own, rows of words.def.  Everything else is an unknown
 * key, reported with the nearest known one.
 */
#ifndef CONFIG_SECTION_H
#define CONFIG_SECTION_H

#include "base/base.h"
#include "config/node.h"
#include "config/report.h"
#include "config/value.h"

typedef void word_fn(struct report *report, const struct node *node,
                     void *target);

struct word {
    const char *key;
    word_fn *read; /* NULL: its reader looks it up, for the sake of order */
};

struct section {
    const struct word *words;
    size_t word_count;
    const struct value_row *rows;
    size_t row_count;
};

/* Read every entry of `map` into `target`; what is wrong is reported. */
void section_read(struct report *report, const struct node *map,
                  const struct section *section, void *target);

/* What a file makes of the rows of settings.def: tables of them, and code to
 * set and free the fields they are named after. */
#define SECTION_ROW_BOOL(type, key, min, max) \
    {#key, VALUE_BOOL, offsetof(type, key), min, max},
#define SECTION_ROW_COUNT(type, key, min, max) \
    {#key, VALUE_COUNT, offsetof(type, key), min, max},
#define SECTION_ROW_MSEC(type, key, min, max) \
    {#key, VALUE_MSEC, offsetof(type, key##_ms), min, max},
#define SECTION_ROW_USEC(type, key, min, max) \
    {#key, VALUE_USEC, offsetof(type, key##_us), min, max},
#define SECTION_ROW_BYTES(type, key, min, max) \
    {#key, VALUE_BYTES, offsetof(type, key##_bytes), min, max},
#define SECTION_ROW_TEXT(type, key, min, max) \
    {#key, VALUE_TEXT, offsetof(type, key), min, max},

#define SECTION_DEFAULT_BOOL(target, key, def) (target)->key = (def);
#define SECTION_DEFAULT_COUNT(target, key, def) (target)->key = (def);
#define SECTION_DEFAULT_MSEC(target, key, def) (target)->key##_ms = (def);
#define SECTION_DEFAULT_USEC(target, key, def) (target)->key##_us = (def);
#define SECTION_DEFAULT_BYTES(target, key, def) (target)->key##_bytes = (def);
#define SECTION_DEFAULT_TEXT(target, key, def) (target)->key = (def);

#define SECTION_FREE_BOOL(target, key)
#define SECTION_FREE_COUNT(target, key)
#define SECTION_FREE_MSEC(target, key)
#define SECTION_FREE_USEC(target, key)
#define SECTION_FREE_BYTES(target, key)
#define SECTION_FREE_TEXT(target, key) mem_free((target)->key);

#endif
