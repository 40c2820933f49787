/*
 * discovery/name.c - when to ask, and what to believe.
 */
#include "discovery/name.h"

#define US_PER_S 1000000u
#define DOUBLINGS_MAX 16

static void
set_unknown(struct name *name)
{
    address_list_unref(&name->addresses);
    name->addresses = address_list_new(0);
}

void
name_init(struct name *name, uint64_t now_us)
{
    *name = (struct name){
        .addresses = address_list_new(0),
        .asked_us = now_us,
        .due_us = now_us,
    };
    name->addresses->is_pending = true;
}

void
name_fini(struct name *name)
{
    address_list_unref(&name->addresses);
}

void
name_note_asked(struct name *name, uint64_t now_us)
{
    name->asked_us = now_us;
    name->is_asking = true;
}

/* --- when ------------------------------------------------------------------- */

static uint64_t
hold_us(const struct name_limits *limits, uint32_t ttl_s)
{
    uint64_t ttl_us = MIN((uint64_t)ttl_s * US_PER_S, limits->ttl_max_us);

    return MAX(ttl_us, limits->ttl_min_us);
}

static uint64_t
retry_us(const struct name *name, const struct name_limits *limits)
{
    unsigned doublings = MIN(name->failures - 1, DOUBLINGS_MAX);
    uint64_t most_us = MIN(limits->ttl_max_us, (uint64_t)NAME_RETRY_MAX_US);
    uint64_t pause_us = MIN(limits->ttl_min_us << doublings, most_us);

    return MAX(pause_us, limits->ttl_min_us);
}

void
name_hint(struct name *name, const struct name_limits *limits)
{
    name->due_us =
        MIN(name->due_us, name->asked_us + limits->ttl_min_us);
}

uint64_t
name_next_us(const struct name *name, const struct name_limits *limits)
{
    if (!name->is_asking)
        return name->due_us;
    return name->addresses->is_pending ? name->asked_us + limits->wait_us
                                       : UINT64_MAX;
}

bool
name_is_overdue(struct name *name, const struct name_limits *limits,
                uint64_t now_us)
{
    if (!name->addresses->is_pending || !name->is_asking ||
        now_us < name->asked_us + limits->wait_us)
        return false;
    set_unknown(name);
    return true;
}

/* --- what ------------------------------------------------------------------- */

/* Name servers give addresses in turn, so that another order is no news. */
static bool
take_addresses(struct name *name, struct address_list *found)
{
    struct address_list *before = name->addresses;

    if (address_list_is_alike(before, found))
        return false;
    name->addresses = address_list_ref(found);
    address_list_unref(&before);
    return true;
}

bool
name_take_answer(struct name *name, const struct name_limits *limits,
                 const struct resolve_answer *answer, uint64_t now_us)
{
    name->is_asking = false;
    if (answer->result == RESOLVE_FOUND) {
        name->failures = 0;
        name->answered_us = now_us;
        name->due_us = now_us + hold_us(limits, answer->ttl_s);
        return take_addresses(name, answer->found);
    }
    name->failures++;
    name->due_us = now_us + retry_us(name, limits);
    if (!name->addresses->is_pending)
        return false;
    set_unknown(name);
    return true;
}

/* --- of two kinds ----------------------------------------------------------- */

static bool
has_family(const struct address_list *list, int family)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i].sa.any.sa_family == family)
            return true;
    }
    return false;
}

int
name_missing_family(const struct name *name, const struct address_list *found)
{
    static const int families[] = {AF_INET, AF_INET6};

    for (size_t i = 0; i < ARRAY_LEN(families); i++) {
        if (has_family(name->addresses, families[i]) &&
            !has_family(found, families[i]))
            return families[i];
    }
    return AF_UNSPEC;
}

static void
append_family(struct address_list *to, const struct address_list *from,
              int family)
{
    for (uint32_t i = 0; i < from->count; i++) {
        if (from->items[i].sa.any.sa_family == family &&
            to->count < ADDRESS_LIST_MAX)
            to->items[to->count++] = from->items[i];
    }
}

struct address_list *
name_complete(const struct name *name, struct address_list *found, int family,
              const struct resolve_answer *missing)
{
    bool is_told = missing->result != RESOLVE_FAILED &&
        missing->result != RESOLVE_TIMEOUT;
    const struct address_list *rest =
        is_told ? missing->found : name->addresses;

    if (rest == NULL)
        return address_list_ref(found);
    struct address_list *whole = address_list_new(ADDRESS_LIST_MAX);
    whole->count = 0;
    append_family(whole, family == AF_INET ? rest : found, AF_INET);
    append_family(whole, family == AF_INET6 ? rest : found, AF_INET6);
    return whole;
}
