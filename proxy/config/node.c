/*
 * config/node.c - growing, searching and freeing the tree.
 */
#include "config/node.h"

#include "base/mem.h"

void
node_append(struct node *parent, struct node *child)
{
    if (parent->last == NULL)
        parent->first = child;
    else
        parent->last->next = child;
    parent->last = child;
    parent->count++;
}

/* Recursion is bounded by NODE_DEPTH_MAX. */
void
node_free(struct node **nodep)
{
    struct node *node = *nodep;

    *nodep = NULL;
    if (node == NULL)
        return;
    for (struct node *child = node->first, *next; child != NULL; child = next) {
        next = child->next;
        node_free(&child);
    }
    mem_free(node->text);
    mem_free(node->key);
    mem_free(node);
}

const struct node *
node_find(const struct node *map, struct view key)
{
    if (map->kind != NODE_MAP)
        return NULL;
    for (const struct node *node = map->first; node; node = node->next) {
        if (view_equal(node_key(node), key))
            return node;
    }
    return NULL;
}

struct mark
node_key_mark(const struct node *map, struct view key)
{
    const struct node *node = node_find(map, key);

    return node == NULL ? map->at : node->key_at;
}
