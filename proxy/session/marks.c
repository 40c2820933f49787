/*
 * session/marks.c - a table of keys, each with those who have read it.
 */
#include "session/marks.h"

#include "base/mem.h"
#include "session/tracker.h"

void
marks_init(struct marks *marks)
{
    *marks = (struct marks){0};
    TAILQ_INIT(&marks->by_age);
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
marks_add(struct marks *marks, struct tracker *tracker, struct view key)
{
    if (dict_find(&tracker->marks, key) != NULL)
        return false;
    struct mark *mark = MEM_NEW(struct mark);
    mark->marked = get(marks, key);
    mark->tracker = tracker;
    mark->entry.key = mark->marked->entry.key;
    LIST_INSERT_HEAD(&mark->marked->marks, mark, link);
    dict_add(&tracker->marks, &mark->entry);
    marks->count++;
    return true;
}

static void
drop(struct marks *marks, struct mark *mark)
{
    struct marked *marked = mark->marked;

    dict_remove(&mark->tracker->marks, &mark->entry);
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
        struct tracker *tracker = mark->tracker;
        is_last = LIST_NEXT(mark, link) == NULL;
        drop(marks, mark);
        tell(tracker, arg);
    }
}

void
marks_drop(struct marks *marks, struct tracker *tracker)
{
    struct dict_entry *entry = dict_next(&tracker->marks, NULL);

    while (entry != NULL) {
        struct mark *mark = CONTAINER_OF(entry, struct mark, entry);
        entry = dict_next(&tracker->marks, entry);
        drop(marks, mark);
    }
}
