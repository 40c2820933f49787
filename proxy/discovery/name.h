/*
 * discovery/name.h - one name: what is known of it, and when to ask again.
 *
 *   pending --first answer, or too late--> known or unknown --due--> asked again
 *
 * Good addresses stay until others come: an empty answer, an error and silence
 * change nothing.  Pure: the clock is an argument.
 */
#ifndef DISCOVERY_NAME_H
#define DISCOVERY_NAME_H

#include "net/resolve.h"

#define NAME_RETRY_MAX_US 5000000 /* between questions that fail */

struct name_limits {
    uint64_t ttl_min_us;
    uint64_t ttl_max_us;
    uint64_t wait_us; /* for a first answer; then the name is unknown */
};

struct name {
    struct address_list *addresses; /* a ref, without ports; never NULL */
    uint64_t asked_us;    /* the question under way, or the last one */
    uint64_t answered_us; /* the last answer with addresses; 0: none */
    uint64_t due_us;      /* when to ask again */
    unsigned failures;    /* in a row */
    bool is_asking;
};

/* Nobody has asked yet; it is due. */
void name_init(struct name *name, uint64_t now_us);
void name_fini(struct name *name);

/* A question is asked. */
void name_note_asked(struct name *name, uint64_t now_us);
/* True when other addresses, or none at last, are known from now on. */
bool name_take_answer(struct name *name, const struct name_limits *limits,
                      const struct resolve_answer *answer, uint64_t now_us);
/* A server could not be connected to by what is known. */
void name_hint(struct name *name, const struct name_limits *limits);

/* The kind of address that is known and was not found now, or AF_UNSPEC: before it
 * is taken for gone, it is asked for alone. */
int name_missing_family(const struct name *name,
                        const struct address_list *found) MUST_CHECK;
/* What was found, and these of the missing kind: the answer to that question, or
 * if there was none, what is known. */
struct address_list *name_complete(const struct name *name,
                                   struct address_list *found, int family,
                                   const struct resolve_answer *missing);

/* When there is something to do. */
uint64_t name_next_us(const struct name *name,
                      const struct name_limits *limits) MUST_CHECK;
/* Has the first answer been waited for long enough?  If so, it is unknown. */
bool name_is_overdue(struct name *name, const struct name_limits *limits,
                     uint64_t now_us) MUST_CHECK;

#endif
