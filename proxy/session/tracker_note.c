/*
 * session/tracker_note.c - what a client that tracks reads, and where.
 */
#include "command/keys.h"
#include "resp/encode.h"
#include "resp/reply_read.h"
#include "session/retry.h"
#include "session/tracker.h"
#include "session/trail.h"

/* --- where ------------------------------------------------------------------ */

/* Is this key read where each change of it is heard of? */
static bool
is_guarded(const struct tracker *tracker, struct session *session,
           struct view key)
{
    const struct tracking *tracking = tracker->tracking;
    const struct pool_settings *settings = session->pool->settings;

    if (likely(tracking->deaf == 0 && !session_is_behind(session) &&
               !pool_is_cluster(settings)))
        return true;
    if (settings->distribution == DISTRIBUTION_RANDOM)
        return false; /* dice say where */
    struct place place = request_place(session, key);
    return place.shard == ROUTE_NONE || /* nobody is asked, for now */
        tracking_hears(tracking,
                       generation_server(session->generation, place.shard));
}

/* Does a change of it concern this client? */
static bool
is_wanted(const struct tracker *tracker, struct view key)
{
    const struct interest *interest;

    if (!tracker->options.is_bcast)
        return true;
    TAILQ_FOREACH (interest, &tracker->interests, own) {
        if (prefix_is_of(interest->prefix->entry.key, key))
            return true;
    }
    return false;
}

/* --- what ------------------------------------------------------------------- */

/* A script may read, too. */
static bool
is_read(const struct command *command)
{
    return (command->flags & COMMAND_READONLY) != 0 ||
        retry_is_user_code(command);
}

/* With OPTIN only what CLIENT CACHING YES stands before; with OPTOUT all but
 * what CLIENT CACHING NO does. */
static bool
is_kept(const struct tracker *tracker)
{
    if (tracker->options.is_optin)
        return tracker->is_caching;
    return !tracker->options.is_optout || !tracker->is_caching;
}

/* Keys that are read where nobody listens. */
struct exposed {
    struct buf keys;
    size_t count;
};

static void
note_key(struct tracker *tracker, struct session *session, struct view key,
         struct exposed *exposed)
{
    if (!is_wanted(tracker, key))
        return;
    if (!tracker->options.is_bcast)
        tracking_mark(tracker->tracking, tracker, key);
    if (likely(is_guarded(tracker, session, key)))
        return;
    encode_bulk(&exposed->keys, key);
    exposed->count++;
}

static void
find_keys(const struct command *command, const struct command_args *args,
          struct key_list *keys)
{
    key_list_init(keys);
    if (!is_read(command) ||
        command_keys(command, args, keys) == KEYS_MALFORMED)
        keys->count = 0; /* a server says what is wrong */
}

static void
note_command(struct tracker *tracker, const struct incoming *in,
             struct exposed *exposed)
{
    struct key_list keys;

    find_keys(in->command, &in->args, &keys);
    for (uint32_t i = 0; i < keys.count; i++)
        note_key(tracker, in->session, command_arg(&in->args, keys.at[i]),
                 exposed);
    key_list_fini(&keys);
}

/* Behind MULTI: it is read by EXEC. */
static void
queue_command(struct tracker *tracker, const struct incoming *in)
{
    struct key_list keys;

    find_keys(in->command, &in->args, &keys);
    for (uint32_t i = 0; i < keys.count; i++)
        encode_bulk(&tracker->queued, command_arg(&in->args, keys.at[i]));
    key_list_fini(&keys);
}

static void
note_queued(struct tracker *tracker, struct session *session,
            struct exposed *exposed)
{
    struct view queued = buf_view(&tracker->queued);
    struct reply_item item;

    while (reply_next(&queued, &item))
        note_key(tracker, session, item.text, exposed);
    buf_fini(&tracker->queued);
}

static void
tell_exposed(struct tracker *tracker, struct exposed *exposed)
{
    struct buf list = {0};

    if (likely(exposed->count == 0))
        return;
    encode_array(&list, exposed->count);
    buf_append_view(&list, buf_view(&exposed->keys));
    struct extent keys = tracking_copy(tracker->tracking, buf_view(&list));
    tracker_tell(tracker, keys);
    chunk_unref(&keys.chunk);
    buf_fini(&list);
    buf_fini(&exposed->keys);
}

static void
begin_act(struct tracker *tracker)
{
    tracker->is_acting = true;
    tracker->acting_after = tracker->tracking->pool->env->next_request_id;
    tracker->flushed = 0;
}

void
tracker_note(const struct incoming *in)
{
    struct session *session = in->session;
    struct tracker *tracker = tracker_of(session);
    struct exposed exposed = {0};

    if (tracker == NULL || !tracker->options.is_on)
        return;
    if (tracker->trail != NULL) {
        begin_act(tracker); /* the rest its servers know */
        return;
    }
    if (!is_kept(tracker))
        return;
    begin_act(tracker);
    if (session->transaction == NULL) {
        buf_fini(&tracker->queued); /* of one that was discarded */
        note_command(tracker, in, &exposed);
    } else if (in->command->id == COMMAND_ID_EXEC) {
        note_queued(tracker, session, &exposed);
    } else {
        queue_command(tracker, in);
    }
    tell_exposed(tracker, &exposed);
}

/* CLIENT CACHING is about what comes next, or about the transaction that does. */
static void
forget_caching(struct tracker *tracker, const struct session *session)
{
    if (session->transaction == NULL && session->unfolding == NULL)
        tracker->is_caching = false;
}

static bool
is_about_client(const struct command *command)
{
    static const struct view client = {"client|", 7};

    return view_equal(view_of(command->name,
                              MIN(command->name_len, client.len)),
                      client);
}

void
tracker_note_acted(struct session *session, const struct command *command)
{
    struct tracker *tracker =
        session->state == SESSION_CLOSED ? NULL : tracker_of(session);

    if (tracker == NULL)
        return;
    trail_note_caching(session);
    if (!is_about_client(command))
        forget_caching(tracker, session);
    tracker_end_act(tracker);
}

void
tracker_forget_caching(struct session *session)
{
    struct tracker *tracker = tracker_of(session);

    if (tracker != NULL)
        forget_caching(tracker, session);
}

void
tracker_note_upload(struct session *session, const struct command *command,
                    struct view key)
{
    struct tracker *tracker = tracker_of(session);
    struct exposed exposed = {0};

    if (tracker == NULL || !tracker->options.is_on)
        return;
    if (tracker->trail != NULL) {
        begin_act(tracker);
        return;
    }
    if (!is_kept(tracker) || !is_read(command))
        return;
    begin_act(tracker);
    note_key(tracker, session, key, &exposed);
    tell_exposed(tracker, &exposed);
}

void
tracker_note_server(struct session *session, const struct server *server)
{
    struct tracker *tracker = tracker_of(session);

    if (tracker != NULL && tracker->options.is_on && tracker->trail == NULL &&
        !tracking_hears(tracker->tracking, server))
        tracker_tell(tracker, (struct extent){0});
}
