/*
 * session/prefixes.c - prefixes, each with those who are told of its keys.
 */
#include "session/prefixes.h"

#include "base/mem.h"
#include "session/tracker.h"

static struct prefix *
get(struct dict *prefixes, struct view name)
{
    struct dict_entry *entry = dict_find(prefixes, name);

    if (entry != NULL)
        return CONTAINER_OF(entry, struct prefix, entry);
    struct prefix *prefix = mem_zalloc(sizeof(*prefix) + name.len);
    if (name.len > 0)
        memcpy(prefix->name, name.data, name.len);
    prefix->entry.key = view_of(prefix->name, name.len);
    LIST_INIT(&prefix->interests);
    dict_add(prefixes, &prefix->entry);
    return prefix;
}

static int
compare(struct view a, struct view b)
{
    int order = memcmp(a.data, b.data, MIN(a.len, b.len));

    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

void
prefixes_add(struct dict *prefixes, struct tracker *tracker, struct view name)
{
    struct interest *after = NULL, *at;

    TAILQ_FOREACH (at, &tracker->interests, own) {
        int order = compare(at->prefix->entry.key, name);
        if (order == 0)
            return;
        if (order < 0)
            after = at;
    }
    struct interest *interest = MEM_NEW(struct interest);
    interest->prefix = get(prefixes, name);
    interest->tracker = tracker;
    LIST_INSERT_HEAD(&interest->prefix->interests, interest, link);
    if (after == NULL)
        TAILQ_INSERT_HEAD(&tracker->interests, interest, own);
    else
        TAILQ_INSERT_AFTER(&tracker->interests, after, interest, own);
}

void
prefixes_drop(struct dict *prefixes, struct tracker *tracker)
{
    struct interest *interest;

    while ((interest = TAILQ_FIRST(&tracker->interests)) != NULL) {
        struct prefix *prefix = interest->prefix;
        TAILQ_REMOVE(&tracker->interests, interest, own);
        LIST_REMOVE(interest, link);
        mem_free(interest);
        if (!LIST_EMPTY(&prefix->interests))
            continue;
        dict_remove(prefixes, &prefix->entry);
        mem_free(prefix);
    }
}
