/*
 * net/address_list.c - making, counting and comparing lists of addresses.
 */
#include "net/address_list.h"

#include <stdio.h>

#include "base/mem.h"

#define SHARE_MIN_MS 1

struct address_list *
address_list_new(uint32_t count)
{
    struct address_list *list =
        mem_zalloc(sizeof(*list) + count * sizeof(struct address));

    list->refs = 1;
    list->count = count;
    return list;
}

struct address_list *
address_list_of(const struct address *address)
{
    struct address_list *list = address_list_new(1);

    list->is_fixed = true;
    list->items[0] = *address;
    return list;
}

struct address_list *
address_list_and(const struct address_list *list, uint16_t port,
                 const struct address *more)
{
    struct address_list *made = address_list_new(list->count + 1);

    made->count = list->count;
    for (uint32_t i = 0; i < list->count; i++) {
        made->items[i] = list->items[i];
        address_set_port(&made->items[i], port);
    }
    if (more != NULL && address_list_find(made, more) == made->count)
        made->items[made->count++] = *more;
    made->is_pending = list->is_pending && made->count == 0;
    return made;
}

struct address_list *
address_list_ref(struct address_list *list)
{
    __atomic_add_fetch(&list->refs, 1, __ATOMIC_RELAXED);
    return list;
}

void
address_list_unref(struct address_list **listp)
{
    struct address_list *list = *listp;

    *listp = NULL;
    if (list != NULL &&
        __atomic_sub_fetch(&list->refs, 1, __ATOMIC_ACQ_REL) == 0)
        mem_free(list);
}

uint32_t
address_list_find(const struct address_list *list,
                  const struct address *address)
{
    uint32_t i = 0;

    while (i < list->count && !address_equal(&list->items[i], address))
        i++;
    return i;
}

/* No list has an address twice. */
bool
address_list_is_alike(const struct address_list *a,
                      const struct address_list *b)
{
    if (a->count != b->count || a->is_pending != b->is_pending)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        if (address_list_find(b, &a->items[i]) == b->count)
            return false;
    }
    return true;
}

int64_t
address_list_share_ms(int64_t left_ms, uint32_t left)
{
    return MAX(left_ms / (int64_t)MAX(left, 1u), SHARE_MIN_MS);
}

const char *
address_list_format(const struct address_list *list, char *text, size_t size)
{
    char one[ADDRESS_TEXT_MAX];
    size_t used = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < list->count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 i > 0 ? "," : "",
                                 address_format(&list->items[i], one));
    return text;
}
