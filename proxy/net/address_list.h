/*
 * net/address_list.h - where one name leads: addresses, in the order to try.
 *
 * Immutable once it is filled and counted atomically, so that snapshots and
 * servers of all threads share it.  A list without addresses says that the name
 * does not resolve, or, while `is_pending`, that nobody knows yet.  A fixed one
 * belongs to a server that has an address, and no name.
 */
#ifndef NET_ADDRESS_LIST_H
#define NET_ADDRESS_LIST_H

#include "net/address.h"

#define ADDRESS_LIST_MAX 16 /* of one name; more are left out */

struct address_list {
    unsigned refs; /* atomic */
    bool is_pending;
    bool is_fixed;
    uint32_t count;
    struct address items[];
};

/* With room for `count`, zeroed, to be filled in by the caller. */
struct address_list *address_list_new(uint32_t count);
/* A fixed one. */
struct address_list *address_list_of(const struct address *address);
/* The same addresses with another port; then one more, unless that is NULL or
 * among them. */
struct address_list *address_list_and(const struct address_list *list,
                                      uint16_t port,
                                      const struct address *more);

struct address_list *address_list_ref(struct address_list *list);
void address_list_unref(struct address_list **listp);

/* The place of an address, or list->count. */
uint32_t address_list_find(const struct address_list *list,
                           const struct address *address) MUST_CHECK;
/* The same addresses, in whichever order? */
bool address_list_is_alike(const struct address_list *a,
                           const struct address_list *b) MUST_CHECK;

/*
 * Whoever connects has `left_ms` for `left` addresses, this one included: how
 * long to wait for it, so that one that never answers leaves time for the
 * others.
 */
int64_t address_list_share_ms(int64_t left_ms, uint32_t left) MUST_CHECK;

/* "127.0.0.1:6379,[::1]:6379"; as much as fits. */
const char *address_list_format(const struct address_list *list, char *text,
                                size_t size);

#endif
