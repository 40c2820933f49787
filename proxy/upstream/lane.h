/*
 * upstream/lane.h - one pipelined connection to one server.
 *
 *   submit -> [waiting] -> stream.out -> server
 *                 done <- [sent, oldest first] <- replies
 *
 * A lane writes calls in the order given and pairs each reply with the oldest
 * unanswered call.  It never looks inside a request; the maker of a call
 * decides what its reply means.  Calls wait while the lane connects, shakes
 * hands or cannot write; nothing is written before every reply of the
 * handshake has arrived.
 *
 * A reply that is here before a byte of the oldest unanswered call has left is
 * nobody's: it ends the lane.
 *
 * A reply that is known to be at most LANE_GATHER bytes long is delivered
 * whole; a longer one in pieces as they come.
 *
 *   CONNECTING -> HANDSHAKE -> READY -> CLOSED      (any state -> CLOSED)
 *
 * While it is CONNECTING the addresses of the server are tried in turn, from the
 * one that was good last time on, all of them within connect_timeout.
 *
 * A lane on which a request has expired is suspect: new calls wait until bytes
 * come again.  When LANE_SILENCE_MS pass without any, it is closed, since an
 * answer is paired by its place and a lane without answers has no use.
 *
 * A listening lane has no calls: what the server says of itself (messages of
 * channels, what it confirms of subscriptions) goes to the holder of its lease.
 *
 * Owner: struct server.  One loop only.
 */
#ifndef UPSTREAM_LANE_H
#define UPSTREAM_LANE_H

#include <assert.h>
#include <string.h>

#include "base/view.h"
#include "net/address_list.h"
#include "net/loop.h"
#include "net/stream.h"
#include "resp/reply_scan.h"
#include "upstream/call.h"
#include "upstream/login.h"

#define LANE_GATHER 65536     /* replies up to here are given in one piece */
#define LANE_OUT_HIGH 262144  /* bytes given to the socket's queue at a time */
#define LANE_SILENCE_MS 1000  /* after an expiry: then it is closed */
#define LANE_BURST_MS 100     /* expiries so near the first are one event */
#define LANE_GENTLE 4         /* calls in flight on a lane to a half-open server */
#define LANE_NO_LIMIT UINT32_MAX

struct lane_lease;
struct server;

enum lane_kind {
    LANE_SHARED,   /* carries calls of many sessions */
    LANE_PRIVATE,  /* leased to one session at a time */
    LANE_LISTENING /* without calls: whatever comes is its holder's */
};

enum lane_state {
    LANE_CONNECTING, /* the socket is being connected */
    LANE_HANDSHAKE,  /* AUTH, HELLO, SELECT are being answered */
    LANE_READY,      /* calls flow */
    LANE_CLOSED      /* in its grave */
};

/* What calls of different clients must have in common to share a lane.  No bit
 * is without a name: lane_key_equal() compares all at once. */
struct lane_key {
    uint32_t db;
    uint16_t user;    /* of the pool's logins (upstream/login.h), or 0 */
    uint8_t resp;     /* 2 or 3 */
    uint8_t is_readonly : 1; /* a replica that is to be read from */
    uint8_t is_aside : 1; /* for what may not wait behind a script that runs */
    uint8_t is_scripting : 1; /* for those who run scripts, which may last */
    uint8_t zero : 5;
};

static inline bool
lane_key_equal(struct lane_key a, struct lane_key b)
{
    uint64_t all_a, all_b;

    static_assert(sizeof(a) == sizeof(all_a), "no byte without a name");
    memcpy(&all_a, &a, sizeof(a));
    memcpy(&all_b, &b, sizeof(b));
    return all_a == all_b;
}

TAILQ_HEAD(call_queue, call);
TAILQ_HEAD(lane_list, lane);

struct lane {
    struct stream stream;
    struct server *server;
    struct lane_key key;
    enum lane_kind kind;
    enum lane_state state;
    struct call_queue waiting;
    struct call_queue sent;
    uint32_t sent_count;
    uint32_t sent_limit;     /* that it may not pass for now: suspect, gentle */
    bool is_left;            /* shared, and gets no more calls */
    bool is_suspect;
    uint64_t suspect_us;     /* since when */
    struct call *upload;     /* the call whose body is still being fed */
    uint64_t pushed;         /* bytes ever given to the stream ... */
    uint64_t written;        /* ... and taken by the socket */
    struct reply_scan scan;
    uint32_t scanned;        /* bytes at stream.in.pos already scanned */
    uint8_t greeted_resp;    /* key.resp when the handshake was sent */
    uint8_t handshake_left;  /* replies still due */
    bool was_ready;          /* once it was; for the time after its end */
    bool must_ping;          /* the last reply of the handshake is to PING */
    bool has_database;       /* that of the client, as the pool has chosen it */
    bool paused;
    const char *detail;      /* of its end, for the log; or NULL */
    struct address address;  /* that it is or was last connected to */
    struct address_list *trying; /* a ref, while it is CONNECTING */
    uint32_t first;          /* of these, that was tried first ... */
    uint32_t tried;          /* ... and how many were */
    uint64_t connect_by_us;  /* when all of them must have been */
    struct lane_lease *lease; /* private: who has it, NULL while idle */
    struct lane_lease *heir; /* shared: who gets it once it is idle, or NULL */
    uint64_t client_id;      /* by which the server knows it; 0: not asked */
    uint64_t used_us;        /* when a call was last submitted */
    struct timer timer;      /* connect_timeout; LANE_SILENCE_MS if suspect */
    uint64_t timer_due_us;
    TAILQ_ENTRY(lane) link;  /* of the server's lanes */
    TAILQ_ENTRY(lane) idle_link; /* of its idle private lanes */
    struct grave grave;
};

/* Start connecting.  Never NULL; failure arrives as server_on_lane_closed(). */
struct lane *lane_new(struct server *owner, enum lane_kind kind,
                      struct lane_key key);

/* Queue a call; call->body holds its bytes.  It is borrowed until idle. */
void lane_submit(struct lane *lane, struct call *call);

/* The same for a call of which only the first bytes are here; private lanes
 * only.  Once on_drain has been called (maybe from inside this function) more
 * is fed as it comes, until lane_feed_end(). */
void lane_submit_open(struct lane *lane, struct call *call);
void lane_feed(struct call *call, struct chunk *chunk, uint32_t off,
               uint32_t len);
void lane_feed_end(struct call *call);
/* Should feeding wait for on_drain? */
bool lane_is_full(const struct lane *lane);

/* Of a listening lane that is READY: these bytes leave as they are. */
void lane_say(struct lane *lane, struct view bytes);

/* The addresses of its server are others now: if it is still being connected it
 * goes on by these, and begins anew if the one that it tries has gone. */
void lane_follow_addresses(struct lane *lane);

/* Take back a call that has not been sent.  False: too late. */
bool lane_withdraw(struct call *call) MUST_CHECK;

/* A call on it was sent and has expired, or may never be answered. */
void lane_suspect(struct lane *lane);
/* Its server is half open, or is so no longer. */
void lane_set_gentle(struct lane *lane, bool is_gentle);
/* Finish the calls that were not sent with `why`. */
void lane_fail_waiting(struct lane *lane, enum close_reason why);

/* Stop and go on reading replies; calls stay. */
void lane_pause(struct lane *lane);
void lane_resume(struct lane *lane);

/* Calls unanswered or unsent, whoever made them. */
static inline bool
lane_is_idle(const struct lane *lane)
{
    return TAILQ_EMPTY(&lane->sent) && TAILQ_EMPTY(&lane->waiting);
}

/* May others have it? Not if it was given up in the middle of something. */
static inline bool
lane_is_clean(const struct lane *lane)
{
    return lane_is_idle(lane) && !lane->paused && lane->upload == NULL;
}

/* Is any call behind this one? */
static inline bool
lane_has_behind(const struct call *call)
{
    return TAILQ_NEXT(call, link) != NULL ||
        (call->state == CALL_SENT && !TAILQ_EMPTY(&call->lane->waiting));
}

/* The same for the oldest, which is being answered. */
static inline bool
lane_has_others(const struct lane *lane)
{
    const struct call *oldest = TAILQ_FIRST(&lane->sent);

    return oldest != NULL && lane_has_behind(oldest);
}

/* Finish every call with `why`; memory goes at the end of this loop turn. */
void lane_close(struct lane **lanep, enum close_reason why);

#endif
