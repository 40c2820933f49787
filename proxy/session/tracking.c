/*
 * session/tracking.c - listening to all servers, and whom it concerns.
 */
#include "session/tracking.h"

#include "base/mem.h"
#include "resp/encode.h"
#include "resp/reply_read.h"
#include "session/board.h"
#include "session/session.h"
#include "session/tracker.h"
#include "session/trail.h"

#define LATE_MS 100   /* how long answers may keep news back */
#define CLEANING_MS 1 /* between two steps of freeing marks */
#define IDLE_TICKS 5  /* without clients: then servers are left alone */
#define COPIED 4096   /* more bytes have a chunk for themselves */

/* --- bytes -------------------------------------------------------------------- */

struct extent
tracking_copy(const struct tracking *tracking, struct view bytes)
{
    struct chunk_pool *chunks = loop_chunks(tracking->pool->env->loop);

    if (bytes.len <= COPIED)
        return extent_copy(chunks, bytes);
    return extent_copy_alone(chunks, bytes);
}

/* --- ears --------------------------------------------------------------------- */

static struct ear *
find_ear(const struct tracking *tracking, const struct server *server)
{
    struct ear *ear;

    LIST_FOREACH (ear, &tracking->ears, link) {
        if (ear->listening.server == server)
            break;
    }
    return ear;
}

bool
tracking_hears(const struct tracking *tracking, const struct server *server)
{
    const struct ear *ear = find_ear(tracking, server);

    return ear != NULL && ear->state == EAR_ON;
}

static void
count_deaf(struct tracking *tracking)
{
    const struct ear *ear;

    tracking->deaf = 0;
    LIST_FOREACH (ear, &tracking->ears, link)
        tracking->deaf += ear->state != EAR_ON;
}

static bool
is_shard(const struct tracking *tracking, const struct server *server)
{
    const struct generation *current = tracking->pool->pool->current;
    uint32_t i = 0;

    while (i < current->shard_count && current->servers[i] != server)
        i++;
    return i < current->shard_count;
}

static void
drop_ears(struct tracking *tracking, bool all)
{
    struct ear *ear = LIST_FIRST(&tracking->ears);

    while (ear != NULL) {
        struct ear *next = LIST_NEXT(ear, link);
        if (all || !is_shard(tracking, ear->listening.server)) {
            LIST_REMOVE(ear, link);
            ear_free(&ear, all ? CLOSE_SERVER_IDLE : CLOSE_SERVER_MOVED);
        }
        ear = next;
    }
    count_deaf(tracking);
}

void
tracking_listen(struct tracking *tracking)
{
    const struct generation *current = tracking->pool->pool->current;

    tracking->idle_ticks = 0;
    if (current->shard_count == 0)
        session_pool_hint(tracking->pool, MAP_CAUSE_UNSERVED);
    for (uint32_t i = 0; i < current->shard_count; i++) {
        if (find_ear(tracking, current->servers[i]) != NULL)
            continue;
        struct ear *ear = ear_new(tracking, current->servers[i]);
        LIST_INSERT_HEAD(&tracking->ears, ear, link);
    }
    count_deaf(tracking);
}

bool
tracking_is_settled(const struct tracking *tracking)
{
    const struct ear *ear;

    LIST_FOREACH (ear, &tracking->ears, link) {
        if (ear->state != EAR_ON && !ear->has_failed)
            return false;
    }
    return !LIST_EMPTY(&tracking->ears);
}

/* --- who waits ------------------------------------------------------------------ */

static struct tracker *
find_waiting(const struct tracking *tracking)
{
    struct tracker *tracker;

    TAILQ_FOREACH (tracker, &tracking->trackers, link) {
        if (tracker->waits)
            break;
    }
    return tracker;
}

/* Whoever is answered may do anything, so the search begins anew. */
void
tracking_settle(struct tracking *tracking)
{
    struct tracker *tracker;

    while (tracking_is_settled(tracking) &&
           (tracker = find_waiting(tracking)) != NULL)
        tracker_on_settled(tracker);
}

void
tracking_refuse(struct tracking *tracking, struct view text)
{
    struct tracker *tracker;

    while ((tracker = find_waiting(tracking)) != NULL)
        tracker_on_refused(tracker, text);
}

void
tracking_on_ear(struct tracking *tracking)
{
    count_deaf(tracking);
    tracking_settle(tracking);
}

void
tracking_count(const struct tracking *tracking)
{
    struct session_stats *stats = tracking->pool->stats;

    cell_set(&stats->tracking_keys, tracking->marks.keys.count);
    cell_set(&stats->tracking_items, tracking->marks.count);
    cell_set(&stats->tracking_prefixes, tracking->prefixes.count);
}

void
tracking_leave_marks(struct tracking *tracking, struct marker **markerp)
{
    marks_leave(&tracking->marks, markerp);
    if (!LIST_EMPTY(&tracking->marks.left) &&
        !timer_is_active(&tracking->cleaning))
        timer_start(&tracking->cleaning, CLEANING_MS);
}

static void
on_cleaning(struct timer *timer, void *arg)
{
    struct tracking *tracking = arg;

    if (marks_clean(&tracking->marks))
        timer_start(timer, CLEANING_MS);
    tracking_count(tracking);
}

/* --- telling -------------------------------------------------------------------- */

void
tracking_close_those_over(struct tracking *tracking)
{
    boards_close_those_over(tracking->pool);
}

static bool
hears_by_ears(const struct tracker *tracker)
{
    return tracker->options.is_on && tracker->trail == NULL;
}

static void
tell_all(struct tracking *tracking, struct tracker *tracker)
{
    tracking_leave_marks(tracking, &tracker->marker);
    tracker->marker = marker_new(tracker);
    tracker_tell(tracker, (struct extent){0});
}

static void
end_telling(struct tracking *tracking)
{
    tracking_count(tracking);
    tracking_close_those_over(tracking);
}

void
tracking_tell_all(struct tracking *tracking)
{
    struct tracker *tracker;

    TAILQ_FOREACH (tracker, &tracking->trackers, link) {
        if (hears_by_ears(tracker))
            tell_all(tracking, tracker);
    }
    end_telling(tracking);
}

void
tracking_tell_flush(struct tracking *tracking, const struct server *server)
{
    struct tracker *tracker;

    TAILQ_FOREACH (tracker, &tracking->trackers, link) {
        if (hears_by_ears(tracker) && !tracker_is_repeated(tracker, server))
            tell_all(tracking, tracker);
    }
    end_telling(tracking);
}

/* A list of one key, as a reply has it. */
static struct extent
copy_one(const struct tracking *tracking, struct view key)
{
    struct buf one = {0};

    encode_array(&one, 1);
    encode_bulk(&one, key);
    struct extent extent = tracking_copy(tracking, buf_view(&one));
    buf_fini(&one);
    return extent;
}

static void
tell_one(struct tracker *tracker, void *arg)
{
    const struct extent *keys = arg;

    tracker_tell(tracker, *keys);
}

static void
forget(struct tracking *tracking, struct marked *marked)
{
    struct extent one = copy_one(tracking, marked->entry.key);

    marks_forget(&tracking->marks, marked, tell_one, &one);
    chunk_unref(&one.chunk);
}

static void
tell_those_marked(struct tracking *tracking, struct view keys)
{
    struct reply_item item;

    if (tracking->marks.count == 0 || !reply_next(&keys, &item))
        return;
    while (reply_next(&keys, &item)) {
        struct marked *marked = marks_find(&tracking->marks, item.text);
        if (marked != NULL)
            forget(tracking, marked);
    }
}

/* Of these keys those that begin so; an extent without a chunk: none does. */
static struct extent
copy_matching(const struct tracking *tracking, struct view prefix,
              struct view keys)
{
    struct reply_item item;
    struct buf found = {0}, list = {0};
    size_t count = 0;

    while (reply_next(&keys, &item)) {
        if (item.type != RESP_BULK || !prefix_is_of(prefix, item.text))
            continue;
        encode_bulk(&found, item.text);
        count++;
    }
    if (count == 0)
        return (struct extent){0};
    encode_array(&list, count);
    buf_append_view(&list, buf_view(&found));
    struct extent extent = tracking_copy(tracking, buf_view(&list));
    buf_fini(&list);
    buf_fini(&found);
    return extent;
}

static void
tell_interested(struct tracking *tracking, const struct prefix *prefix,
                struct extent keys)
{
    struct extent found = keys;
    struct interest *interest;

    if (prefix->entry.key.len == 0)
        chunk_ref(found.chunk);
    else
        found = copy_matching(tracking, prefix->entry.key,
                              view_of(keys.chunk->data + keys.off, keys.len));
    if (found.chunk == NULL)
        return;
    LIST_FOREACH (interest, &prefix->interests, link) {
        if (interest->tracker->trail == NULL)
            tracker_tell(interest->tracker, found);
    }
    chunk_unref(&found.chunk);
}

void
tracking_tell_keys(struct tracking *tracking, struct extent keys)
{
    struct dict_entry *entry = NULL;

    tell_those_marked(tracking, view_of(keys.chunk->data + keys.off, keys.len));
    while ((entry = dict_next(&tracking->prefixes, entry)) != NULL)
        tell_interested(tracking, CONTAINER_OF(entry, struct prefix, entry),
                        keys);
    end_telling(tracking);
}

/* --- marks ---------------------------------------------------------------------- */

/* This worker's part of what all may remember. */
static size_t
most_marks(const struct tracking *tracking)
{
    const struct session_pool *pool = tracking->pool;

    return MAX(1, pool->settings->tracking_table_max_keys / pool->env->workers);
}

void
tracking_mark(struct tracking *tracking, struct tracker *tracker,
              struct view key)
{
    struct session_stats *stats = tracking->pool->stats;

    if (!marks_add(&tracking->marks, tracker->marker, key))
        return;
    while (tracking->marks.count > most_marks(tracking)) {
        cell_inc(&stats->tracking_evictions);
        forget(tracking, marks_oldest(&tracking->marks));
    }
    tracking_count(tracking);
}

/* --- what takes long ------------------------------------------------------------ */

static void
on_timer(struct timer *timer, void *arg)
{
    struct tracking *tracking = arg;
    uint64_t now_us = loop_now_us(tracking->pool->env->loop);
    struct tracker *tracker;
    bool again = false;

    TAILQ_FOREACH (tracker, &tracking->trackers, link)
        again |= tracker_hurry(tracker, now_us, LATE_MS);
    tracking_close_those_over(tracking);
    if (again)
        timer_start(timer, LATE_MS);
}

void
tracking_start_timer(struct tracking *tracking)
{
    if (!timer_is_active(&tracking->timer))
        timer_start(&tracking->timer, LATE_MS);
}

/* --- life ----------------------------------------------------------------------- */

struct tracking *
tracking_get(struct session_pool *pool)
{
    if (pool->tracking != NULL)
        return pool->tracking;
    struct tracking *tracking = MEM_NEW(struct tracking);
    tracking->pool = pool;
    LIST_INIT(&tracking->ears);
    TAILQ_INIT(&tracking->trackers);
    marks_init(&tracking->marks);
    timer_init(&tracking->cleaning, pool->env->loop, on_cleaning, tracking);
    timer_init(&tracking->timer, pool->env->loop, on_timer, tracking);
    pool->tracking = tracking;
    return tracking;
}

void
tracking_free(struct session_pool *pool)
{
    struct tracking *tracking = pool->tracking;

    if (tracking == NULL)
        return;
    while (marks_clean(&tracking->marks))
        continue;
    ASSERT(TAILQ_EMPTY(&tracking->trackers));
    ASSERT(tracking->marks.count == 0 && tracking->prefixes.count == 0);
    ASSERT(tracking->targets.count == 0);
    pool->tracking = NULL;
    drop_ears(tracking, true);
    timer_stop(&tracking->timer);
    timer_stop(&tracking->cleaning);
    mem_free(tracking);
}

/* Does anybody go by the ears, or wait to? */
static bool
is_listened(const struct tracking *tracking)
{
    const struct tracker *tracker;

    TAILQ_FOREACH (tracker, &tracking->trackers, link) {
        if (tracker->trail == NULL)
            return true;
    }
    return false;
}

static void
follow_trails(struct tracking *tracking)
{
    struct tracker *tracker;

    TAILQ_FOREACH (tracker, &tracking->trackers, link) {
        if (tracker->trail != NULL)
            trail_follow(tracker);
    }
}

void
tracking_follow(struct session_pool *pool)
{
    struct tracking *tracking = pool->tracking;

    if (likely(tracking == NULL))
        return;
    drop_ears(tracking, false);
    follow_trails(tracking);
    if (!is_listened(tracking))
        return;
    tracking_listen(tracking);
    tracking_tell_all(tracking);
    tracking_settle(tracking);
}

void
tracking_tick(struct session_pool *pool, uint64_t now_us)
{
    struct tracking *tracking = pool->tracking;
    struct tracker *tracker;
    struct ear *ear;

    if (likely(tracking == NULL))
        return;
    if (!is_listened(tracking) && ++tracking->idle_ticks >= IDLE_TICKS)
        drop_ears(tracking, true);
    if (TAILQ_EMPTY(&tracking->trackers) && LIST_EMPTY(&tracking->ears)) {
        if (tracking->targets.count == 0)
            tracking_free(pool);
        return;
    }
    TAILQ_FOREACH (tracker, &tracking->trackers, link) {
        tracker_tell_owed(tracker);
        if (tracker->trail != NULL)
            trail_tick(tracker, now_us);
    }
    tracking_close_those_over(tracking);
    LIST_FOREACH (ear, &tracking->ears, link)
        listening_look(&ear->listening, now_us);
}
