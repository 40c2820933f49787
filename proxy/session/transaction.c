/*
 * session/transaction.c - queueing commands, and sending them in one piece.
 */
#include "session/transaction.h"

#include "base/mem.h"
#include "command/keys.h"
#include "command/refuse.h"
#include "resp/encode.h"
#include "session/deadline.h"
#include "session/direct.h"
#include "session/holding.h"
#include "session/replica_read.h"
#include "session/blocking.h"
#include "session/trail.h"
#include "session/transaction_priv.h"
#include "session/unfold.h"
#include "session/key_watch.h"

#define LOST_TEXT                                                            \
    "ERR proxy: the connection of this transaction was lost, with what was " \
    "queued over it"
#define ABORT_TEXT "EXECABORT Transaction discarded because of previous errors."
#define EXEC_WORDS "*1\r\n$4\r\nEXEC\r\n"

void
transaction_answer(const struct incoming *in, struct view reply)
{
    cell_inc(&in->session->pool->stats->requests_local);
    if (!in->session->reply_off)
        request_answer_now(in->session, in->command, reply);
}

/* Refused, as a server would; whether that spoils the transaction is told by
 * what answer_error() is given. */
static void
answer_with_error(const struct incoming *in, const char *text,
                  struct cell *count)
{
    struct buf *out = transaction_scratch(in->session);

    encode_error(out, view_str(text));
    answer_error(in->session, in->command, out, count);
}

/* An error that leaves the transaction as it is. */
static void
complain(const struct incoming *in, const char *text)
{
    struct buf *out = transaction_scratch(in->session);

    encode_error(out, view_str(text));
    transaction_answer(in, buf_view(out));
}

/* --- life ---------------------------------------------------------------------- */

void
transaction_free(struct session *session)
{
    struct transaction *transaction = session->transaction;

    if (transaction == NULL)
        return;
    session->transaction = NULL;
    buf_fini(&transaction->bytes);
    mem_free(transaction->wants);
    mem_free(transaction);
}

void
transaction_abort(struct session *session)
{
    transaction_free(session);
    direct_free(session);
    key_watch_free(session);
}

void
transaction_spoil(struct session *session)
{
    struct transaction *transaction = session->transaction;

    if (likely(transaction == NULL))
        return;
    transaction->is_spoilt = true;
    buf_fini(&transaction->bytes); /* nobody will want it */
}

void
transaction_note_refusal(struct session *session)
{
    struct transaction *transaction = session->transaction;

    if (transaction == NULL)
        return;
    transaction->is_refused = true;
    buf_fini(&transaction->bytes); /* it will not begin anew */
}

void
transaction_note_generation(struct session *session)
{
    if (unlikely(session->transaction != NULL))
        session->transaction->is_stale = true;
    key_watch_note_generation(session);
}

bool
transaction_writes(const struct session *session)
{
    return session->transaction != NULL && session->transaction->writes;
}

bool
transaction_is_barrier(const struct session *session,
                       const struct command *command)
{
    const struct transaction *transaction = session->transaction;

    if (likely(transaction == NULL))
        return false;
    if (command->id == COMMAND_ID_EXEC)
        return transaction->wants != NULL || transaction->is_direct;
    return command->id == COMMAND_ID_DISCARD && transaction->is_direct;
}

int
transaction_count(const struct session *session)
{
    return session->transaction == NULL ? -1 : (int)session->transaction->count;
}

size_t
transaction_bytes(const struct session *session)
{
    return session->transaction == NULL ? 0 : session->transaction->bytes.len;
}

/* --- queueing ------------------------------------------------------------------ */

/* False after having answered. */
static bool
allow_pattern(const struct incoming *in)
{
    const char *pattern = command_pattern_option(in->command, &in->args);

    if (likely(pattern == NULL) || in->session->generation->shard_count == 1)
        return true;
    struct buf *out = transaction_scratch(in->session);
    refuse_sort_pattern(out, pattern);
    answer_error(in->session, in->command, out,
                 &in->session->pool->stats->errors_crossslot);
    return false;
}

/* In a transaction it does not wait; alone it would.  False after having
 * answered. */
static bool
allow_alone(const struct incoming *in)
{
    struct transaction *transaction = in->session->transaction;
    bool waits = ((in->command->flags & COMMAND_BLOCKING) != 0 &&
                  blocking_has_option(in)) ||
        (in->command->class == CLASS_PIN &&
         in->command->id != COMMAND_ID_UNWATCH);

    if (likely(!waits))
        return true;
    if (transaction->is_split) {
        answer_with_error(in,
                          "CROSSSLOT Keys in request don't hash to the same "
                          "slot (proxy: a command that waits needs a "
                          "transaction on one shard)",
                          &in->session->pool->stats->errors_crossslot);
        return false;
    }
    transaction->is_indivisible = true;
    return true;
}

/* False after having answered. */
static bool
allow_size(const struct incoming *in)
{
    struct session *session = in->session;
    const struct pool_settings *settings = session->pool->settings;
    size_t bytes = session->transaction->size + in->bytes.len;
    struct buf *out = transaction_scratch(session);

    if (unlikely(bytes > settings->transaction_limit_bytes)) {
        buf_printf(out,
                   "-ERR proxy: transaction is larger than transaction_limit "
                   "(%llu bytes), command was not executed\r\n",
                   (unsigned long long)settings->transaction_limit_bytes);
        answer_error(session, in->command, out,
                     &session->pool->stats->errors_limit);
        return false;
    }
    if (unlikely(bytes > settings->large_request_bytes) &&
        session_is_short(session) && !direct_is_open(session)) {
        answer_with_error(
            in, "OOM proxy: max_memory is reached, command was not executed",
            &session->pool->stats->errors_memory);
        return false;
    }
    return true;
}

/* Of what its server has been told so much is kept as can be told again. */
static bool
is_too_large(const struct session *session, size_t bytes)
{
    const struct pool_settings *settings = session->pool->settings;

    return direct_is_open(session) &&
        (bytes > settings->retry_buffer_bytes ||
         (bytes > settings->large_request_bytes && session_is_short(session)));
}

static void
keep(const struct incoming *in)
{
    struct transaction *transaction = in->session->transaction;
    const struct extent *bytes = &in->bytes;

    transaction->size += bytes->len;
    scripts_note(in);
    scripts_want(&transaction->wants, in);
    if (transaction->is_refused || transaction->is_forgotten)
        return;
    if (is_too_large(in->session, transaction->bytes.len + bytes->len)) {
        transaction->is_forgotten = true;
        buf_fini(&transaction->bytes);
        return;
    }
    buf_append(&transaction->bytes, bytes->chunk->data + bytes->off,
               bytes->len);
}

/* Does its server judge this command?  Once that, or the proxy, has refused one,
 * it does as long as it has been asked before. */
static bool
goes_direct(const struct session *session)
{
    const struct transaction *transaction = session->transaction;

    if (likely(!transaction->is_direct) || !transaction->is_bound ||
        transaction->is_split || key_watch_is_broken(session))
        return false;
    return direct_is_open(session) ||
        !(transaction->is_spoilt || transaction->is_refused);
}

/* Its lane was lost, and what has been queued over it is not kept.  False: that
 * has been answered. */
static bool
allow_loss(const struct incoming *in)
{
    struct session *session = in->session;
    const struct transaction *transaction = session->transaction;

    if (likely(!transaction->is_forgotten) || transaction->is_spoilt ||
        key_watch_is_broken(session) || direct_is_open(session))
        return true;
    answer_with_error(in, LOST_TEXT ", command was not executed",
                      &session->pool->stats->errors_unreachable);
    return false;
}

/* Where it is placed matters no more, or is found out in the end. */
static void
queue(const struct incoming *in)
{
    struct session *session = in->session;
    struct transaction *transaction = session->transaction;
    size_t from = transaction->bytes.len;

    if (!transaction->is_spoilt) {
        if (!allow_loss(in) || !allow_size(in))
            return;
        keep(in);
    }
    transaction->count++;
    if ((in->command->flags & (COMMAND_WRITE | COMMAND_MAY_REPLICATE)) != 0 &&
        !scripts_only_reads(in))
        transaction->writes = true;
    if (unlikely(transaction->is_split))
        direct_leave(session);
    if (unlikely(goes_direct(session)))
        direct_queue(in, from);
    else
        transaction_answer(in, VIEW("+QUEUED\r\n"));
}

/* Another generation may have its keys elsewhere.  False: on several shards. */
static bool
look_again(struct session *session)
{
    if (!session->transaction->is_stale)
        return true;
    if (!transaction_place_again(session)) {
        direct_leave(session);
        return false;
    }
    direct_settle(session);
    return true;
}

static void
consider(const struct incoming *in)
{
    struct session *session = in->session;

    if (!look_again(session))
        transaction_spoil(session);
    enum fate fate = transaction_fate(in);
    if (fate != FATE_QUEUE && transaction_goes_alone(in)) {
        session->transaction->is_split = true;
        fate = FATE_QUEUE;
    }
    switch (fate) {
    case FATE_QUEUE:
        if (allow_pattern(in) && allow_alone(in) && transaction_bind(in))
            queue(in);
        break;
    case FATE_FORBIDDEN:
        answer_with_error(in, "ERR Command not allowed inside a transaction",
                          &session->pool->stats->errors_refused);
        break;
    case FATE_REFUSE:
        refuse(session, in->command, &in->args);
        break;
    }
}

/* --- sending ------------------------------------------------------------------- */

struct extent
transaction_take_bytes(struct session *session)
{
    struct buf *bytes = &session->transaction->bytes;

    ASSERT(bytes->len > 0); /* as many replies are awaited */
    buf_append_str(bytes, EXEC_WORDS);
    return extent_copy_alone(loop_chunks(session->pool->env->loop),
                             buf_view(bytes));
}

/* Without a key it goes to the first shard, if a cluster has one yet. */
struct place
transaction_place(const struct session *session)
{
    const struct transaction *transaction = session->transaction;
    struct place place = transaction->place;

    if (!transaction->is_bound)
        place.shard = session->generation->shard_count > 0 ? 0 : ROUTE_NONE;
    else if (pool_is_cluster(session->pool->settings))
        place.shard = generation_slot_server(session->generation, place.slot);
    return place;
}

/* One by one, without MULTI and EXEC. */
static void
send_split(const struct incoming *in)
{
    struct session *session = in->session;
    uint32_t count = session->transaction->count;
    struct extent bytes = transaction_take_bytes(session);

    bytes.off += sizeof(MULTI_WORDS) - 1;
    bytes.len -= sizeof(MULTI_WORDS) - 1 + sizeof(EXEC_WORDS) - 1;
    transaction_free(session);
    unfold_begin(in, bytes, count);
}

/* Who names scripts has them, as far as the proxy can help. */
static struct script_wants *
take_wants(struct session *session)
{
    struct script_wants *wants = session->transaction->wants;

    session->transaction->wants = NULL;
    return wants;
}

static void
send_all(const struct incoming *in)
{
    struct session *session = in->session;
    struct place place = transaction_place(session);

    cell_inc(&session->pool->stats->transactions);
    if (session->watch != NULL) {
        uint32_t leading = session->transaction->count + 1;
        struct extent body = transaction_take_bytes(session);
        struct script_wants *wants = take_wants(session);
        transaction_free(session);
        key_watch_exec(in, body, leading, wants);
        return;
    }
    struct request *request = request_new(session, in->command);
    request->attempt.slot = (uint16_t)place.slot;
    request->shard = attempt_place(session, &request->attempt, place.shard);
    request->call.body = transaction_take_bytes(session);
    request->call.leading = session->transaction->count + 1;
    request->wants = take_wants(session);
    session->barrier = session->barrier || request->wants != NULL;
    transaction_free(session);
    request_start_deadline(request);
    if (unlikely(place.shard == ROUTE_NONE))
        holding_take_unserved(request, &request->attempt);
    else
        request_submit(request);
}

static void
discard(const struct incoming *in, const char *why)
{
    cell_inc(&in->session->pool->stats->transactions_discarded);
    direct_leave(in->session);
    transaction_abort(in->session);
    complain(in, why);
}

static void
tell_changed(const struct incoming *in)
{
    cell_inc(&in->session->pool->stats->watches_broken);
    transaction_abort(in->session);
    transaction_answer(in, in->session->resp == 3 ? VIEW("_\r\n")
                                                  : VIEW("*-1\r\n"));
}

/* Its server would say so, if it still has it. */
static bool
is_over(const struct session *session)
{
    const struct transaction *transaction = session->transaction;

    return transaction->is_spoilt ||
        (transaction->is_refused && !direct_is_open(session));
}

/* Its keys are where it is. */
static void
execute(const struct incoming *in)
{
    struct session *session = in->session;
    const struct transaction *transaction = session->transaction;

    if (is_over(session)) {
        discard(in, ABORT_TEXT); /* it is elsewhere now */
    } else if (transaction->is_split) {
        direct_leave(session);
        send_split(in);
    } else if (unlikely(direct_is_open(session))) {
        cell_inc(&session->pool->stats->transactions);
        direct_exec(in);
    } else if (transaction->is_forgotten) {
        discard(in, "EXECABORT Transaction discarded because of: " LOST_TEXT);
    } else {
        send_all(in);
    }
}

static void
exec(const struct incoming *in)
{
    struct session *session = in->session;
    const struct transaction *transaction = session->transaction;

    if (transaction == NULL) {
        complain(in, "ERR EXEC without MULTI");
    } else if (is_over(session)) {
        discard(in, ABORT_TEXT);
    } else if (key_watch_is_broken(session)) {
        tell_changed(in);
    } else if (transaction->count == 0 && session->watch == NULL) {
        transaction_free(session);
        transaction_answer(in, VIEW("*0\r\n"));
    } else if (!look_again(session)) {
        discard(in,
                "EXECABORT Transaction discarded because of: CROSSSLOT "
                "proxy: its keys are on several shards since the pool "
                "has changed");
    } else {
        execute(in);
    }
}

static void
discard_as_asked(const struct incoming *in)
{
    struct session *session = in->session;
    bool is_open = direct_is_open(session);

    direct_leave(session);
    transaction_free(session);
    key_watch_end(in, is_open);
}

/* --- the door ------------------------------------------------------------------ */

/* Then its server judges what has no key as well. */
static void
bind_to_the_only_one(struct session *session)
{
    struct transaction *transaction = session->transaction;

    if (transaction->is_direct && !transaction->is_bound &&
        session->generation->shard_count == 1 &&
        !pool_is_cluster(session->pool->settings))
        transaction->is_bound = true;
}

static void
multi(const struct incoming *in)
{
    struct session *session = in->session;

    if (session->transaction != NULL) {
        complain(in, "ERR MULTI calls can not be nested");
        return;
    }
    session->transaction = MEM_NEW(struct transaction);
    session->transaction->is_bound =
        key_watch_place(session, &session->transaction->place);
    buf_append_str(&session->transaction->bytes, MULTI_WORDS);
    session->transaction->size = sizeof(MULTI_WORDS) - 1;
    session->transaction->is_direct =
        session->pool->settings->transactions == TRANSACTIONS_DIRECT &&
        !trail_is_on(session); /* its own lane has all of its commands */
    bind_to_the_only_one(session);
    transaction_answer(in, VIEW("+OK\r\n"));
}

bool
transaction_act(const struct incoming *in)
{
    struct session *session = in->session;

    switch ((int)in->command->id) {
    case COMMAND_ID_MULTI:
        multi(in);
        return true;
    case COMMAND_ID_EXEC:
        exec(in);
        return true;
    case COMMAND_ID_DISCARD:
        if (session->transaction == NULL) {
            complain(in, "ERR DISCARD without MULTI");
            return true;
        }
        discard_as_asked(in);
        return true;
    case COMMAND_ID_QUIT:
    case COMMAND_ID_RESET:
        return false;
    case COMMAND_ID_WATCH:
        if (session->transaction == NULL) {
            key_watch_begin(in);
            return true;
        }
        complain(in, "ERR WATCH inside MULTI is not allowed");
        return true;
    default:
        if (session->transaction == NULL) {
            if (in->command->id != COMMAND_ID_UNWATCH)
                return false;
            key_watch_end(in, false);
            return true;
        }
        consider(in);
        return true;
    }
}
