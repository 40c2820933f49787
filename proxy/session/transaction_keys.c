/*
 * session/transaction_keys.c - on which shard a transaction is.
 */
#include "base/log.h"
#include "command/keys.h"
#include "session/body_words.h"
#include "session/key_watch.h"
#include "session/learning.h"
#include "session/published.h"
#include "session/transaction_priv.h"

#define QUOTED_MAX 96

enum bind_result {
    BIND_OK,
    BIND_ELSEWHERE, /* the key is not where the transaction is */
    BIND_NOWHERE    /* it belongs to no shard */
};

/* What a node has of a slot may change meanwhile. */
static bool
is_elsewhere(const struct session *session, struct place place)
{
    const struct transaction *transaction = session->transaction;

    if (!transaction->is_bound)
        return false;
    return pool_is_cluster(session->pool->settings)
        ? place.slot != transaction->place.slot
        : place.shard != transaction->place.shard;
}

/* Of a key, or of a channel that stands for one. */
static struct place
find_place(struct session *session, const struct command *command,
           struct view key)
{
    return (command->flags & COMMAND_PUBSUB) != 0
        ? published_place(session, command, key)
        : request_place(session, key);
}

static enum bind_result
bind_key(struct session *session, const struct command *command,
         struct view key)
{
    struct transaction *transaction = session->transaction;
    struct place place = find_place(session, command, key);

    if (is_nowhere(session, place))
        return BIND_NOWHERE;
    if (is_elsewhere(session, place))
        return BIND_ELSEWHERE;
    transaction->is_bound = true;
    transaction->place = place;
    return BIND_OK;
}

/* Where each command goes its own way, only its own keys belong together. */
static enum bind_result
bind_keys(struct session *session, const struct command *command,
          const struct command_args *args, const struct key_list *keys,
          struct view *bad_key)
{
    struct transaction *transaction = session->transaction;
    enum bind_result result = BIND_OK;

    for (uint32_t i = 0; i < keys->count && result == BIND_OK; i++) {
        if (transaction->is_split && (i == 0 || command->class == CLASS_SPLIT))
            transaction->is_bound = false;
        *bad_key = command_arg(args, keys->at[i]);
        result = bind_key(session, command, *bad_key);
    }
    return result;
}

bool
transaction_may_split(const struct session *session)
{
    return session->pool->settings->split_transactions &&
        session->watch == NULL && !session->transaction->is_indivisible &&
        !session->transaction->is_forgotten;
}

static const char *
shard_of(const struct session *session, uint32_t shard)
{
    return shard == ROUTE_NONE
        ? "none"
        : generation_server(session->generation, shard)->name;
}

static void
refuse_elsewhere(const struct incoming *in, struct view key)
{
    struct session *session = in->session;
    struct place here = session->transaction->place;
    struct place there = find_place(session, in->command, key);
    struct buf *out = transaction_scratch(session);
    char quoted[QUOTED_MAX];

    log_quote(quoted, sizeof(quoted), key);
    buf_append_str(out,
                   "-CROSSSLOT Keys in request don't hash to the same slot "
                   "(proxy: ");
    if (pool_is_cluster(session->pool->settings))
        buf_printf(out, "key %s is in slot %u, the transaction in slot %u)",
                   quoted, there.slot, here.slot);
    else
        buf_printf(out, "key %s is on shard %s, the transaction on shard %s)",
                   quoted, shard_of(session, there.shard),
                   shard_of(session, here.shard));
    buf_append_str(out, "\r\n");
    answer_error(session, in->command, out,
                 &session->pool->stats->errors_crossslot);
}

/* What says where a command belongs. */
static void
find_keys(const struct session *session, const struct command *command,
          const struct command_args *args, struct key_list *keys)
{
    key_list_init(keys);
    if (command_keys(command, args, keys) == KEYS_MALFORMED)
        keys->count = 0; /* the server says what is wrong */
    if (keys->count == 0 && published_has_place(session, command)) {
        keys->at[0] = 1;
        keys->count = 1;
    }
}

bool
transaction_bind(const struct incoming *in)
{
    struct session *session = in->session;
    struct key_list keys;
    struct view bad_key = {0};
    enum bind_result result = BIND_OK;

    find_keys(session, in->command, &in->args, &keys);
    bool is_allowed = allow_keys(session, in->command, keys.count);
    if (is_allowed)
        result = bind_keys(session, in->command, &in->args, &keys, &bad_key);
    if (result == BIND_ELSEWHERE && transaction_may_split(session)) {
        session->transaction->is_split = true;
        result = bind_keys(session, in->command, &in->args, &keys, &bad_key);
    }
    key_list_fini(&keys);
    if (result == BIND_ELSEWHERE)
        refuse_elsewhere(in, bad_key);
    else if (result == BIND_NOWHERE)
        no_shard(session, in->command, bad_key);
    return is_allowed && result == BIND_OK;
}

/* --- what is queued ---------------------------------------------------------- */

bool
transaction_each_queued(struct session *session, queued_fn fn)
{
    const struct buf *bytes = &session->transaction->bytes;
    struct request_limits limits = body_limits();
    size_t off = sizeof(MULTI_WORDS) - 1;
    struct request_scan scan;
    bool goes_on = true;

    request_scan_init(&scan);
    while (goes_on && off < bytes->len) {
        const char *data = bytes->data + off;
        enum resp_result result =
            request_scan(&scan, &limits, data, bytes->len - off);
        ASSERT(result == RESP_OK);
        struct command_args args = {data, scan.args, scan.argc};
        const struct command *command = learning_known(session->pool, &args);
        goes_on = command == NULL || fn(session, command, &args);
        off += scan.size;
        request_scan_reset(&scan);
    }
    request_scan_fini(&scan);
    return goes_on;
}

/* A queued command, which has been looked at before. */
static bool
bind_again(struct session *session, const struct command *command,
           const struct command_args *args)
{
    struct key_list keys;
    struct view bad_key;
    bool is_bound = false;

    find_keys(session, command, args, &keys);
    is_bound =
        bind_keys(session, command, args, &keys, &bad_key) == BIND_OK;
    key_list_fini(&keys);
    return is_bound;
}

bool
transaction_place_again(struct session *session)
{
    struct transaction *transaction = session->transaction;

    transaction->is_stale = false;
    if (transaction->is_forgotten) { /* a slot is that of its keys for ever */
        transaction->is_bound = pool_is_cluster(session->pool->settings);
        return transaction->is_bound;
    }
    /* Of one that will not be executed nothing is kept, and it is nowhere. */
    transaction->is_bound = key_watch_place(session, &transaction->place);
    bool is_bound = transaction_each_queued(session, bind_again);
    if (!is_bound && transaction_may_split(session))
        transaction->is_split = is_bound = true;
    return is_bound;
}
