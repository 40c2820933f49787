/*
 * session/tracker.c - beginning to track, and being told.
 */
#include "session/tracker.h"

#include <stdio.h>

#include "base/mem.h"
#include "resp/encode.h"
#include "session/body_words.h"
#include "session/deadline.h"
#include "session/relay.h"
#include "session/sentence.h"
#include "session/trail.h"

static struct session *
session_of(const struct tracker *tracker)
{
    return tracker->subscriber->session;
}

/* --- what it is told ---------------------------------------------------------- */

static struct extent
all_keys(struct session *session)
{
    struct view null = session->resp == 3 ? VIEW("_\r\n") : VIEW("$-1\r\n");

    return extent_copy(loop_chunks(session->pool->env->loop), null);
}

/* As servers have it, RESP2 has no way to say it. */
static void
give_itself(struct tracker *tracker, const struct extent *keys)
{
    const struct session *session = session_of(tracker);

    if (session->resp != 3)
        return;
    subscriber_push(tracker->subscriber, VIEW(TRACKER_PUSH_HEAD), keys);
    cell_inc(&session->pool->stats->invalidations);
}

static void
give(struct tracker *tracker, struct extent keys)
{
    struct extent said = keys;

    if (said.chunk == NULL)
        said = all_keys(session_of(tracker));
    else
        chunk_ref(said.chunk);
    if (tracker->options.redirect == 0)
        give_itself(tracker, &said);
    else if (!relay_tell(tracker, said))
        tracker->owes_all = true;
    chunk_unref(&said.chunk);
}

void
tracker_tell_owed(struct tracker *tracker)
{
    if (likely(!tracker->owes_all))
        return;
    tracker->owes_all = false;
    give(tracker, (struct extent){0});
}

void
tracker_on_broken(struct tracker *tracker)
{
    struct session *session = session_of(tracker);
    char id[32];

    tracker->is_broken = true;
    if (session->resp != 3)
        return;
    int len = snprintf(id, sizeof(id), ":%llu\r\n",
                       (unsigned long long)tracker->options.redirect);
    struct extent said = extent_copy(loop_chunks(session->pool->env->loop),
                                     view_of(id, (size_t)len));
    subscriber_push(tracker->subscriber,
                    VIEW(">2\r\n$21\r\ntracking-redir-broken\r\n"), &said);
    chunk_unref(&said.chunk);
}

static void
late_free(struct tracker *tracker, struct late *late)
{
    TAILQ_REMOVE(&tracker->late, late, link);
    tracker->late_bytes -= late->keys.len;
    chunk_unref(&late->keys.chunk);
    mem_free(late);
}

static void
drop_late(struct tracker *tracker)
{
    struct late *late;

    while ((late = TAILQ_FIRST(&tracker->late)) != NULL)
        late_free(tracker, late);
}

/* Much of it is said in one word. */
static struct extent
shorten(struct tracker *tracker, struct extent keys)
{
    struct late *last = TAILQ_LAST(&tracker->late, late_list);
    bool is_all = last != NULL && last->keys.chunk == NULL;

    if (!is_all && keys.chunk != NULL &&
        tracker->late_bytes + keys.len <= TRACKER_LATE_MAX)
        return keys;
    drop_late(tracker);
    return (struct extent){0};
}

static void
keep(struct tracker *tracker, struct extent keys)
{
    struct session_env *env = tracker->tracking->pool->env;
    struct extent kept = shorten(tracker, keys);
    struct late *late = MEM_NEW(struct late);

    /* The request of what is being acted upon is still to come. */
    late->behind = tracker->is_acting ? UINT64_MAX : env->next_request_id;
    late->since_us = loop_now_us(env->loop);
    late->keys = kept;
    if (kept.chunk != NULL)
        chunk_ref(kept.chunk);
    tracker->late_bytes += kept.len;
    TAILQ_INSERT_TAIL(&tracker->late, late, link);
    tracking_start_timer(tracker->tracking);
}

/* Is a request under way that was taken in before this one? */
static bool
is_under_way(const struct session *session, uint64_t last)
{
    const struct request *head = TAILQ_FIRST(&session->queue);

    return session->unfolding != NULL || (head != NULL && head->id <= last);
}

void
tracker_tell(struct tracker *tracker, struct extent keys)
{
    struct session *session = session_of(tracker);

    if (session->state != SESSION_OPEN)
        return;
    if (tracker->is_acting || is_under_way(session, UINT64_MAX))
        keep(tracker, keys);
    else
        give(tracker, keys);
}

void
tracker_tell_at_once(struct tracker *tracker, struct extent keys)
{
    if (session_of(tracker)->state == SESSION_OPEN)
        give(tracker, keys);
}

bool
tracker_is_repeated(struct tracker *tracker, const struct server *server)
{
    bool is_idle = TAILQ_EMPTY(&session_of(tracker)->queue);
    uint64_t before = tracker->flushed;

    if (tracker->options.is_bcast)
        return false;
    if (before == 0 || (before & server->mark) != 0) {
        /* What is under way may read what that one has not emptied yet. */
        tracker->flushed = is_idle ? server->mark : 0;
        return false;
    }
    tracker->flushed |= server->mark;
    return true;
}

void
tracker_flush(struct tracker *tracker)
{
    const struct session *session = session_of(tracker);
    struct late *late;

    while ((late = TAILQ_FIRST(&tracker->late)) != NULL &&
           !is_under_way(session, late->behind)) {
        give(tracker, late->keys);
        late_free(tracker, late);
    }
}

void
tracker_end_act(struct tracker *tracker)
{
    uint64_t last = tracker->tracking->pool->env->next_request_id;
    struct late *late;

    if (!tracker->is_acting)
        return;
    tracker->is_acting = false;
    TAILQ_FOREACH_REVERSE(late, &tracker->late, late_list, link)
    {
        if (late->behind != UINT64_MAX)
            break;
        late->behind = last;
    }
    tracker_flush(tracker);
}

bool
tracker_hurry(struct tracker *tracker, uint64_t now_us, int64_t late_ms)
{
    uint64_t late_us = (uint64_t)late_ms * 1000;
    struct late *late;
    bool is_left = false;

    TAILQ_FOREACH (late, &tracker->late, link) {
        if (late->is_told)
            continue;
        if (late->since_us + late_us > now_us) {
            is_left = true;
            continue;
        }
        late->is_told = true;
        give(tracker, late->keys);
    }
    return is_left;
}

/* --- life ----------------------------------------------------------------------- */

/* It is on from now on, or no longer. */
static void
set_on(struct tracker *tracker, bool is_on)
{
    struct tracking *tracking = tracker->tracking;

    tracking->clients += is_on;
    tracking->clients -= tracker->options.is_on;
    tracker->options.is_on = is_on;
    cell_set(&tracking->pool->stats->tracking_clients, tracking->clients);
}

/* While there is any the pool's requests are looked at. */
static void
note_trackers(const struct tracking *tracking)
{
    struct session_pool *pool = tracking->pool;

    if (TAILQ_EMPTY(&tracking->trackers))
        pool->attention &= (uint8_t)~ATTENTION_TRACKING;
    else
        pool->attention |= ATTENTION_TRACKING;
}

static struct tracker *
get(struct session *session)
{
    struct subscriber *subscriber = subscriber_get(session);

    if (subscriber->tracker != NULL)
        return subscriber->tracker;
    struct tracker *tracker = MEM_NEW(struct tracker);
    tracker->subscriber = subscriber;
    tracker->tracking = tracking_get(session->pool);
    tracker->marker = marker_new(tracker);
    TAILQ_INIT(&tracker->interests);
    TAILQ_INIT(&tracker->late);
    TAILQ_INSERT_TAIL(&tracker->tracking->trackers, tracker, link);
    subscriber->tracker = tracker;
    note_trackers(tracker->tracking);
    return tracker;
}

void
tracker_free(struct subscriber *subscriber)
{
    struct tracker *tracker = subscriber->tracker;

    if (tracker == NULL)
        return;
    trail_free(tracker);
    subscriber->tracker = NULL;
    tracking_leave_marks(tracker->tracking, &tracker->marker);
    prefixes_drop(&tracker->tracking->prefixes, tracker);
    drop_late(tracker);
    buf_fini(&tracker->queued);
    if (tracker->request != NULL)
        request_unref(&tracker->request);
    set_on(tracker, false);
    TAILQ_REMOVE(&tracker->tracking->trackers, tracker, link);
    note_trackers(tracker->tracking);
    tracking_count(tracker->tracking);
    mem_free(tracker);
}

void
tracker_end(struct session *session)
{
    if (tracker_of(session) == NULL)
        return;
    tracker_free(session->subscriber);
    subscriber_free_if_done(session);
}

/* --- CLIENT TRACKING ON ------------------------------------------------------- */

static void
take_prefixes(struct tracker *tracker, const struct command_args *args)
{
    struct dict *prefixes = &tracker->tracking->prefixes;
    bool is_any = false;

    for (uint32_t i = 3; i + 1 < args->argc; i++) {
        bool is_prefix =
            view_equal_nocase(command_arg(args, i), VIEW("PREFIX"));
        if (is_prefix)
            prefixes_add(prefixes, tracker, command_arg(args, i + 1));
        is_any = is_any || is_prefix;
        i += is_prefix;
    }
    if (!is_any)
        prefixes_add(prefixes, tracker, VIEW(""));
}

/* From now on it tracks. */
static void
take_options(struct tracker *tracker, const struct track_options *options,
             const struct command_args *args)
{
    set_on(tracker, false);
    tracker->options = *options;
    set_on(tracker, true);
    tracker->is_broken = false;
    if (options->is_bcast)
        take_prefixes(tracker, args);
    tracking_count(tracker->tracking);
}

static struct extent
copy_words(struct session *session, const struct command_args *args)
{
    struct buf words = {0};

    encode_array(&words, args->argc);
    for (uint32_t i = 0; i < args->argc; i++)
        encode_bulk(&words, command_arg(args, i));
    struct extent body =
        tracking_copy(session->pool->tracking, buf_view(&words));
    buf_fini(&words);
    return body;
}

/* It is answered later. */
static struct request *
begin_waiting(struct session *session, const struct command *command,
              const struct command_args *args,
              const struct track_options *options)
{
    struct tracker *tracker = tracker_of(session);
    struct request *request = request_new(session, command);

    request->tracks = true;
    request->call.body = copy_words(session, args);
    request_weigh(request, request->call.body.len);
    request->refs++;
    tracker->request = request;
    tracker->wanted = *options;
    session->barrier = true;
    request_start_deadline(request);
    return request;
}

/* Is whom it wants to be told there?  All workers are asked. */
static void
ask_for_target(struct tracker *tracker, const struct request *request)
{
    struct session *session = session_of(tracker);
    struct buf id = {0};

    tracker->asks = true;
    buf_printf(&id, "%llu", (unsigned long long)tracker->wanted.redirect);
    struct question question = {
        .kind = QUESTION_TRACKING_TARGET,
        .session_id = session->id,
        .request_id = request->id,
        .pool = session->pool->id,
        .text = buf_view(&id),
    };
    session->pool->env->ask(session->pool->env, &question);
    buf_fini(&id);
}

/* Has it connections of its own, or will it have them? */
static bool
has_trail(const struct tracker *tracker, const struct track_options *options)
{
    return tracker->trail != NULL || options->is_noloop ||
        tracker->tracking->pool->settings->tracking == TRACKING_DIRECT;
}

/* The servers remember what it reads from now on. */
static void
begin_trail(struct tracker *tracker, const struct track_options *options,
            const struct command_args *args)
{
    bool was_shared = tracker->options.is_on && tracker->trail == NULL;

    take_options(tracker, options, args);
    trail_begin(tracker, args);
    if (!was_shared)
        return;
    tracking_leave_marks(tracker->tracking, &tracker->marker);
    tracker->marker = marker_new(tracker);
    tracker_tell(tracker, (struct extent){0});
}

/* Is all done, so that it can be answered? */
static bool
begin_now(struct tracker *tracker, const struct command_args *args,
          const struct track_options *options)
{
    if (has_trail(tracker, options)) {
        begin_trail(tracker, options, args);
        return trail_is_settled(tracker);
    }
    tracking_listen(tracker->tracking);
    if (!tracking_is_settled(tracker->tracking))
        return false;
    take_options(tracker, options, args);
    return true;
}

bool
tracker_begin(struct session *session, const struct command *command,
              const struct command_args *args,
              const struct track_options *options)
{
    struct tracker *tracker = get(session);

    if (options->redirect == 0 && begin_now(tracker, args, options))
        return true;
    if (options->redirect != 0 && !has_trail(tracker, options))
        tracking_listen(tracker->tracking);
    const struct request *request =
        begin_waiting(session, command, args, options);
    if (options->redirect != 0)
        ask_for_target(tracker, request);
    else
        tracker->waits = tracker->trail == NULL; /* until servers are heard */
    return false;
}

/* Take the request; NULL when its client does not wait for it any more. */
static struct request *
take_request(struct tracker *tracker)
{
    struct request *request = tracker->request;

    tracker->request = NULL;
    tracker->waits = tracker->asks = false;
    if (request != NULL && (request->session == NULL || request->done))
        request_unref(&request);
    return request;
}

void
tracker_on_settled(struct tracker *tracker)
{
    struct request *request = take_request(tracker);
    struct request_scan scan;

    if (request == NULL)
        return;
    struct command_args args = body_words(&scan, &request->call.body);
    take_options(tracker, &tracker->wanted, &args);
    request_scan_fini(&scan);
    request_answer(request, VIEW("+OK\r\n"));
    request_unref(&request);
}

void
tracker_on_trail(struct tracker *tracker)
{
    struct request *request = take_request(tracker);

    if (request == NULL)
        return;
    request_answer(request, VIEW("+OK\r\n"));
    request_unref(&request);
}

/* One that tracks already goes on as before, unless servers know of it. */
static void
fail(struct tracker *tracker, struct view text)
{
    struct session *session = session_of(tracker);
    bool is_before = tracker->asks || tracker->trail == NULL;
    struct request *request = take_request(tracker);

    if (!tracker->options.is_on || !is_before)
        tracker_end(session);
    if (request == NULL)
        return;
    request_fail(request, text);
    request_unref(&request);
}

void
tracker_on_refused(struct tracker *tracker, struct view text)
{
    fail(tracker, text);
}

/* A server that does not answer is one of which nothing is kept; but nothing at
 * all can be said of those that nobody knows. */
void
tracker_on_late(struct request *request)
{
    struct tracker *tracker = tracker_of(request->session);

    if (tracker->asks)
        fail(tracker,
             VIEW("ERR proxy: the question to all workers was not "
                  "answered in time"));
    else if (trail_has_no_map(tracker) ||
             (tracker->trail == NULL && LIST_EMPTY(&tracker->tracking->ears)))
        fail(tracker, request_text_no_map(request));
    else if (tracker->trail != NULL)
        tracker_on_trail(tracker);
    else
        tracker_on_settled(tracker);
}

/* Now that it is known where whoever is told is. */
static void
begin_redirected(struct tracker *tracker)
{
    struct request_scan scan;

    if (!has_trail(tracker, &tracker->wanted)) {
        tracker->waits = true;
        tracking_settle(tracker->tracking);
        return;
    }
    struct command_args args = body_words(&scan, &tracker->request->call.body);
    begin_trail(tracker, &tracker->wanted, &args);
    request_scan_fini(&scan);
    if (trail_is_settled(tracker))
        tracker_on_trail(tracker);
}

/* Each worker says its number, or nothing. */
void
tracker_on_target(struct request *request, struct view text)
{
    struct tracker *tracker = tracker_of(request->session);
    uint64_t worker;

    if (tracker == NULL || !tracker->asks)
        return;
    if (!view_to_u64(view_take(&text, '\n'), &worker)) {
        fail(tracker, VIEW(TRACKER_NO_SUCH_CLIENT));
        return;
    }
    tracker->asks = false;
    tracker->wanted.worker = (unsigned)worker;
    begin_redirected(tracker);
}
