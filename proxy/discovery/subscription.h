/*
 * discovery/subscription.h - a connection that only listens.
 *
 *   IDLE --start--> WAITING --pause--> CONNECTING --subscribed--> LISTENING
 *                      ^-------------------+------- lost -----------+
 *
 * What was missed while it was not listening has to be asked for by its owner,
 * who hears when it has begun to listen.  A silent peer is sent a PING; one
 * that does not answer is as good as lost.  Pauses between attempts double, up
 * to two seconds.
 *
 * Messages are hints, so a peer that floods us is cut off: one message is at
 * most SUBSCRIPTION_MESSAGE_MAX long.
 *
 * Embedded in whoever listens.  One thread.
 */
#ifndef DISCOVERY_SUBSCRIPTION_H
#define DISCOVERY_SUBSCRIPTION_H

#include "base/buf.h"
#include "discovery/sentinel_read.h"
#include "net/stream.h"
#include "resp/reply_scan.h"

#define SUBSCRIPTION_MESSAGE_MAX 65536

struct subscription;

enum subscription_state {
    SUBSCRIPTION_IDLE,       /* not wanted */
    SUBSCRIPTION_WAITING,    /* for the next attempt */
    SUBSCRIPTION_CONNECTING, /* until the first channel is confirmed */
    SUBSCRIPTION_LISTENING
};

struct subscription_ops {
    /* It listens from now on. */
    void (*on_listening)(struct subscription *subscription);
    /* It did, or was about to, and tries again; not called by a stop. */
    void (*on_lost)(struct subscription *subscription, const char *why);
    void (*on_message)(struct subscription *subscription,
                       const struct sentinel_message *message);
};

struct subscription {
    enum subscription_state state;
    const struct subscription_ops *ops;
    struct stream stream;
    struct timer timer;   /* the next attempt, or the next look at silence */
    struct address address;
    struct buf greeting;  /* AUTH and SUBSCRIBE */
    struct buf in;
    struct reply_scan scan;
    size_t scanned;       /* bytes of `in` */
    uint64_t heard_us;
    unsigned failures;    /* in a row */
    int64_t timeout_ms;   /* of an attempt */
    uint64_t dice;
};

void subscription_init(struct subscription *subscription, struct loop *loop,
                       const struct subscription_ops *ops);
/* Listen at `to`, having said `greeting` (copied); instead of wherever it has
 * listened before. */
void subscription_start(struct subscription *subscription,
                        const struct address *to, struct view greeting,
                        int64_t timeout_ms);
void subscription_stop(struct subscription *subscription);

#endif
