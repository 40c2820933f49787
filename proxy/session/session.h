/*
 * session/session.h - what does this client want, and in which order?
 *
 *   stream.in -> scan -> command -> request -> [queue, oldest first] -> out
 *                                      |             ^
 *                                      v  call       |  reply
 *                                    lanes ----------+
 *
 * A session owns its stream and its queue of requests; answers leave in the
 * order in which the requests came.  It reads on only while its window has
 * room: a bounded number of requests in flight, fewer the larger they are and
 * their answers lately were, and none while its output stands above
 * output_low_water.
 *
 * When its pool has a new generation it takes no more requests until all are
 * answered; then it goes on by the new one.  So no two commands on one key are
 * at two servers at a time.
 *
 *   OPEN -> DRAINING -> CLOSED      DRAINING: no more input; what is owed is
 *     |                   ^         answered, then it closes (EOF, QUIT,
 *     +-------------------+         protocol error, shutdown)
 *
 * Owner: struct session_pool.  One loop only.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "net/stream.h"
#include "session/env.h"
#include "session/request.h"

/* Clients are read in smaller pieces than servers: they are many. */
#define SESSION_READ (32768 - (uint32_t)sizeof(struct chunk))

#define SESSION_OUTPUT_HIGH 262144 /* output with which a lane waits */
#define SESSION_OUTPUT_SHORT 65536 /* the same while memory is short */

enum session_state {
    SESSION_OPEN,
    SESSION_DRAINING,
    SESSION_CLOSED
};

/* What few clients have, allocated when the first of it is needed. */
struct client_info {
    char *name;
    char *lib_name;
    char *lib_ver;
    char *peer; /* its address, once somebody has asked for it */
    struct blocking *blocking; /* waits for long, or NULL */
    struct direct *direct;     /* its transaction has a lane, or NULL */
    struct inquiry *inquiry;   /* of its next command, or NULL */
    struct monitor *monitor;   /* it watches the others, or NULL */
    struct rights *rights;     /* servers are asked what it may, or NULL */
    uint16_t user_before; /* who it was, while session->user is LOGIN_ASKING */
    uint64_t lost; /* marks of servers that it has written to, over a connection
                      that was lost (wait.h) */
    uint64_t elsewhere; /* ... over others than WAIT would go over */
};

struct blocking;
struct direct;
struct holding;
struct inquiry;
struct private_lane;
struct rights;
struct subscriber;
struct transaction;
struct unfolding;
struct key_watch;
struct monitor;
struct upload;
struct wait;

/* Ten thousand clients shall cost little: it fills 448 bytes, beyond which the
 * allocator takes 512. */
struct session {
    struct stream stream;
    struct session_pool *pool;
    struct generation *generation; /* by which its requests are routed */
    TAILQ_ENTRY(session) link;        /* of the pool's sessions */
    TAILQ_ENTRY(session) resume_link; /* of env->resume */
    union {
        TAILQ_ENTRY(session) pausing_link; /* of pool->pausing */
        struct grave grave;                /* once CLOSED */
    };
    struct request_list queue;        /* oldest first */
    uint64_t id;
    uint64_t used_us;    /* when bytes last came in */
    uint64_t sent_us;    /* when bytes last left, or output began to wait */
    size_t held_bytes;   /* answers in the queue that wait for their turn */
    size_t asked_bytes;  /* requests in the queue that wait for an answer */
    uint32_t in_flight;  /* requests in the queue; and an inquiry */
    uint32_t window;     /* how many of them there may be */
    uint32_t reply_size; /* what answers lately weighed */
    uint32_t db;
    uint64_t written;    /* marks of servers that it has written to (wait.h) */
    uint32_t created_s;
    uint32_t lane_number; /* which of a server's shared lanes it uses */
    enum session_state state : 8;
    enum close_reason close_reason : 8; /* once DRAINING */
    uint8_t resp;           /* 2 or 3 */
    uint8_t light_replies;  /* in a row, while heavy */
    uint16_t user;          /* as whom it goes to servers (upstream/login.h) */
    bool in_resume : 1;
    bool barrier : 1;       /* nothing more until the queue is empty */
    bool authenticated : 1;
    bool reply_off : 1;     /* CLIENT REPLY OFF */
    bool reply_skip : 1;    /* CLIENT REPLY SKIP: the next request only; while
                               that is accepted it is off as well */
    bool is_readonly : 1;   /* READONLY, when a cluster is emulated */
    bool is_postponed : 1;  /* its next command waits for the end of a pause */
    bool is_gathering : 1;  /* a large request that is not passed on */
    bool is_heavy : 1;
    bool is_scripting : 1;  /* keeps to the lanes for scripts (long_script.h) */
    bool has_scripted : 1;  /* ... or has */
    struct request_scan *scan;    /* in the middle of a request */
    struct upload *upload;        /* in the middle of a large one */
    struct private_lane *private; /* at most one, leased for one request */
    struct transaction *transaction; /* since MULTI, or NULL */
    struct unfolding *unfolding;  /* one that has no shard for itself, or NULL */
    struct key_watch *watch;          /* keys are watched, or NULL */
    struct wait *wait;            /* since its first WAIT, or NULL */
    struct subscriber *subscriber; /* listens to channels, or NULL */
    struct holding *holding;      /* something is held (holding.h), or NULL */
    struct request *pausing;      /* its lane waits for us to take output */
    struct client_info *info;
    const struct command *last_command; /* for CLIENT LIST */
};

/* Take over an accepted descriptor. */
struct session *session_new(struct session_pool *pool, int fd, uint64_t id);

/* Close now; what is unanswered is given up and its replies dropped. */
void session_close(struct session **sessionp, enum close_reason why);

/* Read no more, answer what is owed, then close. */
void session_drain(struct session *session, enum close_reason why);

/* Look at the session again when this turn ends: its window may have room. */
void session_resume_later(struct session *session);

/* Take what stands in the input, as far as the window allows. */
void session_process(struct session *session);
/* The same for a session taken from env->resume. */
void session_resume(struct session *session);

/* This lane has more of an answer to this request than the client takes: stop
 * reading it. */
void session_pause_lane(struct session *session, struct request *request,
                        struct lane *lane);
void session_resume_lane(struct session *session);
/* The lane that waits for it, which does so no more and is not yet resumed; or
 * NULL. */
struct lane *session_unpause(struct session *session) MUST_CHECK;

/* Account for an answer that has been put into the output. */
void session_note_reply(struct session *session, uint64_t bytes);

/* The process has reached max_memory: large things have to do without. */
static inline bool
session_is_short(const struct session *session)
{
    return unlikely(budget_is_short(session->pool->env->budget));
}

/* With so many bytes in its output, or kept of one answer, the lane waits from which
 * they come. */
static inline size_t
session_output_high(const struct session *session)
{
    return session_is_short(session) ? SESSION_OUTPUT_SHORT
                                     : SESSION_OUTPUT_HIGH;
}

/* The limit that answers kept for the client have passed: CLOSE_NONE, or the
 * reason for which it is closed if there is no other way. */
enum close_reason session_excess(const struct session *session);
static inline bool
session_is_over_limit(const struct session *session)
{
    return session_excess(session) != CLOSE_NONE;
}

/* What the scanner is to allow this client. */
struct request_limits session_limits(const struct session *session);

/* Read its input again; time to be idle runs from now on. */
void session_read_on(struct session *session);

/* Give a scanner that was in the middle of a request back. */
void session_drop_scan(struct session *session);

/* What few clients have is kept here. */
struct client_info *client_info_of(struct session *session);
static inline struct blocking *
session_blocking(const struct session *session)
{
    return session->info == NULL ? NULL : session->info->blocking;
}
static inline struct direct *
session_direct(const struct session *session)
{
    return session->info == NULL ? NULL : session->info->direct;
}
static inline struct monitor *
session_monitor(const struct session *session)
{
    return session->info == NULL ? NULL : session->info->monitor;
}

/* One line of CLIENT LIST, with LF. */
void session_describe(const struct session *session, struct buf *out);

/* Does its pool have a newer generation than the one it routes by? */
static inline bool
session_is_behind(const struct session *session)
{
    return session->generation != session->pool->pool->current;
}
/* Take the newest up, if nothing is in flight. */
void session_catch_up(struct session *session);

/* May the session submit one more request, wherever it comes from? */
bool session_has_window(const struct session *session);
/* May it take one more from its input? */
bool session_has_room(const struct session *session);

#endif
