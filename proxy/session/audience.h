/*
 * session/audience.h - how many clients of the process listen to what.
 *
 *   worker 0: 3 clients of "news" over one connection --\
 *                                                        > "news": 5 clients,
 *   worker 1: 2 clients of "news" over one connection --/   2 connections
 *
 * A server counts connections where its client would count listeners: each
 * worker has one connection, however many of its clients listen over it.  So
 * whoever answers PUBLISH or PUBSUB NUMSUB takes the connections off what the
 * server has counted, and adds the clients; and needs to know those of all
 * workers at once, for nobody waits for them.  This is the only thing that
 * workers share and write: a table behind a lock, touched when somebody begins
 * or ceases to listen, and to count.
 *
 * One for each pool.  Owner: control's ledger.  Any thread.
 */
#ifndef SESSION_AUDIENCE_H
#define SESSION_AUDIENCE_H

#include <stdbool.h>

#include "base/view.h"

enum topic_kind {
    TOPIC_CHANNEL, /* SUBSCRIBE */
    TOPIC_PATTERN, /* PSUBSCRIBE */
    TOPIC_SHARD,   /* SSUBSCRIBE */
    TOPIC_KINDS
};

struct audience;
struct generation;

struct audience *audience_new(void);
void audience_free(struct audience **audiencep);

/* A client begins to listen, or ceases to. */
void audience_add_client(struct audience *audience, enum topic_kind kind,
                         struct view name, int more);
/* A connection to this server does. */
void audience_add_lane(struct audience *audience, enum topic_kind kind,
                       struct view name, struct view server, int more);

/* One is about to: its server may still count it, or not. */
void audience_add_leaving(struct audience *audience, int more);
bool audience_is_leaving(const struct audience *audience) MUST_CHECK;

/* Does nobody listen, nor any connection for those who did, so that what servers
 * count is right? */
bool audience_is_empty(const struct audience *audience) MUST_CHECK;

/* Who listens to the channel itself, and by a pattern: the connections to this
 * server, which counts them for a message, and the clients behind them; or, if
 * the message spreads, behind those to any server. */
struct audience_count {
    int64_t lanes;
    int64_t clients;
};
struct audience_count audience_count_message(struct audience *audience,
                                             enum topic_kind kind,
                                             struct view channel,
                                             struct view server, bool spreads);
/* What to add to the sum of what all shards say of one channel ... */
int64_t audience_correct_channel(struct audience *audience,
                                 enum topic_kind kind, struct view channel,
                                 const struct generation *asked);
/* ... and to the sum of their patterns. */
int64_t audience_correct_patterns(struct audience *audience,
                                  const struct generation *asked);

#endif
