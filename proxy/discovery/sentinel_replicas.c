/*
 * discovery/sentinel_replicas.c - reading lists, and what most of them say.
 */
#include "discovery/sentinel_replicas.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "discovery/sentinel_read.h"

static struct sentinel_replicas *
list_new(size_t max)
{
    return mem_zalloc(sizeof(struct sentinel_replicas) +
                      max * sizeof(struct sentinel_replica));
}

void
sentinel_replicas_free(struct sentinel_replicas **listp)
{
    struct sentinel_replicas *list = *listp;

    *listp = NULL;
    if (list == NULL)
        return;
    for (size_t i = 0; i < list->count; i++)
        mem_free(list->items[i].host);
    mem_free(list);
}

/* --- one list --------------------------------------------------------------------- */

static int
compare(const void *a, const void *b)
{
    const struct sentinel_replica *x = a, *y = b;
    int hosts = strcasecmp(x->host, y->host);

    return hosts != 0 ? hosts : (x->port > y->port) - (x->port < y->port);
}

static bool
looks_like_ip(struct view host)
{
    for (size_t i = 0; i < host.len; i++) {
        char c = host.data[i];
        if (c == ':')
            return true;
        if (c != '.' && (c < '0' || c > '9'))
            return false;
    }
    return true;
}

/* A name and an address may be the same. */
static bool
is_at(const struct sentinel_instance *replica, struct view host, uint16_t port)
{
    if (replica->master_port != port)
        return false;
    return view_equal_nocase(replica->master_host, host) ||
        looks_like_ip(replica->master_host) != looks_like_ip(host);
}

static void
add(struct sentinel_replicas *list, const struct sentinel_instance *found,
    struct view master_host, uint16_t master_port)
{
    bool is_linked =
        found->is_link_ok && is_at(found, master_host, master_port);
    bool is_well = sentinel_replica_is_well(found);

    list->items[list->count++] = (struct sentinel_replica){
        .host = mem_view_dup(found->host),
        .port = found->port,
        .is_usable = is_well && is_linked,
        .is_cut = is_well && !is_linked,
    };
}

struct sentinel_replicas *
sentinel_replicas_read(struct view reply, struct view host, uint16_t port)
{
    struct sentinel_instance found[SENTINEL_REPLICAS_MAX];
    size_t count;

    if (sentinel_read_list(reply, found, ARRAY_LEN(found), &count) !=
        SENTINEL_OK)
        return NULL;
    struct sentinel_replicas *list = list_new(count);
    for (size_t i = 0; i < count; i++)
        add(list, &found[i], host, port);
    if (count > 0)
        qsort(list->items, count, sizeof(*list->items), compare);
    return list;
}

/* --- several ------------------------------------------------------------------------ */

static const struct sentinel_replica *
find(const struct sentinel_replicas *list,
     const struct sentinel_replica *wanted)
{
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        if (compare(&list->items[i], wanted) == 0)
            return &list->items[i];
    }
    return NULL;
}

static void
merge_one(struct sentinel_replicas *into, const struct sentinel_replica *one,
          const struct sentinel_replicas *const *lists, size_t count)
{
    size_t answered = 0, listed = 0, usable = 0, well = 0;

    for (size_t i = 0; i < count; i++) {
        const struct sentinel_replica *same = find(lists[i], one);
        answered += lists[i] != NULL;
        listed += same != NULL;
        usable += same != NULL && same->is_usable;
        well += same != NULL && (same->is_usable || same->is_cut);
    }
    if (2 * listed <= answered || into->count == SENTINEL_REPLICAS_MAX)
        return;
    into->items[into->count++] = (struct sentinel_replica){
        .host = mem_strdup(one->host),
        .port = one->port,
        .is_usable = 2 * usable > answered,
        .is_cut = 2 * usable <= answered && 2 * well > answered,
    };
}

struct sentinel_replicas *
sentinel_replicas_merge(const struct sentinel_replicas *const *lists,
                        size_t count)
{
    struct sentinel_replicas *merged = list_new(SENTINEL_REPLICAS_MAX);

    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; lists[i] != NULL && j < lists[i]->count; j++) {
            if (find(merged, &lists[i]->items[j]) == NULL)
                merge_one(merged, &lists[i]->items[j], lists, count);
        }
    }
    if (merged->count > 0)
        qsort(merged->items, merged->count, sizeof(*merged->items), compare);
    return merged;
}

void
sentinel_replicas_drop(struct sentinel_replicas *list, struct view host,
                       uint16_t port)
{
    size_t kept = 0;

    if (list == NULL)
        return;
    for (size_t i = 0; i < list->count; i++) {
        struct sentinel_replica *item = &list->items[i];
        if (item->port == port &&
            view_equal_nocase(view_str(item->host), host))
            mem_free(item->host);
        else
            list->items[kept++] = *item;
    }
    list->count = kept;
}

bool
sentinel_replicas_equal(const struct sentinel_replicas *a,
                        const struct sentinel_replicas *b)
{
    size_t count = a == NULL ? 0 : a->count;

    if (count != (b == NULL ? 0 : b->count))
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct sentinel_replica *x = &a->items[i], *y = &b->items[i];
        if (compare(x, y) != 0 || x->is_usable != y->is_usable ||
            x->is_cut != y->is_cut)
            return false;
    }
    return true;
}
