/*
 * session/tracker.h - a client that tracks: CLIENT TRACKING ON.
 *
 *   news of k, nothing under way:   told now
 *   ..., requests up to 7 are:      [7: k] --7 is answered--> told
 *                                      '--a moment passes--> told, and again
 *                                                            behind 7
 *
 * Which requests read what is not asked then: the news is told behind all that
 * are under way (session/tracking.h has why).  What is told never comes into a
 * reply, see session/subscriber.h, whose rules of what may be kept for a client
 * it shares.
 *
 * What is kept back is bounded: beyond TRACKER_LATE_MAX bytes it becomes "all keys
 * were changed".
 *
 * Owner: struct subscriber, from CLIENT TRACKING ON to OFF, RESET or the end.
 */
#ifndef SESSION_TRACKER_H
#define SESSION_TRACKER_H

#include "session/incoming.h"
#include "session/session.h"
#include "session/subscriber.h"
#include "session/tracking.h"

struct trail;

#define TRACKER_LATE_MAX 65536
#define TRACKER_PUSH_HEAD ">2\r\n$10\r\ninvalidate\r\n"
#define TRACKER_NO_SUCH_CLIENT \
    "ERR The client ID you want redirect to does not exist"

struct track_options {
    bool is_on;
    bool is_bcast;
    bool is_optin;
    bool is_optout;
    uint64_t redirect; /* the client that is told instead, or 0 */
    unsigned worker;   /* where that is */
    uint32_t prefixes; /* how many were named */
    bool is_noloop;    /* what it changes itself is not told */
};

/* News that is told behind answers. */
struct late {
    TAILQ_ENTRY(late) link;
    uint64_t behind; /* the last request that was taken in before */
    uint64_t since_us;
    struct extent keys; /* a list of them; without a chunk: all keys */
    bool is_told;       /* it has taken long, and was told already */
};

struct tracker {
    TAILQ_ENTRY(tracker) link; /* of the tracking's */
    struct subscriber *subscriber;
    struct tracking *tracking;
    struct track_options options;
    struct track_options wanted;      /* while its request waits */
    struct marker *marker;            /* keys that it has read ... */
    struct interest_queue interests;  /* ... or how those begin that it may */
    TAILQ_HEAD(late_list, late) late; /* the oldest first */
    size_t late_bytes;
    struct buf queued;       /* keys that commands behind MULTI will read */
    struct request *request; /* CLIENT TRACKING ON, until servers are heard */
    bool asks;               /* ... and first whether that client is there */
    bool is_broken;          /* it was not there when it was to be told ... */
    bool owes_all;           /* ... or could not be, as its worker was busy */
    bool waits;              /* ... for that */
    bool is_acting;          /* a command of it is being acted upon */
    bool is_caching;         /* CLIENT CACHING was said of the next command */
    struct trail *trail;   /* it has connections of its own, or NULL */
    uint64_t acting_after;   /* the last request before what is acted upon */
    uint64_t flushed;        /* marks of servers that were, since it last read */
};

/* The tracker of a client, or NULL when it does not track. */
static inline struct tracker *
tracker_of(const struct session *session)
{
    const struct subscriber *subscriber = session->subscriber;

    return likely(subscriber == NULL) ? NULL : subscriber->tracker;
}

/* The client that is told in its stead; 0: none; -1: it does not track. */
static inline int64_t
tracker_redirect(const struct session *session)
{
    const struct tracker *tracker = tracker_of(session);

    return tracker == NULL || !tracker->options.is_on
        ? -1
        : (int64_t)tracker->options.redirect;
}

/* CLIENT TRACKING ON, whose words are good.  False: it is answered later. */
bool tracker_begin(struct session *session, const struct command *command,
                   const struct command_args *args,
                   const struct track_options *options) MUST_CHECK;
/* The same of one that has connections of its own: all servers have said yes. */
void tracker_on_trail(struct tracker *tracker);
/* CLIENT TRACKING OFF. */
void tracker_end(struct session *session);
/* The subscriber goes. */
void tracker_free(struct subscriber *subscriber);

/* --- what it reads ----------------------------------------------------------- */

/* A command is about to be acted upon: mark what it reads.  Whatever is told from
 * here on is told behind its answer, as well as what of its keys is read where
 * nobody listens. */
void tracker_note(const struct incoming *in);
/* The same of a large request that is passed on as it comes. */
void tracker_note_upload(struct session *session, const struct command *command,
                         struct view key);
/* It has been. */
void tracker_note_acted(struct session *session, const struct command *command);
void tracker_end_act(struct tracker *tracker);
/* What CLIENT CACHING was about has been: a command that was refused before it
 * was looked at, or a transaction whose commands went one by one. */
void tracker_forget_caching(struct session *session);
/* Something that it reads goes to this server now, not where it went before. */
void tracker_note_server(struct session *session, const struct server *server);

/* --- what it is told --------------------------------------------------------- */

/* These keys were changed, or all. */
void tracker_tell(struct tracker *tracker, struct extent keys);
/* The same, whatever is under way. */
void tracker_tell_at_once(struct tracker *tracker, struct extent keys);
/* All keys at this server were, and it need not be told: another has said so, it
 * was told, and has read nothing since.  (With BCAST others may have read.) */
bool tracker_is_repeated(struct tracker *tracker,
                         const struct server *server) MUST_CHECK;
/* An answer has ended, and what is behind it may be told. */
void tracker_flush(struct tracker *tracker);
/* Tell what was kept back for so long.  Is any left that was not told? */
bool tracker_hurry(struct tracker *tracker, uint64_t now_us, int64_t late_ms);

/* Its worker has time again, maybe. */
void tracker_tell_owed(struct tracker *tracker);
/* Whom it has named is not there any more. */
void tracker_on_broken(struct tracker *tracker);
/* What all workers say of the client that it has named. */
void tracker_on_target(struct request *request, struct view text);

/* --- called by the tracking -------------------------------------------------- */

void tracker_on_settled(struct tracker *tracker);
void tracker_on_refused(struct tracker *tracker, struct view text);
/* Its request is late. */
void tracker_on_late(struct request *request);

#endif
