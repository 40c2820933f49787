/*
 * session/wait.c - whom to ask, and counts of replicas.
 */
#include "base/mem.h"
#include "resp/encode.h"
#include "session/blocking.h"
#include "session/deadline.h"
#include "session/replica_read.h"
#include "session/sentence.h"
#include "session/wait_priv.h"

/* --- losses ---------------------------------------------------------------------- */

void
wait_lose(struct session *session, uint64_t marks)
{
    if ((session->written & marks) != 0)
        client_info_of(session)->lost |= session->written & marks;
    session->written &= ~marks;
}

void
wait_note_loss(struct session *session, const struct server *server)
{
    wait_lose(session, server->mark);
}

void
wait_note_elsewhere(struct session *session, uint64_t marks)
{
    client_info_of(session)->elsewhere |= marks;
}

/* Of servers where its writes go over its own lanes. */
static uint64_t
own_marks(const struct session *session)
{
    const struct wait_lane *own;
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
            wait_lose(session, marks & ~own_marks(session));
    }
}

/* --- the answer ------------------------------------------------------------------- */

static struct view
find_error(const struct wait *wait)
{
    const struct wait_lane *own;

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
    const struct wait_lane *own;
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
        wait->session->info->lost = wait->session->info->elsewhere = 0;
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

void
wait_take_answer(struct wait_lane *own)
{
    struct wait *wait = own->wait;

    own->is_asked = false;
    if (--wait->left == 0)
        finish(wait);
}

/* --- asking -------------------------------------------------------------------------- */

static void
begin_look(struct wait_lane *own)
{
    struct wait *wait = own->wait;
    const struct client_info *info = wait->session->info;
    uint64_t now_us = loop_now_us(wait->session->pool->env->loop);

    if (likely(info == NULL || (info->elsewhere & own->server->mark) == 0))
        return;
    if (wait->may_look)
        wait_look_begin(&own->look, wait->wanted, wait->timeout_ms, now_us);
    else
        wait->is_zero = true; /* nothing tells of files; or it is malformed */
}

static void
ask_over(struct wait *wait, uint32_t shard, bool is_scripting)
{
    struct server *server = generation_server(wait->session->generation, shard);
    struct lane_key key =
        attempt_lane_key(wait->session, &wait->request->attempt);

    key.is_scripting = is_scripting;
    struct wait_lane *own = wait_lane_find(wait, server, key);
    if (own == NULL) {
        own = wait_lane_new(wait, server, key);
        wait_lane_lease(own);
    }
    wait->left++;
    own->is_asked = true;
    own->shard = shard;
    begin_look(own);
    wait_lane_ask(own);
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
    struct wait_lane *own = LIST_FIRST(&wait->lanes);

    while (own != NULL) {
        struct wait_lane *next = LIST_NEXT(own, link);
        own->reply.len = 0;
        if (own->lease.lane == NULL)
            wait_lane_free(own);
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

void
wait_note_own(struct session *session)
{
    (void)wait_of(session);
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
    wait->may_look = in->command->id == COMMAND_ID_WAIT &&
        view_to_i64(command_arg(&in->args, 1), &wait->wanted) &&
        view_to_i64(command_arg(&in->args, 2), &wait->timeout_ms) &&
        wait->timeout_ms >= 0;
    wait->is_zero = session->info != NULL &&
        (session->info->lost & ~session->written) != 0;
    wait->left = wait->laneless = 1; /* until all have been asked */
    if (session->written != 0)
        ask_written(wait);
    else
        ask_all(wait);
    wait->laneless--;
    if (--wait->left == 0)
        finish(wait);
    else if (wait->laneless == 0)
        blocking_begin(wait->request, NULL);
}

/* --- the end ------------------------------------------------------------------------- */

void
wait_end(struct session *session)
{
    struct wait *wait = session->wait;
    struct wait_lane *own;

    if (likely(wait == NULL))
        return;
    wait->request = NULL;
    wait->left = wait->laneless = 0;
    LIST_FOREACH(own, &wait->lanes, link)
    {
        wait_lane_stop(own);
    }
}

void
wait_leave_lanes(struct session *session)
{
    struct wait_lane *own;

    while (session->wait != NULL &&
           (own = LIST_FIRST(&session->wait->lanes)) != NULL)
        wait_lane_free(own);
}

void
wait_free(struct session *session)
{
    struct wait *wait = session->wait;

    if (likely(wait == NULL))
        return;
    wait_leave_lanes(session);
    mem_free(wait);
    session->wait = NULL;
}

/* Half of them ended would be no end. */
static bool
has_places(const struct wait *wait)
{
    const struct wait_lane *own;

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
    struct wait_lane *own;

    if (session->wait == NULL || !has_places(session->wait))
        return;
    LIST_FOREACH(own, &session->wait->lanes, link)
    {
        if (!own->is_asked)
            continue;
        own->look.is_ended = true;
        visit(arg, own->server, own->lease.lane->client_id);
    }
}
