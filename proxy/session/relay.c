/*
 * session/relay.c - telling one client what another has read.
 */
#include "session/relay.h"

#include "base/mem.h"
#include "session/board.h"
#include "session/tracker.h"

#define MESSAGE_HEAD "*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n"

/* --- targets ---------------------------------------------------------------- */

static struct view
id_view(const uint64_t *id)
{
    return view_of((const char *)id, sizeof(*id));
}

static struct target *
find(const struct tracking *tracking, uint64_t id)
{
    struct dict_entry *entry =
        tracking == NULL ? NULL : dict_find(&tracking->targets, id_view(&id));

    return entry == NULL ? NULL : CONTAINER_OF(entry, struct target, entry);
}

static void
make_target(struct session *session)
{
    struct tracking *tracking = tracking_get(session->pool);
    struct subscriber *subscriber = subscriber_get(session);

    if (subscriber->target != NULL)
        return;
    struct target *target = MEM_NEW(struct target);
    target->subscriber = subscriber;
    target->id = session->id;
    target->entry.key = id_view(&target->id);
    dict_add(&tracking->targets, &target->entry);
    subscriber->target = target;
}

void
target_free(struct subscriber *subscriber)
{
    struct target *target = subscriber->target;
    struct tracking *tracking = subscriber->session->pool->tracking;

    if (target == NULL)
        return;
    subscriber->target = NULL;
    dict_remove(&tracking->targets, &target->entry);
    mem_free(target);
}

void
relay_reset(struct session *session)
{
    const struct subscriber *subscriber = session->subscriber;
    bool is_target = subscriber != NULL && subscriber->target != NULL;

    subscriber_free(session);
    if (is_target)
        make_target(session);
}

void
relay_survey(struct session_pool *pool, const struct survey *survey)
{
    struct session *session = NULL;
    struct buf text = {0};
    uint64_t id;

    if (view_to_u64(survey->text, &id))
        session = session_find(pool, id);
    if (session != NULL && session->state == SESSION_OPEN) {
        make_target(session);
        buf_printf(&text, "%u\n", pool->env->worker);
    }
    survey_tell(pool->env, survey, buf_view(&text));
    buf_fini(&text);
}

/* --- telling ---------------------------------------------------------------- */

static void
deliver(const struct target *target, const struct extent *keys)
{
    struct subscriber *subscriber = target->subscriber;
    struct session *session = subscriber->session;

    if (session->resp == 3)
        subscriber_push(subscriber, VIEW(TRACKER_PUSH_HEAD), keys);
    else if (subscriber_is_listening(session))
        subscriber_push(subscriber, VIEW(MESSAGE_HEAD), keys);
    else
        return;
    cell_inc(&session->pool->stats->invalidations);
}

static bool
post(const struct tracker *tracker, struct extent keys)
{
    const struct session *session = tracker->subscriber->session;
    struct session_env *env = session->pool->env;
    struct relayed relayed = {
        .pool = session->pool->id,
        .to = tracker->options.redirect,
        .from = session->id,
        .worker = env->worker,
        .keys = view_of(keys.chunk->data + keys.off, keys.len),
    };

    return env->on_relay == NULL ||
        env->on_relay(env, tracker->options.worker, &relayed);
}

bool
relay_tell(struct tracker *tracker, struct extent keys)
{
    const struct session_env *env = tracker->tracking->pool->env;

    if (tracker->options.worker != env->worker)
        return post(tracker, keys);
    const struct target *target =
        find(tracker->tracking, tracker->options.redirect);
    if (target != NULL)
        deliver(target, &keys);
    else
        tracker_on_broken(tracker);
    return true;
}

/* --- from other workers ------------------------------------------------------ */

/* It has left: whoever has read is told. */
static void
send_back(struct session_env *env, const struct relayed *relayed)
{
    struct relayed back = *relayed;

    back.is_broken = true;
    back.keys = VIEW("");
    (void)!env->on_relay(env, relayed->worker, &back);
}

static void
take_broken(struct session_pool *pool, const struct relayed *relayed)
{
    struct session *session = session_find(pool, relayed->from);
    struct tracker *tracker = session == NULL ? NULL : tracker_of(session);

    if (tracker != NULL && tracker->options.is_on &&
        tracker->options.redirect == relayed->to)
        tracker_on_broken(tracker);
}

void
relay_take(struct session_env *env, const struct relayed *relayed)
{
    struct session_pool *pool = session_env_find(env, relayed->pool);

    if (pool != NULL && relayed->is_broken) {
        take_broken(pool, relayed);
        return;
    }
    const struct target *target =
        pool == NULL ? NULL : find(pool->tracking, relayed->to);
    if (target == NULL) {
        send_back(env, relayed);
        return;
    }
    struct extent keys = tracking_copy(pool->tracking, relayed->keys);
    deliver(target, &keys);
    chunk_unref(&keys.chunk);
    boards_close_those_over(pool);
}
