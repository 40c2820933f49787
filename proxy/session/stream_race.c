/*
 * session/stream_race.c - who has something first?
 */
#include "session/stream_race.h"

#include "base/mem.h"
#include "command/keys.h"
#include "command/outcome.h"
#include "command/split.h"
#include "session/body_words.h"
#include "session/replica_read.h"
#include "session/sentence.h"
#include "session/session.h"
#include "session/split_job_priv.h"
#include "session/trail.h"

/* One part. */
struct racer {
    struct stream_race *race;
    uint32_t shard;
    struct server *server;
    struct lane_lease lease;
    struct call call;
    struct chain reply;
};

struct stream_race {
    struct request *request; /* a ref */
    bool is_over;
    struct racer *winner;    /* its answer has begun */
    uint32_t count;
    uint32_t left; /* have not said that nothing came */
    struct racer racers[];
};

bool
stream_race_is_for(const struct incoming *in)
{
    uint32_t block = command_find_block(&in->args, 1);

    /* One of two would stay in the first question. */
    return in->command->split == SPLIT_STREAMS && block > 0 &&
        command_find_block(&in->args, block + 1) == 0;
}

/* --- its end ------------------------------------------------------------------ */

static void
racer_stop(struct racer *racer)
{
    if (racer->server != NULL)
        server_end_lease(racer->server, &racer->lease);
    racer->server = NULL;
    chunk_unref(&racer->call.body.chunk);
}

void
stream_race_free(struct stream_race **racep)
{
    struct stream_race *race = *racep;

    *racep = NULL;
    if (race == NULL)
        return;
    struct request *request = race->request;
    race->is_over = true;
    for (uint32_t i = 0; i < race->count; i++) {
        racer_stop(&race->racers[i]);
        request_discharge(request, race->racers[i].reply.bytes);
        chain_clear(&race->racers[i].reply);
    }
    request_unref(&request);
    mem_free(race);
}

/* These end the race, which is freed by that. */

static void
nothing_came(struct request *request)
{
    request_answer(request, request->session->resp == 3 ? VIEW("_\r\n")
                                                        : VIEW("*-1\r\n"));
}

static void
shard_left(struct request *request)
{
    session_pool_hint(request->pool, MAP_CAUSE_LOST);
    request_fail(request,
                 VIEW("UNBLOCKED force unblock from blocking operation, a "
                      "shard that it waits for has changed"));
}

bool
stream_race_unblock(struct stream_race *race, bool with_error)
{
    if (race->winner != NULL)
        return false;
    if (with_error)
        request_fail(race->request,
                     VIEW("UNBLOCKED client unblocked via CLIENT UNBLOCK"));
    else
        nothing_came(race->request);
    return true;
}

void
stream_race_expire(struct stream_race *race)
{
    struct request *request = race->request;

    request->was_late = true;
    cell_inc(&request->pool->stats->errors_timeout);
    request_fail(request,
                 request_text_late(request, race->racers[0].shard, false));
}

/* --- what lanes say ----------------------------------------------------------- */

static bool
is_null(const struct reply_piece *piece)
{
    struct view bytes =
        view_of(piece->chunk->data + piece->off, piece->len);

    return piece->last && (view_equal(bytes, VIEW("*-1\r\n")) ||
                           view_equal(bytes, VIEW("_\r\n")));
}

/* A node says that it is not the one to wait at, or no more. */
static bool
tells_of_change(const struct racer *racer, const struct reply_piece *piece)
{
    if (piece->type != '-' ||
        !pool_is_followed(racer->race->request->pool->settings))
        return false;
    return outcome_of(view_of(piece->chunk->data + piece->off, piece->len)) !=
        OUTCOME_OTHER;
}

static void
let_win(struct racer *racer)
{
    struct stream_race *race = racer->race;

    race->winner = racer;
    for (uint32_t i = 0; i < race->count; i++) {
        if (&race->racers[i] != racer)
            racer_stop(&race->racers[i]);
    }
}

static void
take_piece(struct racer *racer, const struct reply_piece *piece)
{
    struct request *request = racer->race->request;

    if (racer->race->winner == NULL)
        let_win(racer);
    if (!request_hold(request, &racer->reply, piece) || !piece->last)
        return;
    request->reply = racer->reply;
    racer->reply = (struct chain){0};
    request->reply_type = piece->type;
    if (piece->type == '-')
        request_note_error(request);
    request->reply_bytes = request->reply.bytes;
    request_done(request);
}

static void
on_racer_reply(struct call *call, const struct reply_piece *piece)
{
    struct racer *racer = CONTAINER_OF(call, struct racer, call);
    struct stream_race *race = racer->race;
    struct request *request = race->request;
    bool is_last = piece->last; /* the racer may be gone afterwards */

    if (race->winner == NULL && is_null(piece)) {
        if (--race->left == 0)
            nothing_came(request);
    } else if (tells_of_change(racer, piece)) {
        if (is_last)
            shard_left(request);
    } else {
        take_piece(racer, piece);
    }
    if (is_last)
        request_unref(&request);
}

static void
on_racer_lost(struct call *call, enum close_reason why UNUSED, bool sent)
{
    struct racer *racer = CONTAINER_OF(call, struct racer, call);
    struct stream_race *race = racer->race;
    struct request *request = race->request;

    if (race->is_over)
        ; /* given up */
    else if (race->winner == NULL)
        shard_left(request);
    else if (race->winner == racer)
        request_fail(request, request_text_lost(request, racer->shard, sent));
    request_unref(&request);
}

static const struct call_ops racer_call_ops = {
    .on_reply = on_racer_reply,
    .on_lost = on_racer_lost,
};

/* --- its start ----------------------------------------------------------------- */

static void
racer_submit(struct racer *racer)
{
    racer->race->request->refs++; /* the call's */
    lane_submit(racer->lease.lane, &racer->call);
}

static void
on_lane(struct lane_lease *lease)
{
    struct racer *racer = CONTAINER_OF(lease, struct racer, lease);

    if (lease->lane != NULL)
        racer_submit(racer);
    else
        shard_left(racer->race->request);
}

/* Its call is told. */
static void
on_gone(struct lane_lease *lease)
{
    (void)lease;
}

/* The shard by the map of now; a part may have been answered by a replica. */
static uint32_t
racer_shard(const struct request *request, const struct split_part *part)
{
    if (!pool_is_cluster(request->generation->settings))
        return part->slot;
    return generation_slot_server(request->generation, part->slot);
}

static void
racer_init(struct stream_race *race, uint32_t i,
           const struct command_args *args)
{
    struct request *request = race->request;
    struct split split = request->job->split;
    struct racer *racer = &race->racers[i];

    split.cut_at = 0; /* this time it waits */
    racer->race = race;
    racer->shard = racer_shard(request, &split.parts[i]);
    racer->lease.key = attempt_lane_key(request->session, &request->attempt);
    racer->lease.on_lane = on_lane;
    racer->lease.on_gone = on_gone;
    call_init(&racer->call, &racer_call_ops);
    racer->call.body = part_encode(&split, i, args,
                                   loop_chunks(request->pool->env->loop));
}

/* Nodes may have told since of another map, and where a slot is in it: who has
 * given it away would only say so. */
static void
take_up_map(struct request *request)
{
    struct generation *now = request->pool->pool->current;

    if (generation_has_slots_of(request->generation, now))
        request_route_anew(request, now);
}

struct stream_race *
stream_race_new(struct request *request, const struct extent *body)
{
    take_up_map(request);
    uint32_t count = request->job->split.part_count;
    struct stream_race *race =
        mem_zalloc(sizeof(*race) + count * sizeof(struct racer));
    struct request_scan scan;
    struct command_args args = body_words(&scan, body);

    race->request = request;
    request->refs++;
    race->count = race->left = count;
    for (uint32_t i = 0; i < count; i++)
        racer_init(race, i, &args);
    request_scan_fini(&scan);
    return race;
}

/* False: that has ended the race. */
static bool
racer_start(struct racer *racer)
{
    struct request *request = racer->race->request;

    if (racer->shard == ROUTE_NONE) {
        shard_left(request);
        return false;
    }
    racer->server = generation_server(request->generation, racer->shard);
    server_lease(racer->server, &racer->lease);
    if (racer->lease.lane != NULL)
        racer_submit(racer);
    if (racer->lease.lane != NULL || racer->lease.is_waiting)
        return true;
    shard_left(request);
    return false;
}

void
stream_race_go(struct stream_race *race)
{
    trail_note_detour(race->request->session, NULL);
    for (uint32_t i = 0; i < race->count; i++) {
        if (!racer_start(&race->racers[i]))
            return;
    }
}
