/*
 * session/request.h - one command of one client, until it is answered.
 *
 *   one shard:  request.call --------> lane
 *   split:      request.parts[i].call -> lane i, merged when all have come
 *   local:      answered at once, queued only if something is in front
 *
 * A request is in its session's queue from its acceptance to the moment its
 * whole answer has been put into the session's output.  It is refcounted since
 * a client may leave, or a deadline pass, while servers still owe replies: one
 * ref for the queue, one for each call that is not idle.
 */
#ifndef SESSION_REQUEST_H
#define SESSION_REQUEST_H

#include "command/command.h"
#include "session/attempt.h"
#include "session/env.h"
#include "upstream/call.h"
#include "upstream/lane.h"

struct carrying;
struct script_wants;
struct session;
struct split_job;

extern const struct call_ops request_call_ops;

/* A lane that a session has for longer than a request. */
enum own_lane_of {
    OWN_LANE_NONE,
    OWN_LANE_WATCH, /* key_watch.h */
    OWN_LANE_DIRECT /* direct.h */
};

/* Of a command that its server has been asked to queue (direct.h). */
struct queued {
    uint32_t from;   /* where its bytes stand among those of its transaction, */
    uint32_t len;    /* ... and how many they are */
    uint32_t before; /* commands in front of it */
};

struct request {
    /* Of all, in this order: what accepting, sending and answering go by ... */
    TAILQ_ENTRY(request) link; /* of the session's queue; next free one */
    struct session *session; /* NULL: nobody waits for it any more */
    struct session_pool *pool;
    const struct command *command;
    uint32_t refs;
    uint32_t shard;
    bool has_deadline;       /* its time runs */
    bool is_held;            /* is in one of env's two */
    bool is_compact;         /* its bytes have moved out of a shared chunk */
    bool done;               /* `reply` is whole */
    bool begun;              /* part of the reply is in the output already */
    bool was_late;           /* its time was up before its answer came */
    bool no_reply;           /* nothing is sent for it (CLIENT REPLY) */
    bool follows;            /* came in together with the one in front */
    char reply_type;         /* first byte of the reply */
    bool multi_failed;       /* of a transaction: MULTI was not taken */
    bool blocks;             /* may wait for long, on a private lane */
    bool tracks;             /* waits until servers tell what is changed */
    bool listens;            /* waits until a server has confirmed topics, */
    bool leaves;             /* ... or has taken them back */
    bool is_published;       /* its answer is a number of listeners */
    uint8_t own_lane;        /* enum own_lane_of: over which of its session */
    bool ends_watch;         /* nothing is watched behind it */
    struct call call;
    struct generation *generation; /* which routed it; a ref */
    uint64_t start_us;       /* when its last byte was read */
    uint64_t due_us;         /* when its time is up, with has_deadline */
    uint64_t reply_bytes;
    struct split_job *job;   /* a split command's parts, or NULL */
    struct chain reply;      /* kept until its turn */
    struct attempt attempt;  /* of `call`, in the pool of a cluster */
    size_t weight;           /* its bytes, charged to the session */
    /* ... and the rest. */
    uint64_t id;
    uint64_t progress_us;    /* when a piece of its reply last came */
    uint64_t done_us;        /* when its answer was whole, if it had to wait */
    LIST_ENTRY(request) held_link;      /* of env->held or held_before */
    struct extent refusal;   /* of a transaction: a command was not queued; or
                                HELLO, while servers are asked AUTH for it */
    struct queued queued;    /* with OWN_LANE_DIRECT, unless it is EXEC */
    struct script_wants *wants; /* EXEC: scripts that it names, or NULL */
    struct carrying *carrying; /* it goes step by step, or NULL */
    uint32_t lanes_before;   /* is_published: listeners that are connections of
                                ours, as far as was known when it was sent */
    uint8_t tries;           /* times it was sent again */
    uint8_t script_loads;    /* times that its script was to be loaded */
    bool is_cached;          /* CLIENT CACHING was said in front of it */
    uint8_t error;           /* if reply_type is '-': where it is counted */
    struct lane *paused;     /* the lane that waits for our turn, or NULL */
    size_t unsent;           /* while one does: what its client has not taken */
};

/* Control has not answered a question in time. */
#define REQUEST_TEXT_NO_ANSWER \
    "ERR proxy: the question to all workers was not answered in time"

/* The session's next request: read the command's name and act on it.  It
 * stands at `off` in `chunk`; the scanner has its words.  False: not now, as it
 * must wait until everything before it is answered; offer it again then. */
bool request_accept(struct session *session, struct chunk *chunk,
                    uint32_t off, const struct request_scan *scan) MUST_CHECK;

/* Where a key belongs. */
struct place {
    uint32_t slot;  /* in a cluster, else 0 */
    uint32_t shard; /* number of a server, or ROUTE_NONE */
    bool is_keyed;  /* a key says so, where replicas may be read from */
    bool is_channel; /* of a channel that clients of ours may listen to */
    uint32_t lanes;  /* ... over so many connections; only if some may not be
                        counted any more */
};

struct place request_place(struct session *session, struct view key);

/* Look the command up; NULL after having answered with the reason for which it
 * is not accepted (unknown, arity, authentication, policy), or not now: then with
 * session->barrier, and to be offered again when the queue is empty. */
const struct command *request_command(struct session *session,
                                      const struct command_args *args);

/* Answer with bytes, in turn, without a request object if nothing waits; even
 * after CLIENT REPLY OFF. */
void request_answer_now(struct session *session,
                        const struct command *command, struct view reply);

/* Move what is ready from the queue's head to the output. */
void session_pump(struct session *session);

/* The server of its shard. */
struct server *request_server(const struct request *request);

/* Give it to a lane of its shard.  call.body is set. */
void request_submit(struct request *request);

/* Its bytes were passed on as they came: it cannot be sent again. */
bool request_is_gone(const struct request *request) MUST_CHECK;

/* What is kept of its reply is an error. */
void request_note_error(struct request *request);

/* What is kept of its reply is not needed. */
void request_drop_reply(struct request *request);
/* Its answer, which the client has not seen, is forgotten. */
void request_undo(struct request *request);
/* It goes by this generation from now on; no call of it is under way. */
void request_route_anew(struct request *request, struct generation *generation);

/* All of the reply is here: answer when its turn comes. */
void request_done(struct request *request);

/* Its server cannot be reached and it was not executed: finish with the error
 * that says so, or as on_server_down has it. */
void request_fail_unreachable(struct request *request);
/* Its connection was lost behind it: finish with the error that says so. */
void request_fail_lost(struct request *request);
/* A write, while too few Sentinels vouch for its shard. */
void request_fail_barred(struct request *request);
void request_count_barred(const struct request *request, uint32_t shard);

/* As on_server_down has it: append the answer to a command whose request was
 * not executed.  False: an error is due. */
bool request_nil_answer(struct request *request, const struct extent *body,
                        struct buf *out) MUST_CHECK;

/* Its session has gone. */
void request_orphan(struct request *request);

/* Keep a piece of an answer until its turn; charged to the session.  False:
 * that closed the session. */
bool request_hold(struct request *request, struct chain *reply,
                  const struct reply_piece *piece) MUST_CHECK;

/* Its bytes are in memory until it is answered: charge them to the session. */
void request_weigh(struct request *request, size_t bytes);

/* Charge kept bytes to the session (if it is still there), and take them off. */
void request_charge(struct request *request, size_t bytes);
void request_discharge(struct request *request, size_t bytes);

/* At the end of a turn: answers that were kept in the turn before and still
 * are move out of the chunks that they came in. */
void request_compact_held(struct session_env *env);

/* An empty request object of this session, in its queue, refs 1. */
struct request *request_new(struct session *session,
                            const struct command *command);
void request_unref(struct request **requestp);

/* Finish with a whole answer of the proxy's own. */
void request_answer(struct request *request, struct view reply);
/* Finish with an error line (code and text, without '-' and CRLF). */
void request_fail(struct request *request, struct view text);
void request_fail_fmt(struct request *request, const char *fmt, ...)
    PRINTF_LIKE(2, 3);

#endif
