/*
 * session/wait_lane.c - lanes of a session's own, and WAIT on its way over one.
 */
#include "base/mem.h"
#include "resp/encode.h"
#include "session/blocking.h"
#include "session/sentence.h"
#include "session/trail.h"
#include "session/wait_priv.h"

#define PING_WORDS "*1\r\n$4\r\nPING\r\n"
#define ID_WORDS "*2\r\n$6\r\nCLIENT\r\n$2\r\nID\r\n"

/* --- the calls ----------------------------------------------------------------------- */

static void set_body(struct wait_lane *own);

/* What was said of replicas.  False: there is no answer in it yet, and it was
 * asked again. */
static bool
take_look(struct wait_lane *own)
{
    struct buf answer = {0};
    uint64_t now_us = loop_now_us(own->wait->session->pool->env->loop);
    bool is_over =
        wait_look_take(&own->look, buf_view(&own->reply), now_us, &answer);

    buf_fini(&own->reply);
    own->reply = answer;
    if (is_over)
        return true;
    set_body(own);
    lane_submit(own->lease.lane, &own->call);
    return false;
}

static void
on_reply(struct call *call, const struct reply_piece *piece)
{
    struct wait_lane *own = CONTAINER_OF(call, struct wait_lane, call);

    if (!own->is_asked)
        return;
    own->is_too_long |= own->reply.len + piece->len > WAIT_ANSWER_MAX;
    if (!own->is_too_long)
        buf_append(&own->reply, piece->chunk->data + piece->off, piece->len);
    if (!piece->last)
        return;
    if (unlikely(own->is_too_long)) {
        own->reply.len = 0;
        own->wait->is_zero = true;
    }
    if (likely(!own->look.is_on) || own->is_too_long || take_look(own))
        wait_take_answer(own);
}

static void
on_lost(struct call *call, enum close_reason why UNUSED, bool sent UNUSED)
{
    struct wait_lane *own = CONTAINER_OF(call, struct wait_lane, call);

    if (!own->is_asked)
        return;
    own->wait->is_zero = true;
    own->reply.len = 0;
    wait_take_answer(own);
}

/* "+PONG", or the number by which WAIT can be ended. */
static void
on_leading(struct call *call, const struct reply_piece *piece)
{
    struct wait_lane *own = CONTAINER_OF(call, struct wait_lane, call);
    struct view reply = view_of(piece->chunk->data + piece->off, piece->len);
    struct view line = view_take(&reply, '\r');

    bool is_front = !own->look.is_on || own->look.led < own->look.front;
    if (own->look.is_on)
        wait_look_lead(&own->look,
                       view_of(piece->chunk->data + piece->off, piece->len),
                       piece->last);
    if (!is_front || own->lease.lane == NULL || line.len < 2 ||
        line.data[0] != ':')
        return;
    (void)!view_to_u64(view_of(line.data + 1, line.len - 1),
                       &own->lease.lane->client_id);
}

static const struct call_ops own_call_ops = {
    .on_reply = on_reply,
    .on_lost = on_lost,
    .on_leading = on_leading,
};

static void
set_body(struct wait_lane *own)
{
    const struct request *request = own->wait->request;
    struct view words = extent_view(&request->call.body);
    bool has_id = own->lease.lane->client_id != 0;
    struct buf out = {0};

    own->is_too_long = false;
    chunk_unref(&own->call.body.chunk);
    call_init(&own->call, &own_call_ops);
    own->call.leading = has_id ? 1 : 2;
    buf_append_str(&out, has_id ? PING_WORDS : PING_WORDS ID_WORDS);
    if (own->look.is_on)
        own->call.leading =
            wait_look_ask(&own->look, own->call.leading, words, &out);
    else
        buf_append_view(&out, words);
    own->call.body = extent_copy_alone(loop_chunks(request->pool->env->loop),
                                       buf_view(&out));
    buf_fini(&out);
}

static void
submit_now(struct wait_lane *own)
{
    struct wait *wait = own->wait;

    set_body(own);
    lane_submit(own->lease.lane, &own->call);
    if (wait->laneless == 0)
        blocking_begin(wait->request, NULL);
}

/* --- the lanes ----------------------------------------------------------------------- */

/* There is no way to its server. */
static void
fail_unreachable(struct wait_lane *own)
{
    const struct request *request = own->wait->request;

    encode_error(&own->reply, request_text_unreachable(request, own->shard));
    wait_take_answer(own);
}

static void
on_lane(struct lane_lease *lease)
{
    struct wait_lane *own = CONTAINER_OF(lease, struct wait_lane, lease);

    own->wait->laneless--;
    if (lease->lane != NULL)
        submit_now(own);
    else
        fail_unreachable(own);
}

/* Its call, if it is on its way, is told by itself. */
static void
on_gone(struct lane_lease *lease)
{
    struct wait_lane *own = CONTAINER_OF(lease, struct wait_lane, lease);

    wait_lose(own->wait->session, own->server->mark);
    own->server = NULL;
    if (own->is_asked && own->call.state == CALL_IDLE) {
        own->wait->laneless--;
        own->wait->is_zero = true;
        wait_take_answer(own);
    }
}

struct wait_lane *
wait_lane_new(struct wait *wait, struct server *server, struct lane_key key)
{
    struct wait_lane *own = MEM_NEW(struct wait_lane);

    own->wait = wait;
    own->server = server;
    own->lease.key = key;
    own->lease.on_lane = on_lane;
    own->lease.on_gone = on_gone;
    LIST_INSERT_HEAD(&wait->lanes, own, link);
    return own;
}

void
wait_lane_stop(struct wait_lane *own)
{
    struct lane *lane = own->lease.lane;

    own->is_asked = false;
    buf_fini(&own->reply);
    wait_look_end(&own->look);
    if (own->call.state != CALL_IDLE)
        lane_close(&lane, CLOSE_LANE_UNCLEAN);
    else if (own->lease.is_waiting)
        server_end_lease(own->server, &own->lease);
}

void
wait_lane_free(struct wait_lane *own)
{
    wait_lane_stop(own);
    if (own->lease.lane != NULL)
        server_end_lease(own->server, &own->lease);
    LIST_REMOVE(own, link);
    chunk_unref(&own->call.body.chunk);
    mem_free(own);
}

struct wait_lane *
wait_lane_find(const struct wait *wait, const struct server *server,
               struct lane_key key)
{
    struct wait_lane *own;

    LIST_FOREACH(own, &wait->lanes, link)
    {
        if (own->server == server && own->lease.lane != NULL &&
            lane_key_equal(own->lease.key, key))
            break;
    }
    return own;
}

static struct lane *
lane_to(const struct session *session, const struct server *server,
        struct lane_key key)
{
    const struct wait_lane *own =
        session->wait == NULL ? NULL
                              : wait_lane_find(session->wait, server, key);

    return own == NULL ? NULL : own->lease.lane;
}

/* A server that is off refuses all, at once. */
struct lane *
wait_lane(const struct session *session, const struct server *server,
          struct lane_key key)
{
    return server_is_off(server) ? NULL : lane_to(session, server, key);
}

bool
wait_submit_slow(struct request *request, struct server *server,
                 struct lane_key key, struct call *call)
{
    struct session *session = request->session;

    if (trail_takes(request, server, key, call)) {
        wait_note_elsewhere(session, server->mark);
        return true;
    }
    struct lane *own = wait_lane(session, server, key);
    if (own != NULL)
        lane_submit(own, call);
    else if (!server_submit(server, key, session->lane_number, call))
        return false;
    if (!key.is_aside && key.user != LOGIN_ASKING)
        trail_note_detour(session, server);
    return true;
}


/* As server_end_lease() has it: what is not clean is of no use. */
void
wait_release_lane(const struct session *session, const struct server *server,
                  struct lane_key key)
{
    struct lane *lane = lane_to(session, server, key);

    if (lane != NULL && !lane_is_clean(lane))
        lane_close(&lane, CLOSE_LANE_UNCLEAN);
}

void
wait_lane_lease(struct wait_lane *own)
{
    struct session *session = own->wait->session;

    if (server_is_off(own->server))
        return;
    if (!server_take_shared(own->server, session->lane_number, &own->lease))
        server_lease(own->server, &own->lease);
}

void
wait_lane_ask(struct wait_lane *own)
{
    if (own->lease.is_waiting)
        own->wait->laneless++;
    else if (own->lease.lane != NULL && !server_is_off(own->server))
        submit_now(own);
    else
        fail_unreachable(own);
}
