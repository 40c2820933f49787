/*
 * session/subscriber.h - a client that listens: SUBSCRIBE and its kin.
 *
 *   SUBSCRIBE a b -->  a, b heard already?  -- yes -----------> confirmed
 *                          | no                                    ^
 *                          v                                       |
 *                      a request waits until the servers have confirmed both
 *
 * Those that take topics back wait in the same way (session/departure.h).
 *
 * These commands are barriers on both sides: each begins when all before it is
 * answered, and what follows waits for its answer.  So what the client is told
 * comes in the order of one redis-server, and messages of a channel come behind
 * its confirmation.  A message never comes into a reply: what has been begun is
 * ended first.
 *
 * What stands in the output of a client that listens is bounded as servers
 * bound their class pubsub: pubsub_output_limit at once, and
 * pubsub_output_soft_limit for pubsub_output_soft_time.
 *
 * A client that tracks (session/tracker.h) is a subscriber as well, maybe without
 * a topic: what it is told goes the same way, and counts in the same limits.
 *
 * Owner: the session, from its first topic to its last.
 */
#ifndef SESSION_SUBSCRIBER_H
#define SESSION_SUBSCRIBER_H

#include "session/board.h"
#include "session/incoming.h"
#include "session/session.h"

struct target;
struct tracker;

struct subscriber {
    TAILQ_ENTRY(subscriber) over_link; /* of the board's, with is_over */
    struct session *session;
    struct board *board;
    struct dict heard[TOPIC_KINDS];
    uint32_t told[TOPIC_KINDS]; /* of these, what the client knows of */
    uint32_t missing;           /* topics that are not settled yet */
    struct request *request;    /* which waits for them; a ref; or NULL */
    struct tracker *tracker;    /* it keeps a cache, too; or NULL */
    struct target *target;      /* or is told for others; or NULL */
    struct chain held;          /* messages behind a reply that has begun */
    uint64_t soft_since_us; /* output is over the soft limit; 0: it is not */
    bool is_over;
};

/* SUBSCRIBE, PSUBSCRIBE, SSUBSCRIBE, and what takes them back. */
static inline bool
subscriber_is_for(const struct command *command)
{
    return unlikely((command->flags & COMMAND_PUBSUB) != 0) &&
        command->class == CLASS_PIN;
}
void subscriber_act(const struct incoming *in);

/* May a client send this now?  False after having answered: in RESP2 those who
 * listen may say little else. */
bool subscriber_allows_slow(struct session *session,
                            const struct command *command) MUST_CHECK;
static inline bool
subscriber_allows(struct session *session, const struct command *command)
{
    return likely(session->subscriber == NULL) ||
        subscriber_allows_slow(session, command);
}

/* Does it listen, so that it need not say anything; and by arrays? */
bool subscriber_is_listening(const struct session *session) MUST_CHECK;
static inline bool
subscriber_is_old_style(const struct session *session)
{
    return session->resp == 2 && subscriber_is_listening(session);
}
/* Channels, patterns and shard channels. */
uint32_t subscriber_count(const struct session *session, enum topic_kind kind);

/* A reply has ended: what was held behind it may leave. */
void subscriber_flush(struct session *session);

/* The request that waits is late. */
void subscriber_on_late(struct request *request);

/* One that listens to nothing yet is made if need be, and goes again. */
struct subscriber *subscriber_get(struct session *session);
void subscriber_free_if_done(struct session *session);

/* It hears nothing any more, and nothing is said about it. */
void subscriber_free(struct session *session);
void subscriber_close(struct subscriber *subscriber, enum close_reason why);

/* --- called by the board ----------------------------------------------------- */

void subscriber_on_settled(struct hearing *hearing);
/* As topic_fail() has it. */
void subscriber_on_refused(struct hearing *hearing, uint32_t shard,
                           struct view text);
void subscriber_deliver(struct subscriber *subscriber,
                        const struct extent *message);
/* The same of anything that is no reply. */
void subscriber_push(struct subscriber *subscriber, struct view head,
                     const struct extent *rest);
/* The board closes it when all have been told. */
void subscriber_mark_over(struct subscriber *subscriber);

#endif
