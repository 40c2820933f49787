/*
 * session/feed.h - the connection over which one server tells a worker what its
 * clients listen to.
 *
 *   lane:  SUBSCRIBE a  SUBSCRIBE b  UNSUBSCRIBE a  -->
 *   owed:  [a on]       [b on]       [a off]          answered in this order
 *
 * A listening lane (upstream/lane.h), which speaks RESP2, since there is nothing
 * on it but subscriptions.  Each topic is a command of its own, so that an error
 * concerns one of them.  When the lane is lost another is made, and all that is
 * wanted is said anew; what was published meanwhile is lost, as it is at a server
 * whose client has lost its connection.
 *
 * Owner: struct board.  One thread.
 */
#ifndef SESSION_FEED_H
#define SESSION_FEED_H

#include "session/board.h"
#include "session/listening.h"
#include "upstream/server.h"

/* The commands, and what confirms them. */
struct feed_words {
    struct view subscribe, unsubscribe;
};

extern const struct feed_words feed_words[TOPIC_KINDS];

/* One command that is not answered yet. */
struct owed {
    TAILQ_ENTRY(owed) link;
    struct post *post;
    struct departure *departure; /* waits for this; or NULL */
    bool leaves;
};

struct feed {
    LIST_ENTRY(feed) link; /* of the board's */
    struct board *board;
    struct listening listening; /* its server is of the pool's current
                                   generation; in a cluster it may have become
                                   a replica */
    struct post_queue posts;
    TAILQ_HEAD(, owed) owed; /* the oldest first */
    struct timer timer;      /* the next attempt to connect */
    unsigned failures;       /* in a row */
    bool was_ready;          /* the lane it has */
    bool was_lost;           /* one that was ready ... */
    bool was_refused;        /* ... or not yet; still to be dealt with */
    bool is_denied;          /* ... as the server does not take its user */
    uint64_t used_us;    /* when it last had a post */
};

/* The feed of this server, made if need be. */
struct feed *feed_get(struct board *board, struct server *server);
/* Posts that are left go with it. */
void feed_free(struct feed **feedp, enum close_reason why);

/* Post a topic there, if it is not. */
void feed_take(struct feed *feed, struct topic *topic);
/* Take a post back; it is gone when that is answered, or at once. */
void feed_leave(struct post *post);
/* One that the server has given up by itself is asked for again. */
void feed_ask_again(struct post *post);

/* The server has refused it to this user: who hears it is closed. */
void feed_deny(struct post *post);

/* The oldest command is answered, or will not be; the post that it is about. */
struct post *feed_pop_owed(struct feed *feed);

/* What has come over its lane. */
void feed_on_frame(struct lane_lease *lease, const struct reply_piece *piece);

/* False: it has nothing to do any more. */
bool feed_tick(struct feed *feed, uint64_t now_us) MUST_CHECK;

#endif
