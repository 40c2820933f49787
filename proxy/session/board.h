/*
 * session/board.h - what the clients of one worker listen to, in one pool.
 *
 *   client --hearing--> topic "news" --post--> feed of server a ==lane==> a
 *   client --hearing--/        \
 *   client --hearing--> topic "n*" --post-----> feed of server b ==lane==> b
 *                                 \--post-----> feed of server a
 *
 * A topic is known upstream once, however many clients hear it: the first makes
 * it, the last that leaves takes it away.  Where a topic is posted:
 *
 *   a channel       at the shard of its name; in a cluster, whose nodes tell one
 *                   another, it stays where it is as long as that is a primary,
 *                   or has become a replica and can be heard; what one client
 *                   hears is put at one node, which keeps its order
 *   a key's events  (__keyspace@..., __keyevent@...) at every shard, since each
 *                   server tells of its own keys only
 *   a pattern       at every shard; in a cluster at one, unless it may mean
 *                   events of keys.  What the nodes tell one another is then
 *                   taken from one of them, its teller
 *   a shard channel at the shard of its name, in a cluster of its slot
 *
 * Clients that have logged in as a user of the servers have a board of their own,
 * with all others of that login: so the servers judge what they may listen to, and
 * end it when they may no more.
 *
 * Owner: struct session_pool, made with its first listener.  One thread.
 */
#ifndef SESSION_BOARD_H
#define SESSION_BOARD_H

#include <sys/queue.h>

#include "base/chain.h"
#include "base/dict.h"
#include "session/audience.h"
#include "session/request.h"

struct departure;
struct feed;
struct subscriber;

LIST_HEAD(hearing_list, hearing);
LIST_HEAD(post_list, post);
TAILQ_HEAD(post_queue, post);
LIST_HEAD(feed_list, feed);
LIST_HEAD(departure_list, departure);
TAILQ_HEAD(over_list, subscriber);

struct board {
    struct session_pool *pool;
    struct board *next;    /* of the pool's */
    uint16_t user;         /* as whom its feeds listen (upstream/login.h) */
    uint32_t subscribers;  /* that have it */
    struct audience *audience;
    struct dict topics[TOPIC_KINDS];
    struct feed_list feeds;
    struct departure_list departures;
    struct departure *departing; /* the one that is being made, or NULL */
    struct over_list over; /* clients that have more than they may */
};

struct topic {
    struct dict_entry entry; /* its key stands in `name` */
    struct board *board;
    enum topic_kind kind;
    uint32_t slot;     /* of its name, as clusters have it */
    bool is_releasing; /* its posts are being taken back */
    struct hearing_list hearings;
    struct post_list posts; /* the newest first */
    struct post *teller;    /* see topic_teller() */
    char name[];
};

/* A topic of one client. */
struct hearing {
    struct dict_entry entry;  /* of the subscriber's; its key is the topic's */
    LIST_ENTRY(hearing) link; /* of the topic's */
    struct topic *topic;
    struct subscriber *subscriber;
    bool is_settled; /* the servers have confirmed it ... */
    bool is_told;    /* ... and so has the client been told */
};

enum post_state {
    POST_WANTED, /* to be said when there is a connection */
    POST_ASKED,  /* said, and not yet answered */
    POST_ON,     /* messages come */
    POST_LEAVING /* taken back, which is not yet answered */
};

/* A topic at one server. */
struct post {
    LIST_ENTRY(post) topic_link;
    TAILQ_ENTRY(post) feed_link;
    struct topic *topic;
    struct feed *feed;
    enum post_state state;
    unsigned owed;   /* answers still to come */
    bool is_denied;  /* the server does not let this user have it any more */
    bool is_counted; /* in the audience, as a connection */
};

/* That of who goes to servers as this user, made if need be. */
struct board *board_get(struct session_pool *pool, uint16_t user);
/* All boards of a pool: nobody listens any more. */
void boards_free(struct session_pool *pool);

/* The topic of this name, made if need be. */
struct topic *board_topic(struct board *board, enum topic_kind kind,
                          struct view name);
/* Post it where it belongs now. */
void topic_place(struct topic *topic);
/* Nobody may hear it any more: then take it away, at once or when servers have
 * confirmed that. */
void topic_release(struct topic *topic);
static inline struct view
topic_name(const struct topic *topic)
{
    return topic->entry.key;
}

/* Do messages come from everywhere that they may come from? */
bool topic_is_settled(const struct topic *topic) MUST_CHECK;
/* One from which they do not; NULL when it is posted nowhere. */
struct server *topic_missing_server(const struct topic *topic);
/* A server has confirmed it, which may be what clients wait for. */
void topic_on_post(struct topic *topic);
/* A server has not: tell those clients, in the words of `text`; or, when that
 * is empty, that this server cannot be reached. */
void topic_fail(struct topic *topic, uint32_t shard, struct view text);
/* Has it clients that wait; or some that have been told? */
bool topic_is_awaited(const struct topic *topic) MUST_CHECK;
bool topic_is_heard(const struct topic *topic) MUST_CHECK;
/* Close one of the latter, since messages of it may be missing. */
void topic_close_one(struct topic *topic);

/* Where what is published in a channel goes to. */
struct place board_place(const struct generation *generation,
                         enum topic_kind kind, struct view channel);

/* A message has come: `words` are those of the frame, which is these bytes. */
void board_deliver(struct board *board, const struct feed *feed,
                   const struct view *words, struct extent frame);
/* The same of one that is longer than anybody may keep. */
void board_deliver_too_long(struct board *board, const struct view *words);

/* The pool goes by another generation. */
void boards_follow(struct session_pool *pool);
void board_follow(struct board *board);
/* A feed cannot be heard: what may as well be elsewhere goes there. */
void board_on_lost(struct feed *feed);
/* Clients that have too much are closed, when all have been told: closing one
 * may end others. */
void board_close_those_over(struct board *board);
void boards_close_those_over(struct session_pool *pool);
/* Once a second. */
void boards_tick(struct session_pool *pool, uint64_t now_us);

/* --- posts, for feed.c ------------------------------------------------------- */

void post_set_state(struct post *post, enum post_state state);
/* It is at its server no more. */
void post_free(struct post *post);
/* It counts as a connection, or does so no more. */
void post_count(struct post *post, bool is_counted);

#endif
