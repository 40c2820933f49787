/*
 * session/marks.c - a table of keys, each with those who have read it.
 */
#include "session/marks.h"

#include "base/mem.h"

#define AT_ONCE 1000 /* marks that are freed in one turn */

void
marks_init(struct marks *marks)
{
    *marks = (struct marks){0};
    TAILQ_INIT(&marks->by_age);
    LIST_INIT(&marks->left);
}

struct marked *
marks_find(const struct marks *marks, struct view key)
{
    struct dict_entry *entry = dict_find(&marks->keys, key);

    return entry == NULL ? NULL : CONTAINER_OF(entry, struct marked, entry);
}

static struct marked *
get(struct marks *marks, struct view key)
{
    struct marked *marked = marks_find(marks, key);

    if (marked != NULL)
        return marked;
    marked = mem_zalloc(sizeof(*marked) + key.len);
    if (key.len > 0)
        memcpy(marked->name, key.data, key.len);
    marked->entry.key = view_of(marked->name, key.len);
    LIST_INIT(&marked->marks);
    dict_add(&marks->keys, &marked->entry);
    TAILQ_INSERT_TAIL(&marks->by_age, marked, link);
    return marked;
}

bool
marks_add(struct marks *marks, struct marker *marker, struct view key)
{
    if (dict_find(&marker->marks, key) != NULL)
        return false;
    struct mark *mark = MEM_NEW(struct mark);
    mark->marked = get(marks, key);
    mark->marker = marker;
    mark->entry.key = mark->marked->entry.key;
    LIST_INSERT_HEAD(&mark->marked->marks, mark, link);
    LIST_INSERT_HEAD(&marker->list, mark, own);
    dict_add(&marker->marks, &mark->entry);
    marks->count++;
    return true;
}

static void
drop(struct marks *marks, struct mark *mark)
{
    struct marked *marked = mark->marked;

    dict_remove(&mark->marker->marks, &mark->entry);
    LIST_REMOVE(mark, own);
    LIST_REMOVE(mark, link);
    mem_free(mark);
    marks->count--;
    if (!LIST_EMPTY(&marked->marks))
        return;
    dict_remove(&marks->keys, &marked->entry);
    TAILQ_REMOVE(&marks->by_age, marked, link);
    mem_free(marked);
}

/* The key goes with its last mark. */
void
marks_forget(struct marks *marks, struct marked *marked, marks_fn tell,
             void *arg)
{
    bool is_last = false;

    while (!is_last) {
        struct mark *mark = LIST_FIRST(&marked->marks);
        struct tracker *tracker = mark->marker->tracker;
        is_last = LIST_NEXT(mark, link) == NULL;
        drop(marks, mark);
        if (tracker != NULL)
            tell(tracker, arg);
    }
}

/* --- those of one client ---------------------------------------------------- */

struct marker *
marker_new(struct tracker *tracker)
{
    struct marker *marker = MEM_NEW(struct marker);

    marker->tracker = tracker;
    LIST_INIT(&marker->list);
    return marker;
}

/* Are none left? */
static bool
drop_some(struct marks *marks, struct marker *marker)
{
    struct mark *mark;

    for (unsigned i = 0; i < AT_ONCE; i++) {
        if ((mark = LIST_FIRST(&marker->list)) == NULL)
            break;
        drop(marks, mark);
    }
    return LIST_EMPTY(&marker->list);
}

void
marks_leave(struct marks *marks, struct marker **markerp)
{
    struct marker *marker = *markerp;

    *markerp = NULL;
    if (drop_some(marks, marker)) {
        mem_free(marker);
        return;
    }
    marker->tracker = NULL;
    LIST_INSERT_HEAD(&marks->left, marker, link);
}

bool
marks_clean(struct marks *marks)
{
    struct marker *marker = LIST_FIRST(&marks->left);

    if (marker == NULL)
        return false;
    if (drop_some(marks, marker)) {
        LIST_REMOVE(marker, link);
        mem_free(marker);
    }
    return !LIST_EMPTY(&marks->left);
}
