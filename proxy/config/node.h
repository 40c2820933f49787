/*
 * config/node.h - a YAML document as a small tree.
 *
 * Made by yaml_read(), walked by the readers of sections, freed when the
 * settings are complete.  Every node knows where it stands in the file, so
 * that a message can say so.  Owner: settings_parse().
 */
#ifndef CONFIG_NODE_H
#define CONFIG_NODE_H

#include <stdbool.h>

#include "base/base.h"
#include "base/view.h"

/* The longest path is pool, servers, server, ranges, range, from. */
#define NODE_DEPTH_MAX 8
/* Entries of one list or map; pools, and servers of a pool, are among them. */
#define NODE_ENTRIES_MAX 4096

enum node_kind {
    NODE_TEXT,
    NODE_LIST,
    NODE_MAP,
};

/* A place in the file, counted from 1. */
struct mark {
    unsigned line;
    unsigned column;
};

struct node {
    enum node_kind kind;
    bool quoted;        /* of a text */
    char *text;         /* of a text: NUL-terminated, may hold NULs as well */
    size_t text_len;
    struct mark at;
    char *key;          /* of an entry of a map, likewise; else NULL */
    size_t key_len;
    struct mark key_at;
    struct node *first; /* of a list or map, in the order written */
    struct node *last;
    struct node *next;
    size_t count;
};

/* Add a child that `parent` now owns. */
void node_append(struct node *parent, struct node *child);
/* NULL is fine; clears the caller's pointer. */
void node_free(struct node **nodep);

/* The entry of a map with this key, or NULL. */
const struct node *node_find(const struct node *map, struct view key);
/* Where to report about an entry of a map: the position of its key,
 * or of the map itself when there is no such entry. */
struct mark node_key_mark(const struct node *map, struct view key);

/* Of a list or map it is empty, which no scalar's reader accepts. */
static inline struct view
node_text(const struct node *node)
{
    return view_of(node->text ? node->text : "", node->text_len);
}

static inline struct view
node_key(const struct node *node)
{
    return view_of(node->key, node->key_len);
}

/* `key:` with nothing behind it. */
static inline bool
node_is_empty(const struct node *node)
{
    return node->kind == NODE_TEXT && node->text_len == 0 && !node->quoted;
}

#endif
