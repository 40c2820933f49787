/*
 * session/key_watch.c - keys that are watched, and the lane that does it.
 */
#include "session/key_watch.h"

#include "base/mem.h"
#include "command/outcome.h"
#include "command/refuse.h"
#include "session/deadline.h"
#include "session/holding.h"
#include "session/replica_read.h"
#include "session/retry.h"
#include "session/trail.h"
#include "session/transaction_priv.h"

#define UNWATCH_WORDS "*1\r\n$7\r\nUNWATCH\r\n"
#define DISCARD_WORDS "*1\r\n$7\r\nDISCARD\r\n"

struct key_watch {
    struct lane_lease lease;
    struct session *session;
    struct server *server;   /* whose lane it is, or is waited for */
    struct request *request; /* waits for the lane */
    struct place place;      /* of the keys */
    uint32_t shard;          /* of the server, by the session's generation */
    uint64_t trail;         /* number of the lane with which the client tracks,
                                if that is it, or 0 */
    bool is_asked;           /* it is there behind ASKING only */
    bool is_watching;        /* WATCH has been answered */
    bool is_broken;          /* ... and nobody knows what has become of it */
};

/* --- the lane ------------------------------------------------------------------ */

static bool
has_lane(const struct key_watch *watch)
{
    return watch->lease.lane != NULL || watch->lease.is_waiting ||
        watch->trail != 0;
}

/* Not to be used by anybody else: it may still watch. */
static void
drop_lane(struct key_watch *watch)
{
    struct server *server = watch->server;

    trail_drop(watch->session, watch->trail);
    watch->trail = 0;
    watch->request = NULL;
    watch->server = NULL;
    server_drop_lease(server, &watch->lease, CLOSE_LANE_UNCLEAN);
}

static void
forget(struct session *session)
{
    struct key_watch *watch = session->watch;

    session->watch = NULL;
    mem_free(watch);
}

void
key_watch_free(struct session *session)
{
    if (likely(session->watch == NULL))
        return;
    drop_lane(session->watch);
    forget(session);
}

/* Nothing is watched on it any more. */
static void
give_back(struct session *session)
{
    struct key_watch *watch = session->watch;

    if (has_lane(watch) && watch->trail == 0)
        server_end_lease(watch->server, &watch->lease);
    forget(session);
}

static void
submit_now(struct key_watch *watch)
{
    struct request *request = watch->request;

    watch->request = NULL;
    request->refs++; /* the call's */
    lane_submit(watch->lease.lane, &request->call);
}

static void
unreachable(struct key_watch *watch)
{
    struct request *request = watch->request;

    watch->request = NULL;
    watch->server = NULL;
    holding_take_unreachable(request);
}

static void
on_lane(struct lane_lease *lease)
{
    struct key_watch *watch = CONTAINER_OF(lease, struct key_watch, lease);

    if (lease->lane == NULL)
        unreachable(watch);
    else
        submit_now(watch);
}

/* Its call, if any, is told by itself. */
static void
on_gone(struct lane_lease *lease)
{
    struct key_watch *watch = CONTAINER_OF(lease, struct key_watch, lease);

    watch->is_broken |= watch->is_watching;
    watch->server = NULL;
}

static bool
is_on_lane(const struct key_watch *watch, const struct request *request)
{
    struct lane_key key =
        attempt_lane_key(request->session, &request->attempt);

    return watch->server == request_server(request) &&
        watch->lease.key.db == key.db &&
        watch->lease.key.user == key.user &&
        (watch->lease.key.resp == key.resp || watch->trail != 0);
}

/* If it is another one than before, what was watched over that is lost. */
static void
note_trail(struct key_watch *watch, uint64_t number)
{
    watch->is_broken |= watch->is_watching && watch->trail != number;
    watch->trail = number;
}

/* The lane with which the client tracks has all of its commands.  False: it has
 * none there. */
static bool
submit_on_trail(struct key_watch *watch)
{
    struct request *request = watch->request;

    request->refs++; /* the call's */
    if (trail_takes(request, watch->server, watch->lease.key,
                     &request->call)) {
        note_trail(watch, trail_number(request->session, watch->server));
        watch->request = NULL;
        return true;
    }
    request->refs--;
    return false;
}

static void
give_up(struct key_watch *watch)
{
    struct request *request = watch->request;

    watch->request = NULL;
    watch->is_broken = true;
    key_watch_take_loss(request, false);
}

/* Nothing comes over the lane any more. */
static void
submit_nowhere(struct key_watch *watch)
{
    if (watch->request->ends_watch)
        give_up(watch);
    else
        unreachable(watch);
}

static void
submit(struct key_watch *watch)
{
    if (watch->lease.lane != NULL && server_is_off(watch->server)) {
        submit_nowhere(watch);
        return;
    }
    if (watch->lease.lane == NULL) {
        watch->server = request_server(watch->request);
        watch->lease.key =
            attempt_lane_key(watch->session, &watch->request->attempt);
        if (submit_on_trail(watch))
            return;
        if (watch->request->ends_watch) { /* that lane watches, and no other */
            give_up(watch);
            return;
        }
        server_lease(watch->server, &watch->lease);
    }
    if (watch->lease.lane != NULL || watch->lease.is_waiting)
        trail_note_detour(watch->session, watch->server);
    if (watch->lease.lane != NULL)
        submit_now(watch);
    else if (!watch->lease.is_waiting)
        unreachable(watch);
}

void
key_watch_submit(struct request *request)
{
    struct session *session = request->session;
    struct key_watch *watch = session->watch;

    /* What EXEC waited for, if anything, may have taken its lane away. */
    if (request->ends_watch && key_watch_is_broken(session)) {
        key_watch_take_loss(request, false);
        return;
    }
    if (has_lane(watch) && !is_on_lane(watch, request))
        drop_lane(watch);
    watch->request = request;
    watch->shard = request->shard;
    watch->is_asked = request->call.asking;
    submit(watch);
}

/* --- beginning ----------------------------------------------------------------- */

static struct key_watch *
key_watch_of(struct session *session)
{
    if (session->watch == NULL) {
        session->watch = MEM_NEW(struct key_watch);
        session->watch->session = session;
        session->watch->lease.on_lane = on_lane;
        session->watch->lease.on_gone = on_gone;
    }
    return session->watch;
}

bool
key_watch_place(const struct session *session, struct place *place)
{
    if (likely(session->watch == NULL) || key_watch_is_broken(session))
        return false;
    *place = session->watch->place;
    return true;
}

static bool
is_same_place(const struct session *session, struct place one,
              struct place other)
{
    return pool_is_cluster(session->pool->settings) ? one.slot == other.slot
                                                    : one.shard == other.shard;
}

/* False after having answered. */
static bool
find_place(const struct incoming *in, struct place *place)
{
    struct session *session = in->session;
    bool is_bound = key_watch_place(session, place);

    for (uint32_t i = 1; i < in->args.argc; i++) {
        struct view key = command_arg(&in->args, i);
        struct place found = request_place(session, key);
        if (is_nowhere(session, found)) {
            no_shard(session, in->command, key);
            return false;
        }
        if (is_bound && !is_same_place(session, found, *place)) {
            struct buf *out = transaction_scratch(session);
            refuse_crossslot(out);
            answer_error(session, in->command, out,
                         &session->pool->stats->errors_crossslot);
            return false;
        }
        is_bound = true;
        *place = found;
    }
    return true;
}

/* Over the lane, with nothing else under way. */
static struct request *
new_request(const struct incoming *in, uint32_t shard)
{
    struct request *request = request_new(in->session, in->command);

    request->own_lane = OWN_LANE_WATCH;
    request->shard = shard;
    request->attempt.slot = (uint16_t)in->session->watch->place.slot;
    in->session->barrier = true;
    request_start_deadline(request);
    return request;
}

void
key_watch_begin(const struct incoming *in)
{
    struct session *session = in->session;
    struct place place = {0};

    if (!allow_keys(session, in->command, in->args.argc - 1) ||
        !find_place(in, &place))
        return;
    key_watch_of(session)->place = place;
    struct request *request = new_request(in, place.shard);
    cell_inc(&session->pool->stats->watches);
    request->call.body = in->bytes;
    chunk_ref(in->bytes.chunk);
    if (unlikely(place.shard == ROUTE_NONE))
        holding_take_unserved(request, &request->attempt);
    else
        request_submit(request);
}

/* --- ending -------------------------------------------------------------------- */

bool
key_watch_is_barrier(const struct session *session, const struct command *command)
{
    switch ((int)command->id) {
    case COMMAND_ID_WATCH:
        return session->transaction == NULL;
    case COMMAND_ID_UNWATCH:
    case COMMAND_ID_DISCARD:
    case COMMAND_ID_EXEC:
        return session->watch != NULL;
    default:
        return false;
    }
}

/* Is the lane of now the one that WATCH went over? */
bool
key_watch_is_broken(const struct session *session)
{
    const struct key_watch *watch = session->watch;

    if (watch == NULL || watch->is_broken)
        return watch != NULL;
    if (watch->trail != 0)
        return !trail_is_there(session, watch->trail);
    return watch->lease.lane == NULL || watch->lease.key.db != session->db ||
        watch->lease.key.user != session->user ||
        watch->lease.key.resp != session->resp;
}

void
key_watch_break(struct session *session)
{
    session->watch->is_broken = true;
    drop_lane(session->watch);
}

struct lane *
key_watch_lane(const struct session *session)
{
    return key_watch_is_broken(session) ? NULL : session->watch->lease.lane;
}

uint32_t
key_watch_shard(const struct session *session)
{
    return session->watch->shard;
}

bool
key_watch_is_asked(const struct session *session)
{
    return session->watch->is_asked;
}

void
key_watch_end(const struct incoming *in, bool in_multi)
{
    struct session *session = in->session;

    if (session->watch == NULL || key_watch_is_broken(session)) {
        key_watch_free(session);
        transaction_answer(in, VIEW("+OK\r\n"));
        return;
    }
    struct request *request = new_request(in, session->watch->shard);
    request->ends_watch = true;
    request->call.body =
        extent_copy(loop_chunks(session->pool->env->loop),
                    in_multi ? VIEW(DISCARD_WORDS) : VIEW(UNWATCH_WORDS));
    request_submit(request);
}

void
key_watch_exec(const struct incoming *in, struct extent body, uint32_t leading,
               struct script_wants *wants)
{
    struct request *request = new_request(in, in->session->watch->shard);

    request->ends_watch = true;
    request->call.body = body;
    request->call.leading = leading;
    request->wants = wants;
    request->call.asking = leading > 0 && in->session->watch->is_asked;
    request_submit(request);
}

/* --- what becomes of it -------------------------------------------------------- */

/* Without a word of the server it may or may not watch; but if nothing has been
 * sent, nothing is watched, as the client has been told. */
static void
end_unheard(struct session *session, const struct request *request)
{
    struct key_watch *watch = session->watch;

    if (!watch->is_watching && !watch->is_broken &&
        request->call.body_size == 0) {
        key_watch_free(session);
        return;
    }
    watch->is_broken = true;
    drop_lane(watch);
}

void
key_watch_on_done(struct request *request)
{
    struct session *session = request->session;
    struct key_watch *watch = session->watch;
    bool is_clean = request->reply_type == '*' ||
        request->reply_type == '_' || request->reply_type == '+';

    if (watch == NULL)
        return;
    if (!request->ends_watch) {
        watch->is_watching |= request->reply_type == '+';
        if (request->reply_type == 0)
            end_unheard(session, request);
    } else if (is_clean && !watch->is_broken) {
        give_back(session);
    } else {
        key_watch_free(session);
    }
}

/* The keys are not what they were, as far as anybody knows. */
static void
answer_changed(struct request *request)
{
    cell_inc(&request->pool->stats->watches_broken);
    request_answer(request, request->session->resp == 3 ? VIEW("_\r\n")
                                                        : VIEW("*-1\r\n"));
}

bool
key_watch_take_refusal(struct request *request, const struct reply_piece *piece)
{
    struct view line = view_of(piece->chunk->data + piece->off, piece->len);

    if (!request->ends_watch || piece->type != '-' ||
        !pool_is_followed(request->pool->settings) ||
        retry_action(outcome_of(line)) == RETRY_PASS_ON)
        return false;
    session_pool_hint(request->pool, MAP_CAUSE_MOVED);
    answer_changed(request);
    return true;
}

void
key_watch_take_loss(struct request *request, bool sent)
{
    if (request->command->id != COMMAND_ID_EXEC) {
        request_answer(request, VIEW("+OK\r\n")); /* nothing is watched */
    } else if (!sent) {
        answer_changed(request);
    } else {
        request_fail_lost(request);
    }
}

/* By the time that the master takes writes again it may be another one, which
 * does not watch.  (A session that went on by the news before knows it already:
 * key_watch_note_generation().) */
void
key_watch_take_held(struct request *request)
{
    struct key_watch *watch = request->session->watch;

    watch->is_broken = true;
    drop_lane(watch);
    key_watch_take_loss(request, false);
}

/* In a cluster a slot may be where it was. */
void
key_watch_note_generation(struct session *session)
{
    const struct generation *generation = session->generation;
    struct key_watch *watch = session->watch;

    if (likely(watch == NULL))
        return;
    if (has_lane(watch) && !watch->is_asked &&
        pool_is_cluster(session->pool->settings)) {
        uint32_t shard =
            generation_slot_server(generation, watch->place.slot);
        watch->shard = shard;
        if (shard != ROUTE_NONE &&
            generation_server(generation, shard) == watch->server)
            return;
    }
    watch->is_broken |= watch->is_watching;
    drop_lane(watch);
}
