/*
 * session/marks.h - which client keeps which key in its cache.
 *
 *   "k" --mark--> client A        the oldest key first: it is the first to go
 *    |  --mark--> client B
 *   "l" --mark--> client A
 *
 * A client that tracks without BCAST has a mark at each key that it has read
 * since it was last told of it.  The owner bounds the number of marks.
 *
 * Owner: struct tracking.  One thread.
 */
#ifndef SESSION_MARKS_H
#define SESSION_MARKS_H

#include <stdbool.h>
#include <sys/queue.h>

#include "base/dict.h"

struct tracker;

LIST_HEAD(mark_list, mark);
LIST_HEAD(marker_list, marker);

/* The marks of a client; or of none any more, as it has left them. */
struct marker {
    LIST_ENTRY(marker) link; /* of those that were left */
    struct tracker *tracker; /* NULL: nobody is told */
    struct dict marks;       /* by their keys */
    struct mark_list list;   /* the same */
};

/* A key, and who has it. */
struct marked {
    struct dict_entry entry; /* of the keys; its key stands in `name` */
    TAILQ_ENTRY(marked) link;
    struct mark_list marks;
    char name[];
};

struct mark {
    struct dict_entry entry; /* of the marker's; its key is the other's */
    LIST_ENTRY(mark) own;    /* of the same */
    LIST_ENTRY(mark) link;   /* of the key's */
    struct marked *marked;
    struct marker *marker;
};

struct marks {
    struct dict keys;
    TAILQ_HEAD(, marked) by_age; /* the oldest first */
    struct marker_list left;     /* whose marks are still to be freed */
    size_t count;                /* of marks */
};

void marks_init(struct marks *marks);

/* NULL when nobody has it. */
struct marked *marks_find(const struct marks *marks, struct view key);
/* A client has read it; nothing happens if it has a mark there.  False then. */
bool marks_add(struct marks *marks, struct marker *marker, struct view key);
/* Forget this key, and tell each who had it, which must end no client. */
typedef void (*marks_fn)(struct tracker *tracker, void *arg);
void marks_forget(struct marks *marks, struct marked *marked, marks_fn tell,
                  void *arg);
struct marker *marker_new(struct tracker *tracker);
/* A client leaves its marks, which is done at once or, of many, by
 * marks_clean(). */
void marks_leave(struct marks *marks, struct marker **markerp);
/* Free some of what was left.  False: that was all. */
bool marks_clean(struct marks *marks) MUST_CHECK;

/* The key that was marked before all others, or NULL. */
static inline struct marked *
marks_oldest(const struct marks *marks)
{
    return TAILQ_FIRST(&marks->by_age);
}

#endif
