/*
 * session/wait.c - lanes of a session's own, and counts of replicas.
 */
#include "session/wait.h"

#include <string.h>

#include "base/mem.h"
#include "resp/encode.h"
#include "session/blocking.h"
#include "session/deadline.h"
#include "session/sentence.h"

#define PING_WORDS "*1\r\n$4\r\nPING\r\n"
#define ID_WORDS "*2\r\n$6\r\nCLIENT\r\n$2\r\nID\r\n"

struct own_lane {
    LIST_ENTRY(own_lane) link;
    struct lane_lease lease;
    struct server *server; /* whose it is or shall be; NULL: it is lost */
    uint32_t shard;        /* in the generation by which it was asked last */
    struct wait *wait;
    struct call call;      /* WAIT, on its way */
    bool is_asked;         /* its answer is still to come */
    struct buf reply;      /* ... or is here; empty: there is none */
};

struct wait {
    struct session *session;
    LIST_HEAD(, own_lane) lanes;
    struct request *request; /* WAIT, while it is unanswered */
    uint32_t left;           /* lanes that are asked */
    uint32_t laneless;       /* of these, that are waited for */
    bool is_zero;            /* something is lost */
};

static const struct call_ops own_call_ops;

/* --- losses ---------------------------------------------------------------------- */

static void
lose(struct session *session, uint64_t marks)
{
    if ((session->written & marks) != 0)
        client_info_of(session)->lost |= session->written & marks;
    session->written &= ~marks;
}

/* Of servers where its writes go over its own lanes. */
static uint64_t
own_marks(const struct session *session)
{
    const struct own_lane *own;
    uint64_t marks = 0;

    if (session->wait == NULL)
        return 0;
    LIST_FOREACH(own, &session->wait->lanes, link)
    {
        if (own->lease.lane != NULL)
            marks |= own->server->mark;
    }
    return marks;
}

void
wait_note_losses(struct session_pool *pool)
{
    uint64_t marks = pool->pool->lost_marks;
    struct session *session;

    pool->pool->lost_marks = 0;
    TAILQ_FOREACH(session, &pool->sessions, link)
    {
        if ((session->written & marks) != 0)
            lose(session, marks & ~own_marks(session));
    }
}

/* --- the answer ------------------------------------------------------------------- */

static struct view
find_error(const struct wait *wait)
{
    const struct own_lane *own;

    LIST_FOREACH(own, &wait->lanes, link)
    {
        if (own->reply.len > 0 && own->reply.data[0] == '-')
            return buf_view(&own->reply);
    }
    return VIEW("");
}

/* The number at the front of `rest`, behind ':', which is taken off. */
static int64_t
take_number(struct view *rest)
{
    struct view line = view_take(rest, '\n');
    int64_t number = 0;

    if (line.len < 2 || line.data[0] != ':' ||
        !view_to_i64(view_of(line.data + 1, line.len - 2), &number))
        return 0;
    return number;
}

/* The least of all, one number or two. */
static void
count(const struct wait *wait, int64_t *least, unsigned numbers)
{
    const struct own_lane *own;
    bool is_first = true;

    LIST_FOREACH(own, &wait->lanes, link)
    {
        struct view rest = buf_view(&own->reply);
        if (rest.len == 0)
            continue;
        if (numbers > 1)
            (void)view_take(&rest, '\n');
        for (unsigned i = 0; i < numbers; i++) {
            int64_t number = take_number(&rest);
            least[i] = is_first ? number : MIN(least[i], number);
        }
        is_first = false;
    }
}

static void
answer_count(struct wait *wait)
{
    bool is_pair = wait->request->command->id == COMMAND_ID_WAITAOF;
    int64_t least[2] = {0, 0};
    struct buf reply = {0};

    if (!wait->is_zero)
        count(wait, least, is_pair ? 2 : 1);
    else
        cell_inc(&wait->request->pool->stats->waits_lost);
    if (is_pair)
        encode_array(&reply, 2);
    for (unsigned i = 0; i < (is_pair ? 2u : 1u); i++)
        encode_integer(&reply, least[i]);
    wait->session->written = 0;
    if (wait->session->info != NULL)
        wait->session->info->lost = 0;
    request_answer(wait->request, buf_view(&reply));
    buf_fini(&reply);
}

static void
finish(struct wait *wait)
{
    struct view error = find_error(wait);

    if (error.len == 0) {
        answer_count(wait);
        return;
    }
    wait->request->reply_type = '-';
    wait->request->error =
        error_stats_find(&wait->request->pool->stats->errors, error);
    request_answer(wait->request, error);
}

/* One answer more is there, or will not come. */
static void
take_answer(struct own_lane *own)
{
    struct wait *wait = own->wait;

    own->is_asked = false;
    if (--wait->left == 0)
        finish(wait);
}

/* --- the calls ----------------------------------------------------------------------- */

static void
on_reply(struct call *call, const struct reply_piece *piece)
{
    struct own_lane *own = CONTAINER_OF(call, struct own_lane, call);

    if (!own->is_asked)
        return;
    buf_append(&own->reply, piece->chunk->data + piece->off, piece->len);
    if (piece->last)
        take_answer(own);
}

static void
on_lost(struct call *call, enum close_reason why UNUSED, bool sent UNUSED)
{
    struct own_lane *own = CONTAINER_OF(call, struct own_lane, call);

    if (!own->is_asked)
        return;
    own->wait->is_zero = true;
    own->reply.len = 0;
    take_answer(own);
}

/* "+PONG", or the number by which WAIT can be ended. */
static void
on_leading(struct call *call, const struct reply_piece *piece)
{
    struct own_lane *own = CONTAINER_OF(call, struct own_lane, call);
    struct view reply = view_of(piece->chunk->data + piece->off, piece->len);
    struct view line = view_take(&reply, '\r');

    if (own->lease.lane == NULL || line.len < 2 || line.data[0] != ':')
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
set_body(struct own_lane *own)
{
    const struct request *request = own->wait->request;
    const struct extent *words = &request->call.body;
    bool has_id = own->lease.lane->client_id != 0;
    const char *front = has_id ? PING_WORDS : PING_WORDS ID_WORDS;
    size_t len = strlen(front);
    struct chunk *chunk = chunk_new_exact(
        loop_chunks(request->pool->env->loop), len + words->len);

    memcpy(chunk->data, front, len);
    memcpy(chunk->data + len, words->chunk->data + words->off, words->len);
    chunk->fill = (uint32_t)(len + words->len);
    chunk_unref(&own->call.body.chunk);
    call_init(&own->call, &own_call_ops);
    own->call.body = (struct extent){chunk, 0, chunk->fill};
    own->call.leading = has_id ? 1 : 2;
}

static void
submit_now(struct own_lane *own)
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
fail_unreachable(struct own_lane *own)
{
    const struct request *request = own->wait->request;

    encode_error(&own->reply, request_text_unreachable(request, own->shard));
    take_answer(own);
}

static void
on_lane(struct lane_lease *lease)
{
    struct own_lane *own = CONTAINER_OF(lease, struct own_lane, lease);

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
    struct own_lane *own = CONTAINER_OF(lease, struct own_lane, lease);

    lose(own->wait->session, own->server->mark);
    own->server = NULL;
    if (own->is_asked && own->call.state == CALL_IDLE) {
        own->wait->laneless--;
        own->wait->is_zero = true;
        take_answer(own);
    }
}

static struct own_lane *
own_lane_new(struct wait *wait, struct server *server, struct lane_key key)
{
    struct own_lane *own = MEM_NEW(struct own_lane);

    own->wait = wait;
    own->server = server;
    own->lease.key = key;
    own->lease.on_lane = on_lane;
    own->lease.on_gone = on_gone;
    LIST_INSERT_HEAD(&wait->lanes, own, link);
    return own;
}

/* Nobody waits for its answer any more. */
static void
own_lane_stop(struct own_lane *own)
{
    struct lane *lane = own->lease.lane;

    own->is_asked = false;
    buf_fini(&own->reply);
    if (own->call.state != CALL_IDLE)
        lane_close(&lane, CLOSE_LANE_UNCLEAN);
    else if (own->lease.is_waiting)
        server_end_lease(own->server, &own->lease);
}

static void
own_lane_free(struct own_lane *own)
{
    own_lane_stop(own);
    if (own->lease.lane != NULL)
        server_end_lease(own->server, &own->lease);
    LIST_REMOVE(own, link);
    chunk_unref(&own->call.body.chunk);
    mem_free(own);
}

static struct own_lane *
find_own(const struct wait *wait, const struct server *server,
         struct lane_key key)
{
    struct own_lane *own;

    LIST_FOREACH(own, &wait->lanes, link)
    {
        if (own->server == server && own->lease.lane != NULL &&
            lane_key_equal(own->lease.key, key))
            break;
    }
    return own;
}

bool
wait_takes(struct session *session, struct server *server, struct lane_key key,
           struct call *call)
{
    struct own_lane *own = find_own(session->wait, server, key);

    if (own == NULL)
        return false;
    lane_submit(own->lease.lane, call);
    return true;
}

/* --- asking -------------------------------------------------------------------------- */

static void
lease(struct own_lane *own)
{
    struct session *session = own->wait->session;

    if (!server_take_shared(own->server, session->lane_number, &own->lease))
        server_lease(own->server, &own->lease);
}

static void
ask_over(struct wait *wait, uint32_t shard, bool is_scripting)
{
    struct server *server = generation_server(wait->session->generation, shard);
    struct lane_key key = {.db = wait->session->db,
                           .resp = wait->session->resp,
                           .is_scripting = is_scripting};
    struct own_lane *own = find_own(wait, server, key);

    if (own == NULL) {
        own = own_lane_new(wait, server, key);
        lease(own);
    }
    wait->left++;
    own->is_asked = true;
    own->shard = shard;
    if (own->lease.is_waiting)
        wait->laneless++;
    else if (own->lease.lane != NULL)
        submit_now(own);
    else
        fail_unreachable(own);
}

/* Its last write may have gone over either kind of lane. */
static void
ask(struct wait *wait, uint32_t shard)
{
    ask_over(wait, shard, false);
    if (wait->session->has_scripted)
        ask_over(wait, shard, true);
}

static void
ask_all(struct wait *wait)
{
    const struct generation *generation = wait->session->generation;

    for (uint32_t i = 0; i < generation->shard_count; i++)
        ask(wait, i);
}

/* Those that it has written to, whatever they are now. */
static void
ask_written(struct wait *wait)
{
    struct session *session = wait->session;
    const struct generation *generation = session->generation;
    uint64_t missing = session->written;

    for (uint32_t i = 0; i < generation->server_count; i++) {
        uint64_t mark = generation_server(generation, i)->mark;
        if ((session->written & mark) == 0)
            continue;
        missing &= ~mark;
        ask(wait, i);
    }
    wait->is_zero |= missing != 0;
}

/* Lanes that have gone since, and those to servers that have not been reached. */
static void
sweep(struct wait *wait)
{
    struct own_lane *own = LIST_FIRST(&wait->lanes);

    while (own != NULL) {
        struct own_lane *next = LIST_NEXT(own, link);
        own->reply.len = 0;
        if (own->lease.lane == NULL)
            own_lane_free(own);
        own = next;
    }
}

static struct wait *
wait_of(struct session *session)
{
    if (session->wait == NULL) {
        session->wait = MEM_NEW(struct wait);
        session->wait->session = session;
        LIST_INIT(&session->wait->lanes);
    }
    return session->wait;
}

static struct request *
new_request(const struct incoming *in)
{
    struct request *request = request_new(in->session, in->command);

    request->call.body = in->bytes;
    chunk_ref(in->bytes.chunk);
    request_start_deadline(request);
    blocking_prepare(request, in);
    return request;
}

void
wait_begin(const struct incoming *in)
{
    struct session *session = in->session;
    struct wait *wait = wait_of(session);

    wait_note_losses(session->pool);
    sweep(wait);
    wait->request = new_request(in);
    cell_inc(&session->pool->stats->waits);
    if (session->generation->shard_count == 0) {
        request_fail(wait->request, request_text_no_map(wait->request));
        return;
    }
    wait->is_zero = session->info != NULL &&
        (session->info->lost & ~session->written) != 0;
    wait->left = 1; /* until all have been asked */
    if (session->written != 0)
        ask_written(wait);
    else
        ask_all(wait);
    if (--wait->left == 0)
        finish(wait);
}

/* --- the end ------------------------------------------------------------------------- */

void
wait_end(struct session *session)
{
    struct wait *wait = session->wait;
    struct own_lane *own;

    if (likely(wait == NULL))
        return;
    wait->request = NULL;
    wait->left = wait->laneless = 0;
    LIST_FOREACH(own, &wait->lanes, link)
    {
        own_lane_stop(own);
    }
}

void
wait_free(struct session *session)
{
    struct wait *wait = session->wait;
    struct own_lane *own;

    if (likely(wait == NULL))
        return;
    while ((own = LIST_FIRST(&wait->lanes)) != NULL)
        own_lane_free(own);
    mem_free(wait);
    session->wait = NULL;
}

/* Half of them ended would be no end. */
static bool
has_places(const struct wait *wait)
{
    const struct own_lane *own;

    LIST_FOREACH(own, &wait->lanes, link)
    {
        if (own->is_asked &&
            (own->call.state != CALL_SENT || own->lease.lane == NULL ||
             own->lease.lane->client_id == 0))
            return false;
    }
    return true;
}

void
wait_each_place(struct session *session, wait_place_fn visit, void *arg)
{
    struct own_lane *own;

    if (session->wait == NULL || !has_places(session->wait))
        return;
    LIST_FOREACH(own, &session->wait->lanes, link)
    {
        if (own->is_asked)
            visit(arg, own->server, own->lease.lane->client_id);
    }
}
