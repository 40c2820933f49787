/*
 * session/dispatch.c - from the words of a request to what is done about it.
 *
 *   name -> row -> arity -> authentication -> class -> keys -> shard -> lane
 *
 * The order of the checks is the servers'.
 */
#include "base/doing.h"
#include "command/keys.h"
#include "command/refuse.h"
#include "resp/encode.h"
#include "session/blocking.h"
#include "session/carrying.h"
#include "session/combining.h"
#include "session/databases.h"
#include "session/deadline.h"
#include "session/fanout.h"
#include "session/holding.h"
#include "session/incoming.h"
#include "session/local.h"
#include "session/long_script.h"
#include "session/monitor.h"
#include "session/order.h"
#include "session/pause.h"
#include "session/published.h"
#include "session/replica_read.h"
#include "session/request.h"
#include "session/rights.h"
#include "session/scripts.h"
#include "session/server_command.h"
#include "session/session.h"
#include "session/slow_log.h"
#include "session/split_job.h"
#include "session/strange.h"
#include "session/stream_race.h"
#include "session/subscriber.h"
#include "session/tracker.h"
#include "session/transaction.h"
#include "session/wait.h"

static struct buf *
scratch(struct session *session)
{
    struct buf *out = &session->pool->env->out;

    out->len = 0;
    return out;
}

/* --- finding the row -------------------------------------------------------------- */

static bool
is_allowed(const struct pool_settings *settings, const struct command *command)
{
    if (command->id == COMMAND_ID_LEARNT)
        return access_allows_learnt(view_str(settings->access_rules), command);
    return access_allows(settings->access, command);
}

const struct command *
request_command(struct session *session, const struct command_args *args)
{
    const struct command *command = command_find(command_arg(args, 0));

    if (unlikely(command == NULL)) {
        command = strange_command(session, args);
        if (command == NULL)
            return NULL;
    }
    if (unlikely((command->flags & COMMAND_ONLY_SENTINEL) != 0)) {
        answer_unknown(session, args);
        return NULL;
    }
    if (unlikely((command->flags & COMMAND_CONTAINER) != 0 &&
                 args->argc > 1)) {
        command = strange_subcommand(session, command, args);
        if (command == NULL)
            return NULL;
    }
    if (unlikely(!command_arity_ok(command, args->argc))) {
        wrong_arity(session, command);
        return NULL;
    }
    if (unlikely(!session->authenticated &&
                 (command->flags & COMMAND_NO_AUTH) == 0)) {
        no_auth(session, command);
        return NULL;
    }
    const struct pool_settings *settings = session->pool->settings;
    if (unlikely(settings->access != NULL && !is_allowed(settings, command))) {
        no_permission(session, command);
        return NULL;
    }
    if (unlikely(!subscriber_allows(session, command)))
        return NULL;
    return command;
}

/* --- to a shard --------------------------------------------------------------------- */

/* In one piece with who asks: a small struct that is put together in memory is
 * slow to read back. */
static inline struct place
place_of(struct session *session, struct view key)
{
    const struct generation *generation = session->generation;
    const struct route *route = generation->route;
    struct pool *pool = session->pool->pool;

    /* A reload may have made another kind of the pool meanwhile. */
    if (likely(!pool_is_cluster(generation->settings))) {
        uint32_t shard = route_find(route, key, &pool->dice);
        return (struct place){
            .slot = shard,
            .shard = shard,
            .is_keyed = generation->readers != NULL,
        };
    }
    uint32_t slot = route_slot(route, key);
    return (struct place){
        .slot = slot,
        .shard = generation_slot_server(generation, slot),
        .is_keyed = true,
    };
}

struct place
request_place(struct session *session, struct view key)
{
    return place_of(session, key);
}

/* The request as it came, to one shard. */
static void
forward(const struct incoming *in, struct place place)
{
    if (unlikely(in->session->is_scripting))
        long_script_leave(in->session, in->command);
    struct request *request = request_new(in->session, in->command);

    request->attempt.slot = (uint16_t)place.slot;
    request->attempt.is_read = place.is_keyed && in->session->watch == NULL &&
        tracker_of(in->session) == NULL && replica_read_is_for(in->command);
    request->is_published = place.is_channel;
    request->lanes_before = place.lanes;
    request->shard =
        attempt_place(in->session, &request->attempt, place.shard);
    request->call.body = in->bytes;
    chunk_ref(in->bytes.chunk);
    request_start_deadline(request);
    if (unlikely(blocking_is(in)))
        blocking_prepare(request, in);
    if (unlikely(place.shard == ROUTE_NONE))
        holding_take_unserved(request, &request->attempt);
    else
        request_submit(request);
}

/* To whichever: the first, if a cluster has one yet. */
static void
forward_anywhere(const struct incoming *in)
{
    bool is_known = in->session->generation->shard_count > 0;

    forward(in, (struct place){.shard = is_known ? 0 : ROUTE_NONE});
}

static void
forward_by_key(const struct incoming *in, uint32_t position)
{
    struct session *session = in->session;
    struct view key = command_arg(&in->args, position);
    struct place place = place_of(session, key);

    if (is_nowhere(session, place))
        no_shard(session, in->command, key);
    else
        forward(in, place);
}

static void split_over_shards(const struct incoming *in);

/* Keys on several shards. */
static void
forward_apart(const struct incoming *in)
{
    if (combining_try(in) || carrying_try(in))
        return;
    if (in->command->split == SPLIT_NONE ||
        (blocking_is(in) && !stream_race_is_for(in)))
        crossslot(in->session, in->command);
    else if (split_count_keys(in->command, &in->args) == 0)
        forward_anywhere(in); /* any shard says what is wrong */
    else
        split_over_shards(in);
}

/* All keys must stand on one shard, in a cluster on one slot. */
static void
forward_by_keys(const struct incoming *in, const struct key_list *keys)
{
    struct place place = {0};

    if (keys->count == 0) {
        forward_anywhere(in);
        return;
    }
    for (uint32_t i = 0; i < keys->count; i++) {
        struct view key = command_arg(&in->args, keys->at[i]);
        struct place found = request_place(in->session, key);
        if (is_nowhere(in->session, found)) {
            no_shard(in->session, in->command, key);
            return;
        }
        if (i > 0 && (found.shard != place.shard || found.slot != place.slot)) {
            forward_apart(in);
            return;
        }
        place = found;
    }
    forward(in, place);
}

static void
route_by_keys(const struct incoming *in)
{
    struct key_list keys;
    const char *pattern = command_pattern_option(in->command, &in->args);

    if (pattern != NULL && in->session->generation->shard_count > 1) {
        struct buf *out = scratch(in->session);
        refuse_sort_pattern(out, pattern);
        answer_error(in->session, in->command, out,
                     &in->session->pool->stats->errors_crossslot);
        return;
    }
    scripts_note(in);
    if (unlikely(long_script_is(in->command)))
        long_script_begin(in->session);
    key_list_init(&keys);
    if (command_keys(in->command, &in->args, &keys) == KEYS_MALFORMED)
        keys.count = 0; /* any shard says what is wrong */
    if (allow_keys(in->session, in->command, keys.count))
        forward_by_keys(in, &keys);
    key_list_fini(&keys);
}

static void
route(const struct incoming *in)
{
    const struct command *command = in->command;

    if (likely(command->first_key > 0 &&
               command->first_key == command->last_key &&
               (command->flags & COMMAND_MOVABLEKEYS) == 0))
        forward_by_key(in, (uint32_t)command->first_key);
    else
        route_by_keys(in);
}

/* What this worker knows better than the map. */
static void
correct_parts(struct session *session, struct split *split)
{
    for (uint32_t i = 0; i < split->part_count; i++)
        split->parts[i].shard = generation_slot_server(
            session->generation, split->parts[i].slot);
}

/* Without slots a shard stands for all of its own. */
static void
name_parts(struct split *split)
{
    for (uint32_t i = 0; i < split->part_count; i++)
        split->parts[i].slot = split->parts[i].shard;
}

static void
split_over_shards(const struct incoming *in)
{
    struct session *session = in->session;
    bool by_slot = pool_is_cluster(session->pool->settings);
    struct split split;
    uint32_t bad_key = 0;

    if (!allow_keys(session, in->command,
                    split_count_keys(in->command, &in->args)))
        return;
    switch (split_make(&split, in->command, &in->args,
                       session->generation->route, by_slot,
                       &session->pool->pool->dice, &bad_key)) {
    case SPLIT_BAD_ARGS:
        wrong_arity(session, in->command);
        return;
    case SPLIT_NO_SHARD:
        no_shard(session, in->command, command_arg(&in->args, bad_key));
        return;
    case SPLIT_OK:
        break;
    }
    if (by_slot)
        correct_parts(session, &split);
    else
        name_parts(&split);
    if (split.part_count == 1) {
        forward(in, (struct place){.slot = split.parts[0].slot,
                                   .shard = split.parts[0].shard,
                                   .is_keyed = true});
        split_fini(&split);
        return;
    }
    struct request *request = request_new(session, in->command);
    request_start_deadline(request);
    if (unlikely(blocking_is(in)))
        blocking_prepare_race(request, in, &split);
    if (in->bytes.len <= SLOW_LOG_WORDS_MAX &&
        session->pool->notice_us != UINT64_MAX) {
        request->call.body = in->bytes;
        chunk_ref(in->bytes.chunk);
    }
    split_job_start(request, &split, &in->args);
}

/* --- answered here ------------------------------------------------------------------- */

/* To the node that has the slot; other servers keep no account of slots. */
static void
route_by_slot(const struct incoming *in)
{
    struct session *session = in->session;

    if (local_act(in))
        return;
    if (!pool_is_cluster(session->pool->settings)) {
        refuse(session, in->command, &in->args);
        return;
    }
    struct place place = {.slot = local_slot(&in->args)};
    place.shard = generation_slot_server(session->generation, place.slot);
    forward(in, place);
}

/* --- the door -------------------------------------------------------------------------- */

/* One server is all there is, so its answer is the answer. */
static void
forward_if_single(const struct incoming *in)
{
    if (in->session->generation->shard_count == 1)
        forward_anywhere(in);
    else
        refuse(in->session, in->command, &in->args);
}

/* The indexes of modules live on one server each, which no key tells. */
static bool
needs_single(const struct command *command)
{
    return command->class == CLASS_ANY &&
        (command->flags & COMMAND_MODULE) != 0;
}

/* SUBSCRIBE and its kin, or PUBLISH. */
static void
act_on_channels(const struct incoming *in)
{
    if (in->command->class == CLASS_PIN)
        subscriber_act(in);
    else
        forward(in, published_place(in->session, in->command,
                                    command_arg(&in->args, 1)));
}

/* As the administrator wants it: to the servers, not answered here. */
static void
forward_to_servers(const struct incoming *in)
{
    uint32_t key = server_command_key(in);

    if (key > 0)
        forward_by_key(in, key);
    else if (in->command->keyspec[0] != '\0')
        route_by_keys(in);
    else if (server_command_is_for_all(in->session, in->command) ||
             fanout_concerns_us(in->command) ||
             in->command->id == COMMAND_ID_INFO)
        fanout_start(in);
    else if (in->session->generation->shard_count == 1 ||
             !local_act(in))
        forward_anywhere(in);
}

static void
act_by_class(const struct incoming *in)
{
    if (unlikely(transaction_takes(in)))
        return;
    if (unlikely(server_command_is(in->session, in->command)) &&
        !subscriber_is_old_style(in->session)) {
        forward_to_servers(in);
        return;
    }
    if (unlikely(needs_single(in->command))) {
        forward_if_single(in);
        return;
    }
    if (unlikely((in->command->flags & COMMAND_PUBSUB) != 0 &&
                 in->command->class != CLASS_FANOUT)) {
        act_on_channels(in);
        return;
    }
    switch ((enum command_class)in->command->class) {
    case CLASS_ROUTE:
        if (unlikely(local_names_slot(in->command)))
            route_by_slot(in);
        else
            route(in);
        break;
    case CLASS_SPLIT:
        split_over_shards(in);
        break;
    case CLASS_LOCAL:
        if (!local_act(in))
            refuse(in->session, in->command, &in->args);
        break;
    case CLASS_ANY:
        if (!local_act(in))
            forward_anywhere(in);
        break;
    case CLASS_FANOUT:
    case CLASS_CURSOR:
        scripts_note(in);
        if (!local_act(in) && !fanout_try(in))
            forward_if_single(in);
        break;
    case CLASS_REFUSE:
        if (!local_act(in))
            refuse(in->session, in->command, &in->args);
        break;
    case CLASS_ROUTE_PIN:
        if (blocking_is(in))
            route(in);
        else
            refuse(in->session, in->command, &in->args);
        break;
    case CLASS_PIN:
        if (wait_is(in))
            wait_begin(in);
        else
            refuse(in->session, in->command, &in->args);
        break;
    }
}

static void
act(const struct incoming *in)
{
    if (unlikely(rights_refuse(in)))
        return;
    if (unlikely(databases_are_named(in->command)))
        databases_act(in, act_by_class);
    else
        act_by_class(in);
}

/* Somebody watches, or keeps a cache. */
static void
act_in_sight(const struct incoming *in)
{
    struct sighting sighting;

    if (monitor_forbids(in)) {
        struct buf *out = scratch(in->session);
        encode_error(out, VIEW("ERR Replica can't interact with the keyspace"));
        answer_error(in->session, in->command, out,
                     &in->session->pool->stats->errors_refused);
        return;
    }
    monitor_begin(&sighting, in);
    tracker_note(in);
    act(in);
    tracker_note_acted(in->session, in->command);
    monitor_end(&sighting, in);
}

/* What is no command yet waits for what servers say.  (What was refused has been
 * answered, though a barrier may be left of what stood in front of it.) */
static bool
must_wait(const struct incoming *in)
{
    if (unlikely(in->command == NULL))
        return in->session->barrier && in->session->in_flight > 0;
    return order_must_wait(in) ||
        (unlikely(in->session->pool->attention != 0) && pause_must_wait(in)) ||
        rights_must_wait(in);
}

/* Nothing about the client or its pool asks for a closer look. */
static inline bool
goes_straight(const struct session *session)
{
    const struct session_pool *pool = session->pool;
    const struct pool_settings *settings = pool->settings;

    return session->authenticated && session->subscriber == NULL &&
        session->transaction == NULL && pool->attention == 0 &&
        settings->access == NULL && settings->server_commands == NULL &&
        !overlay_is_warm(&pool->pool->overlay, loop_now_us(pool->env->loop));
}

/* Most of what clients say: all that matters is where its one key belongs. */
static inline bool
is_plain(const struct incoming *in)
{
    const struct command *command = in->command;

    return command != NULL && command->is_plain &&
        command_arity_ok(command, in->args.argc) && goes_straight(in->session);
}

static inline void
note_accepted(const struct incoming *in)
{
    struct session_stats *stats = in->session->pool->stats;

    cell_inc(&stats->requests);
    cell_add(&stats->request_bytes, in->bytes.len);
    if (unlikely(in->command == NULL))
        return;
    cell_inc(&stats->commands[in->command->id]);
    doing_now.command = in->command->name;
    in->session->last_command = in->command;
}

static bool
accept_with_care(struct incoming *in)
{
    struct session *session = in->session;

    in->command = request_command(session, &in->args);
    if (must_wait(in))
        return false;
    note_accepted(in);
    if (in->command == NULL)
        tracker_forget_caching(session);
    else if (session->pool->attention == 0)
        act(in);
    else
        act_in_sight(in);
    return true;
}

static bool
accept_one(struct incoming *in)
{
    in->command = command_find(command_arg(&in->args, 0));
    if (unlikely(!is_plain(in)))
        return accept_with_care(in);
    note_accepted(in);
    forward_by_key(in, (uint32_t)in->command->first_key);
    return true;
}

static bool
says_reply(const struct incoming *in, struct view how)
{
    return in->command != NULL && in->command->id == COMMAND_ID_CLIENT_REPLY &&
        view_equal_nocase(command_arg(&in->args, 2), how);
}

bool
request_accept(struct session *session, struct chunk *chunk, uint32_t off,
               const struct request_scan *scan)
{
    struct incoming in = {
        .session = session,
        .args = {chunk->data + off, scan->args, scan->argc},
        .bytes = {chunk, off, (uint32_t)scan->size},
    };

    if (likely(!session->reply_skip))
        return accept_one(&in);
    /* Silent for this one request, unless it is CLIENT REPLY OFF. */
    session->reply_off = true;
    bool accepted = accept_one(&in);
    if (accepted && !says_reply(&in, VIEW("SKIP")))
        session->reply_skip = false;
    if (!accepted || !says_reply(&in, VIEW("OFF")))
        session->reply_off = false;
    return accepted;
}
