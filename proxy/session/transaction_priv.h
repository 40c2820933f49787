/*
 * session/transaction_priv.h - what the files of transactions share.
 */
#ifndef SESSION_TRANSACTION_PRIV_H
#define SESSION_TRANSACTION_PRIV_H

#include "session/scripts.h"
#include "session/transaction.h"

#define MULTI_WORDS "*1\r\n$5\r\nMULTI\r\n"

struct transaction {
    struct buf bytes; /* MULTI, and what is queued behind it */
    size_t size;      /* of all that */
    uint32_t count;   /* commands queued */
    bool writes;      /* one of them writes, or may */
    struct script_wants *wants; /* scripts that they name, or NULL */
    bool is_spoilt;   /* EXEC will say EXECABORT */
    bool is_bound;    /* `place` is that of its keys */
    bool is_stale;    /* ... by a generation of before */
    bool is_split;    /* keys are elsewhere, see unfold.h */
    bool is_indivisible; /* what it does alone is not what it does in here */
    bool is_direct;      /* its commands are sent as they come, see direct.h */
    bool is_begun;       /* ... and one of them was */
    bool is_refused;     /* ... its server will say EXECABORT */
    bool is_forgotten;   /* ... it was too large to be kept in `bytes` */
    struct place place;
};

static inline struct buf *
transaction_scratch(struct session *session)
{
    struct buf *out = &session->pool->env->out;

    out->len = 0;
    return out;
}

/* What becomes of a command behind MULTI. */
enum fate {
    FATE_QUEUE,     /* to the server, with the rest */
    FATE_FORBIDDEN, /* it would change what connections have in common */
    FATE_REFUSE     /* the proxy does not support it, or not here */
};

enum fate transaction_fate(const struct incoming *in) MUST_CHECK;
/* No shard could answer it for all, but each command may go its own way. */
bool transaction_goes_alone(const struct incoming *in) MUST_CHECK;

/* Answered here, not by an error that spoils. */
void transaction_answer(const struct incoming *in, struct view reply);
/* It is over. */
void transaction_free(struct session *session);
/* Are the keys of this command where the transaction is?  It is bound by its
 * first.  False after having answered. */
bool transaction_bind(const struct incoming *in) MUST_CHECK;
/* May its commands go one by one? */
bool transaction_may_split(const struct session *session) MUST_CHECK;
/* Where it belongs, by the generation of now. */
struct place transaction_place(const struct session *session) MUST_CHECK;
/* What was queued, from MULTI to EXEC; a ref. */
struct extent transaction_take_bytes(struct session *session) MUST_CHECK;
/* The server has refused a command of it. */
void transaction_note_refusal(struct session *session);
typedef bool (*queued_fn)(struct session *session,
                          const struct command *command,
                          const struct command_args *args);
/* Show it what stands between MULTI and EXEC, but for what servers do not know
 * any more, until it says false: then false. */
bool transaction_each_queued(struct session *session, queued_fn fn);
/* Look the keys of all that is queued up again, by the generation of now.
 * False: they are on several shards of it. */
bool transaction_place_again(struct session *session) MUST_CHECK;

#endif
