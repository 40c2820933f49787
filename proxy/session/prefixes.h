/*
 * session/prefixes.h - which client is told of keys that begin with what.
 *
 *   "user:" --interest--> client A     CLIENT TRACKING ON BCAST PREFIX user:
 *      |    --interest--> client B
 *   ""     --interest--> client C      without PREFIX: of all keys
 *
 * Owner: struct tracking.  One thread.
 */
#ifndef SESSION_PREFIXES_H
#define SESSION_PREFIXES_H

#include <stdbool.h>
#include <sys/queue.h>

#include "base/dict.h"

struct tracker;

LIST_HEAD(interest_list, interest);
TAILQ_HEAD(interest_queue, interest);

struct prefix {
    struct dict_entry entry; /* its key stands in `name` */
    struct interest_list interests;
    char name[];
};

struct interest {
    LIST_ENTRY(interest) link; /* of the prefix's */
    TAILQ_ENTRY(interest) own; /* of the tracker's, in the order of bytes */
    struct prefix *prefix;
    struct tracker *tracker;
};

/* A tracker that has it already goes on as before. */
void prefixes_add(struct dict *prefixes, struct tracker *tracker,
                  struct view name);
/* All of this tracker; a prefix that nobody has goes. */
void prefixes_drop(struct dict *prefixes, struct tracker *tracker);

static inline bool
prefix_is_of(struct view prefix, struct view key)
{
    return key.len >= prefix.len &&
        (prefix.len == 0 || memcmp(key.data, prefix.data, prefix.len) == 0);
}

#endif
