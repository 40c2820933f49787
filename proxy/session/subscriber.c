/*
 * session/subscriber.c - what a client listens to, and what it is told.
 */
#include "session/subscriber.h"

#include "base/mem.h"
#include "command/refuse.h"
#include "resp/encode.h"
#include "session/body_words.h"
#include "session/deadline.h"
#include "session/departure.h"
#include "session/identity.h"
#include "session/relay.h"
#include "session/sentence.h"
#include "session/tracker.h"
#include "session/transaction.h"

/* --- which command -------------------------------------------------------------- */

static const struct {
    enum command_id id;
    enum topic_kind kind;
    bool leaves;
    struct view word; /* in what confirms it */
} rows[] = {
    {COMMAND_ID_SUBSCRIBE, TOPIC_CHANNEL, false, {"subscribe", 9}},
    {COMMAND_ID_PSUBSCRIBE, TOPIC_PATTERN, false, {"psubscribe", 10}},
    {COMMAND_ID_SSUBSCRIBE, TOPIC_SHARD, false, {"ssubscribe", 10}},
    {COMMAND_ID_UNSUBSCRIBE, TOPIC_CHANNEL, true, {"unsubscribe", 11}},
    {COMMAND_ID_PUNSUBSCRIBE, TOPIC_PATTERN, true, {"punsubscribe", 12}},
    {COMMAND_ID_SUNSUBSCRIBE, TOPIC_SHARD, true, {"sunsubscribe", 12}},
};

static size_t
row_of(const struct command *command)
{
    size_t i = 0;

    while (rows[i].id != command->id)
        i++;
    return i;
}

/* --- what is heard ---------------------------------------------------------------- */

/* Whoever has gone over to another user goes on listening as the one before. */
static struct board *
board_of(struct session *session)
{
    return session->subscriber != NULL
        ? session->subscriber->board
        : board_get(session->pool, identity_number(session));
}

struct subscriber *
subscriber_get(struct session *session)
{
    if (session->subscriber != NULL)
        return session->subscriber;
    struct subscriber *subscriber = MEM_NEW(struct subscriber);
    subscriber->session = session;
    subscriber->board = board_of(session);
    subscriber->board->subscribers++;
    session->subscriber = subscriber;
    return subscriber;
}

static struct hearing *
find(const struct subscriber *subscriber, enum topic_kind kind,
     struct view name)
{
    struct dict_entry *entry = dict_find(&subscriber->heard[kind], name);

    return entry == NULL ? NULL : CONTAINER_OF(entry, struct hearing, entry);
}

/* Begin to hear of it, if that is new. */
static void
hear(struct subscriber *subscriber, enum topic_kind kind, struct view name)
{
    if (find(subscriber, kind, name) != NULL)
        return;
    struct topic *topic = board_topic(subscriber->board, kind, name);
    struct hearing *hearing = MEM_NEW(struct hearing);
    hearing->topic = topic;
    hearing->subscriber = subscriber;
    hearing->entry.key = topic_name(topic);
    bool is_first = LIST_EMPTY(&topic->hearings);
    LIST_INSERT_HEAD(&topic->hearings, hearing, link);
    dict_add(&subscriber->heard[kind], &hearing->entry);
    if (is_first)
        topic_place(topic);
    hearing->is_settled = topic_is_settled(topic);
    subscriber->missing += !hearing->is_settled;
}

static void
tell(struct hearing *hearing)
{
    struct subscriber *subscriber = hearing->subscriber;
    const struct topic *topic = hearing->topic;

    if (hearing->is_told)
        return;
    hearing->is_told = true;
    subscriber->told[topic->kind]++;
    audience_add_client(subscriber->board->audience, topic->kind,
                        topic_name(topic), 1);
    cell_inc(&subscriber->session->pool->stats->subscriptions);
}

static void
unhear(struct hearing *hearing)
{
    struct subscriber *subscriber = hearing->subscriber;
    struct topic *topic = hearing->topic;

    if (hearing->is_told) {
        subscriber->told[topic->kind]--;
        audience_add_client(subscriber->board->audience, topic->kind,
                            topic_name(topic), -1);
        cell_dec(&subscriber->session->pool->stats->subscriptions);
    }
    subscriber->missing -= !hearing->is_settled;
    dict_remove(&subscriber->heard[topic->kind], &hearing->entry);
    LIST_REMOVE(hearing, link);
    mem_free(hearing);
    topic_release(topic);
}

/* All of a kind; or only what the client has not been told of. */
static void
unhear_all(struct subscriber *subscriber, enum topic_kind kind, bool untold)
{
    struct dict_entry *entry = dict_next(&subscriber->heard[kind], NULL);

    while (entry != NULL) {
        struct hearing *hearing = CONTAINER_OF(entry, struct hearing, entry);
        entry = dict_next(&subscriber->heard[kind], entry);
        if (!untold || !hearing->is_told)
            unhear(hearing);
    }
}

static bool
hears_nothing(const struct subscriber *subscriber)
{
    for (int kind = 0; kind < TOPIC_KINDS; kind++) {
        if (subscriber->heard[kind].count > 0)
            return false;
    }
    return true;
}

void
subscriber_free_if_done(struct session *session)
{
    struct subscriber *subscriber = session->subscriber;

    if (subscriber != NULL && hears_nothing(subscriber) &&
        subscriber->request == NULL && subscriber->tracker == NULL &&
        subscriber->target == NULL &&
        chain_is_empty(&subscriber->held))
        subscriber_free(session);
}

/* --- confirming --------------------------------------------------------------------- */

/* Shard channels are counted by themselves. */
static uint32_t
count_for(const struct session *session, enum topic_kind kind)
{
    if (kind == TOPIC_SHARD)
        return subscriber_count(session, kind);
    return subscriber_count(session, TOPIC_CHANNEL) +
        subscriber_count(session, TOPIC_PATTERN);
}

/* `name` without data stands for none. */
static void
confirm(const struct session *session, size_t row, struct view name,
        struct buf *out)
{
    encode_push(out, session->resp, 3);
    encode_bulk(out, rows[row].word);
    if (name.data == NULL)
        encode_null(out, session->resp);
    else
        encode_bulk(out, name);
    encode_integer(out, count_for(session, rows[row].kind));
}

/* All that was asked for, each with the count that it makes. */
static void
confirm_all(const struct session *session, size_t row,
            const struct command_args *args, struct buf *out)
{
    for (uint32_t i = 1; i < args->argc; i++) {
        struct view name = command_arg(args, i);
        tell(find(session->subscriber, rows[row].kind, name));
        confirm(session, row, name, out);
    }
}

/* --- SUBSCRIBE ------------------------------------------------------------------------ */

/* Servers have to confirm something first. */
static struct request *
wait_for_servers(const struct incoming *in)
{
    struct request *request = request_new(in->session, in->command);

    request->call.body = in->bytes;
    chunk_ref(in->bytes.chunk);
    request_weigh(request, in->bytes.len);
    request->refs++;
    in->session->barrier = true;
    request_start_deadline(request);
    return request;
}

static void
answer_now(const struct incoming *in, const struct buf *out)
{
    request_answer_now(in->session, in->command, buf_view(out));
}

static void
begin(const struct incoming *in, size_t row)
{
    struct subscriber *subscriber = subscriber_get(in->session);
    struct buf out = {0};

    for (uint32_t i = 1; i < in->args.argc; i++)
        hear(subscriber, rows[row].kind, command_arg(&in->args, i));
    if (subscriber->missing > 0) {
        subscriber->request = wait_for_servers(in);
        subscriber->request->listens = true;
        return;
    }
    confirm_all(in->session, row, &in->args, &out);
    answer_now(in, &out);
    buf_fini(&out);
}

/* In a cluster they have to be of one slot. */
static bool
is_of_one_slot(const struct incoming *in)
{
    uint32_t slot = route_cluster_slot(command_arg(&in->args, 1));

    for (uint32_t i = 2; i < in->args.argc; i++) {
        if (route_cluster_slot(command_arg(&in->args, i)) != slot)
            return false;
    }
    return true;
}

static bool
is_crossing(const struct incoming *in, size_t row)
{
    return rows[row].kind == TOPIC_SHARD && in->args.argc > 2 &&
        pool_is_cluster(in->session->pool->settings) && !is_of_one_slot(in);
}

static void
refuse_crossing(const struct incoming *in)
{
    struct buf *out = &in->session->pool->env->out;

    out->len = 0;
    refuse_crossslot(out);
    answer_error(in->session, in->command, out,
                 &in->session->pool->stats->errors_crossslot);
}

/* Who listens to nothing yet, but keeps a cache or is told for others. */
static void
change_board(struct subscriber *subscriber, struct board *board)
{
    subscriber->board->subscribers--;
    subscriber->board = board;
    board->subscribers++;
}

/* As servers would judge it: by who it is now. */
static bool
is_of_another_user(struct session *session)
{
    struct subscriber *subscriber = session->subscriber;

    if (subscriber == NULL || subscriber->board->user == session->user)
        return false;
    if (!hears_nothing(subscriber) || subscriber->is_over)
        return true;
    change_board(subscriber, board_get(session->pool, session->user));
    return false;
}

static void
refuse_another_user(const struct incoming *in)
{
    struct buf *out = &in->session->pool->env->out;

    out->len = 0;
    encode_error(out, VIEW("ERR proxy: what this client listens to it has "
                           "subscribed to as another user, unsubscribe first"));
    answer_error(in->session, in->command, out,
                 &in->session->pool->stats->errors_refused);
}

/* --- UNSUBSCRIBE ----------------------------------------------------------------------- */

static void
leave(struct session *session, size_t row, struct view name, struct buf *out)
{
    struct subscriber *subscriber = session->subscriber;
    struct hearing *hearing =
        subscriber == NULL ? NULL : find(subscriber, rows[row].kind, name);

    /* Its name may be all that is left of the topic. */
    char *copy = mem_view_dup(name);
    if (hearing != NULL)
        unhear(hearing);
    confirm(session, row, view_of(copy, name.len), out);
    mem_free(copy);
}

static void
leave_all(struct session *session, size_t row, struct buf *out)
{
    struct subscriber *subscriber = session->subscriber;
    enum topic_kind kind = rows[row].kind;

    if (subscriber_count(session, kind) == 0) {
        confirm(session, row, (struct view){0}, out);
        return;
    }
    while (subscriber->heard[kind].count > 0)
        leave(session, row, dict_next(&subscriber->heard[kind], NULL)->key,
              out);
}

static void
end(const struct incoming *in, size_t row)
{
    struct session *session = in->session;
    struct departure *departure = departure_begin(board_of(session));
    struct buf out = {0};

    if (in->args.argc == 1)
        leave_all(session, row, &out);
    for (uint32_t i = 1; i < in->args.argc; i++)
        leave(session, row, command_arg(&in->args, i), &out);
    subscriber_free_if_done(session);
    if (departure_is_over(&departure))
        answer_now(in, &out);
    else
        departure_wait(departure, wait_for_servers(in), &out);
    buf_fini(&out);
}

void
subscriber_act(const struct incoming *in)
{
    size_t row = row_of(in->command);

    if (is_crossing(in, row))
        refuse_crossing(in);
    else if (rows[row].leaves)
        end(in, row);
    else if (unlikely(is_of_another_user(in->session)))
        refuse_another_user(in);
    else
        begin(in, row);
}

/* --- the request that waits -------------------------------------------------------------- */

/* Take it; NULL when its client does not wait for it any more. */
static struct request *
take_request(struct subscriber *subscriber)
{
    struct request *request = subscriber->request;

    subscriber->request = NULL;
    if (request != NULL && (request->session == NULL || request->done))
        request_unref(&request);
    return request;
}

/* A server that may be one of the pool since the request was taken in only. */
static void
name_shard(struct request *request, uint32_t shard)
{
    request_route_anew(request, request->pool->pool->current);
    request->shard = shard;
}

static void
forget_untold(struct subscriber *subscriber)
{
    for (int kind = 0; kind < TOPIC_KINDS; kind++)
        unhear_all(subscriber, (enum topic_kind)kind, true);
}

static void
finish(struct subscriber *subscriber)
{
    struct session *session = subscriber->session;
    struct request *request = take_request(subscriber);
    struct request_scan scan;
    struct buf out = {0};

    if (request == NULL)
        return;
    struct command_args args = body_words(&scan, &request->call.body);
    confirm_all(session, row_of(request->command), &args, &out);
    request_scan_fini(&scan);
    request->no_reply = false; /* as servers have it */
    request_answer(request, buf_view(&out));
    buf_fini(&out);
    request_unref(&request);
}

void
subscriber_on_settled(struct hearing *hearing)
{
    struct subscriber *subscriber = hearing->subscriber;

    hearing->is_settled = true;
    if (--subscriber->missing == 0)
        finish(subscriber);
}

/* Nothing of it was done. */
void
subscriber_on_refused(struct hearing *hearing, uint32_t shard, struct view text)
{
    struct subscriber *subscriber = hearing->subscriber;
    struct session *session = subscriber->session;
    struct request *request = take_request(subscriber);
    char *words = mem_view_dup(text);

    forget_untold(subscriber);
    subscriber_free_if_done(session);
    if (request != NULL) {
        name_shard(request, shard);
        if (text.len == 0)
            request_fail_unreachable(request);
        else
            request_fail(request, view_of(words, text.len));
        request_unref(&request);
    }
    mem_free(words);
}

static struct server *
find_missing_server(const struct subscriber *subscriber)
{
    for (int kind = 0; kind < TOPIC_KINDS; kind++) {
        const struct dict *heard = &subscriber->heard[kind];
        struct dict_entry *entry = NULL;
        while ((entry = dict_next(heard, entry)) != NULL) {
            const struct hearing *hearing =
                CONTAINER_OF(entry, struct hearing, entry);
            if (!hearing->is_settled)
                return topic_missing_server(hearing->topic);
        }
    }
    return NULL;
}

void
subscriber_on_late(struct request *request)
{
    struct session *session = request->session;
    struct subscriber *subscriber = session->subscriber;
    const struct server *server = find_missing_server(subscriber);
    struct request *waiting = take_request(subscriber);

    forget_untold(subscriber);
    subscriber_free_if_done(session);
    if (server == NULL) {
        request_fail(request, request_text_no_map(request));
    } else {
        name_shard(request, server->shard);
        request_fail(request, request_text_late(request, server->shard, false));
    }
    request_unref(&waiting);
}

/* --- what else it may say ------------------------------------------------------------------ */

uint32_t
subscriber_count(const struct session *session, enum topic_kind kind)
{
    return session->subscriber == NULL ? 0 : session->subscriber->told[kind];
}

bool
subscriber_is_listening(const struct session *session)
{
    const struct subscriber *subscriber = session->subscriber;

    return subscriber != NULL &&
        (subscriber->told[TOPIC_CHANNEL] > 0 ||
         subscriber->told[TOPIC_PATTERN] > 0 ||
         subscriber->told[TOPIC_SHARD] > 0);
}

bool
subscriber_allows_slow(struct session *session, const struct command *command)
{
    struct buf *out = &session->pool->env->out;

    if (!subscriber_is_old_style(session) || subscriber_is_for(command) ||
        command->id == COMMAND_ID_PING || command->id == COMMAND_ID_QUIT ||
        command->id == COMMAND_ID_RESET)
        return true;
    out->len = 0;
    bool is_exec = command->id == COMMAND_ID_EXEC;
    if (is_exec)
        transaction_abort(session);
    buf_printf(out,
               "-%s Can't execute '%s': only (P|S)SUBSCRIBE / "
               "(P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this "
               "context\r\n",
               is_exec ? "EXECABORT Transaction discarded because of:" : "ERR",
               command->name);
    answer_error(session, command, out, &session->pool->stats->errors_refused);
    return false;
}

/* --- the end ------------------------------------------------------------------------------- */

void
subscriber_free(struct session *session)
{
    struct subscriber *subscriber = session->subscriber;

    if (subscriber == NULL)
        return;
    for (int kind = 0; kind < TOPIC_KINDS; kind++)
        unhear_all(subscriber, (enum topic_kind)kind, false);
    tracker_free(subscriber);
    target_free(subscriber);
    if (subscriber->request != NULL)
        request_unref(&subscriber->request);
    if (subscriber->is_over)
        TAILQ_REMOVE(&subscriber->board->over, subscriber, over_link);
    chain_clear(&subscriber->held);
    subscriber->board->subscribers--;
    session->subscriber = NULL;
    mem_free(subscriber);
}

void
subscriber_close(struct subscriber *subscriber, enum close_reason why)
{
    struct session *session = subscriber->session;

    session_close(&session, why);
}
