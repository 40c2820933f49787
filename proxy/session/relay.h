/*
 * session/relay.h - CLIENT TRACKING ON REDIRECT: one client reads, and another
 * is told.
 *
 *   worker 0                           worker 1
 *     client 5 reads k                   client 6 listens to channels
 *     "k was changed" --message-->       message __redis__:invalidate k
 *
 * Whoever is told speaks RESP3, or listens to any channel; else it hears nothing,
 * as servers have it.  It may be at another worker, whose mailbox is posted to.  When
 * that is full, the client is told a moment later that all keys were changed.
 *
 * Who is told is found by all workers when CLIENT TRACKING is said, and is a
 * target then until it leaves.  When one has left, news for it comes back, and the
 * client that reads is told so (tracking-redir-broken).
 *
 * Owner of targets: struct tracking.  One thread.
 */
#ifndef SESSION_RELAY_H
#define SESSION_RELAY_H

#include "base/dict.h"
#include "session/survey_priv.h"

struct subscriber;
struct tracker;

/* A client that others are redirected to. */
struct target {
    struct dict_entry entry; /* of the tracking's; its key is `id` */
    struct subscriber *subscriber;
    uint64_t id;
};

/* News on its way to another worker. */
struct relayed {
    size_t pool;      /* id */
    uint64_t to;      /* the client that is told */
    uint64_t from;    /* the one that has read ... */
    unsigned worker;  /* ... and where that is */
    bool is_broken;   /* `to` is not there any more: it comes back */
    struct view keys; /* a list, or null, as it stands in a reply; borrowed */
};

/* What this client is told its target shall hear.  False: not now. */
bool relay_tell(struct tracker *tracker, struct extent keys) MUST_CHECK;
/* It has come from another worker. */
void relay_take(struct session_env *env, const struct relayed *relayed);

/* Is this client here?  Then it is a target from now on. */
void relay_survey(struct session_pool *pool, const struct survey *survey);
/* The subscriber goes ... */
void target_free(struct subscriber *subscriber);
/* ... or only what it listens to does (RESET). */
void relay_reset(struct session *session);

#endif
