/*
 * session/unblock.c - asking a server to unblock one of our connections.
 */
#include "session/unblock.h"

#include "base/mem.h"
#include "resp/encode.h"
#include "session/blocking.h"
#include "session/survey_priv.h"
#include "session/wait.h"

/* A CLIENT UNBLOCK on its way; frees itself when it is answered. */
struct unblock {
    struct call call;
    struct session_env *env;
    struct survey survey; /* without its text */
    bool has_survey;      /* else nobody asks what came of it */
};

static void
unblock_end(struct unblock *unblock, bool is_done)
{
    if (unblock->has_survey)
        survey_tell_count(unblock->env, &unblock->survey, is_done);
    chunk_unref(&unblock->call.body.chunk);
    mem_free(unblock);
}

static void
on_reply(struct call *call, const struct reply_piece *piece)
{
    struct view reply = view_of(piece->chunk->data + piece->off, piece->len);

    if (piece->last)
        unblock_end(CONTAINER_OF(call, struct unblock, call),
                    view_equal(reply, VIEW(":1\r\n")));
}

static void
on_lost(struct call *call, enum close_reason why UNUSED, bool sent UNUSED)
{
    unblock_end(CONTAINER_OF(call, struct unblock, call), false);
}

static const struct call_ops unblock_call_ops = {
    .on_reply = on_reply,
    .on_lost = on_lost,
};

static struct extent
unblock_words(struct session_env *env, uint64_t lane_id, struct view reason)
{
    struct buf words = {0};

    encode_array(&words, 4);
    encode_bulk_str(&words, "CLIENT");
    encode_bulk_str(&words, "UNBLOCK");
    encode_bulk_u64(&words, lane_id);
    encode_bulk(&words, reason);
    struct extent body =
        extent_copy(loop_chunks(env->loop), buf_view(&words));
    buf_fini(&words);
    return body;
}

/* `survey`: NULL when nobody waits for the outcome. */
static void
ask_server(struct session *session, struct server *server, uint64_t client_id,
           const struct survey *survey, struct view reason)
{
    struct unblock *unblock = MEM_NEW(struct unblock);
    struct lane_key key = {.db = session->db, .resp = session->resp};

    call_init(&unblock->call, &unblock_call_ops);
    unblock->env = session->pool->env;
    unblock->has_survey = survey != NULL;
    if (survey != NULL)
        unblock->survey = *survey;
    unblock->survey.text = VIEW("");
    unblock->call.body = unblock_words(unblock->env, client_id, reason);
    if (!server_submit(server, key, session->lane_number, &unblock->call))
        unblock_end(unblock, false);
}

/* The request of this session that waits at a server, or NULL. */
static struct request *
waiting_request(struct session *session)
{
    struct request *head;

    if (session == NULL || !blocking_is_on(session))
        return NULL;
    head = TAILQ_FIRST(&session->queue);
    return head->call.state == CALL_SENT && head->call.lane->client_id != 0
        ? head
        : NULL;
}

/* The error that comes of it is no answer, but the reason to go on elsewhere. */
static void
move_waiting(struct session_pool *pool, uint32_t shard)
{
    struct session *session;

    TAILQ_FOREACH(session, &pool->sessions, link)
    {
        struct request *request = waiting_request(session);
        if (request == NULL || request->shard != shard)
            continue;
        blocking_set_moving(session);
        ask_server(session, request_server(request),
                   request->call.lane->client_id, NULL, VIEW("ERROR"));
    }
}

void
unblock_held(struct session_pool *pool)
{
    const struct generation *current = pool->pool->current;

    for (uint32_t i = 0; i < current->shard_count; i++) {
        struct server *server = generation_server(current, i);
        if (likely(!server->is_newly_held))
            continue;
        server->is_newly_held = false;
        move_waiting(pool, i);
    }
}

/* WAIT is to be ended at several servers; what comes of it at the first is what
 * is told. */
struct waits {
    struct session *session;
    const struct survey *survey; /* NULL once a server has been asked */
    struct view reason;
};

static void
end_wait(void *arg, struct server *server, uint64_t client_id)
{
    struct waits *waits = arg;

    ask_server(waits->session, server, client_id, waits->survey,
               waits->reason);
    waits->survey = NULL;
}

static void
end_waits(struct session_pool *pool, struct session *session,
          const struct survey *survey, struct view reason)
{
    struct waits waits = {session, survey, reason};

    if (session != NULL)
        wait_each_place(session, end_wait, &waits);
    if (waits.survey != NULL)
        survey_tell_count(pool->env, survey, 0);
}

void
unblock_survey(struct session_pool *pool, const struct survey *survey)
{
    struct view reason = survey->text, word = view_take(&reason, ' ');
    uint64_t id = 0;

    (void)!view_to_u64(word, &id);
    struct session *session = session_find(pool, id);
    struct request *request = waiting_request(session);
    if (session != NULL &&
        blocking_unblock(session, view_equal_nocase(reason, VIEW("ERROR"))))
        survey_tell_count(pool->env, survey, 1);
    else if (request == NULL)
        end_waits(pool, session, survey, reason);
    else
        ask_server(session, request_server(request),
                   request->call.lane->client_id, survey, reason);
}
