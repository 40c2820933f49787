/*
 * base/dict.h - things found by their names.
 *
 *   buckets  [ ]--> entry --> entry       an entry is embedded in its owner,
 *            [ ]                          who keeps the bytes of its key alive
 *            [ ]--> entry
 *
 * A hash table that grows as it fills, and gives its memory back when the last
 * entry goes.  Names may be any bytes; where they hash to differs from process
 * to process.  A zeroed struct is an empty one.  The owner bounds the number of
 * entries.
 */
#ifndef BASE_DICT_H
#define BASE_DICT_H

#include "base/view.h"

struct dict_entry {
    struct dict_entry *next; /* in its bucket */
    struct view key;
    uint64_t hash;
};

struct dict {
    struct dict_entry **buckets;
    size_t size;  /* buckets, a power of two; or 0 */
    size_t count; /* entries */
};

/* NULL when nobody has this name. */
struct dict_entry *dict_find(const struct dict *dict,
                             struct view key) MUST_CHECK;

/* Of a name that nobody has yet; entry->key is set. */
void dict_add(struct dict *dict, struct dict_entry *entry);
void dict_remove(struct dict *dict, struct dict_entry *entry);

/* The entry that comes behind this one, or the first for NULL; NULL at the end.
 * An entry may be removed once its next is known. */
struct dict_entry *dict_next(const struct dict *dict,
                             const struct dict_entry *entry) MUST_CHECK;

#endif
