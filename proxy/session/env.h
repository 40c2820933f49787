/*
 * session/env.h - what all sessions of one worker share.
 *
 * Owner: the worker.  One thread.
 */
#ifndef SESSION_ENV_H
#define SESSION_ENV_H

#include <sys/queue.h>

#include "base/budget.h"
#include "base/buf.h"
#include "net/loop.h"
#include "resp/request_scan.h"
#include "session/edition.h"
#include "session/session_stats.h"
#include "upstream/map_cause.h"
#include "upstream/pool.h"

struct learning;
struct relayed;
struct audience;
struct tracking;
struct board;
struct request;
struct script_memory;
struct session;
struct session_env;
struct shown_scripts;

TAILQ_HEAD(request_list, request);
LIST_HEAD(held_list, request);
TAILQ_HEAD(session_list, session);

/* What a session wants to know of the whole process. */
enum question_kind {
    QUESTION_INFO,           /* the text of INFO; `text` names the sections */
    QUESTION_RESETSTAT,      /* nothing: what all workers count begins anew */
    QUESTION_MEMORY_STATS,   /* lines of names and numbers; `text` says ... */
    QUESTION_MEMORY_TEXT,    /* ... as which of its words: a text */
    QUESTION_CLIENT_IDS,     /* lines of clients by their ids: `text` */
    QUESTION_CLIENT_LIST,    /* lines of clients; `text` is a client_filter */
    QUESTION_CLIENT_KILL,    /* how many clients have been closed; the same */
    QUESTION_CLIENT_KILL_ONE, /* ... which is to be one or none */
    QUESTION_CLIENT_PAUSE,   /* nothing; `text`: for how long, and the mode */
    QUESTION_CLIENT_UNPAUSE, /* nothing */
    QUESTION_CLIENT_UNBLOCK, /* how many: 1 or 0; `text`: its id, and how */
    QUESTION_TRACKING_TARGET, /* where a client is, by its id: `text` */
    QUESTION_MONITOR,        /* nothing: all know that the pool is watched */
    QUESTION_SLOWLOG_GET,    /* see session/slow_log.h */
    QUESTION_SLOWLOG_LEN,
    QUESTION_SLOWLOG_RESET,
    QUESTION_LATENCY_LATEST, /* see session/latency.h */
    QUESTION_LATENCY_HISTORY,
    QUESTION_LATENCY_RESET,
    QUESTION_LATENCY_DOCTOR,
    QUESTION_LATENCY_GRAPH,
    QUESTION_LATENCY_HISTOGRAM /* see session/latency_histogram.h */
};

/* Why requests of a pool are looked at more closely. */
enum {
    ATTENTION_MONITORS = 1,
    ATTENTION_PAUSE = 2,
    ATTENTION_TRACKING = 4
};

/*
 * A question on its way.  The session room makes it; whoever answers copies
 * what it needs, has every worker make a survey of it (session/survey.h), and
 * calls survey_answer() on the asking worker's thread with the same ids.
 */
struct question {
    enum question_kind kind;
    uint64_t session_id;
    uint64_t request_id;
    size_t pool;      /* id */
    struct view text; /* arguments, separated by spaces; borrowed */
    struct view user, password; /* LOCAL_LOG_IN: the client's words */
};

/* One pool, as the sessions of this worker see it.  It stays from one snapshot
 * to the next as long as it keeps its name; then its sessions are drained. */
struct session_pool {
    /* What every request looks at ... */
    struct session_env *env;
    struct pool *pool;
    const struct pool_settings *settings; /* the newest */
    struct session_stats *stats;
    uint64_t notice_us;          /* an answer that took so long is looked at */
    uint64_t deadline_us;        /* when `deadline` fires, or UINT64_MAX */
    uint8_t attention; /* mostly 0 */
    /* ... and the rest. */
    bool is_removed;
    TAILQ_ENTRY(session_pool) link; /* of env->removed */
    size_t id; /* of the edition */
    struct script_memory *scripts; /* of all workers */
    struct shown_scripts *shown;   /* of this one lately; or NULL */
    struct audience *audience; /* of all workers */
    struct board *boards;      /* what clients listen to; NULL: nobody has */
    struct tracking *tracking; /* what they keep in caches; NULL: nothing */
    struct session_list sessions;
    struct session_list pausing; /* make a lane wait for them */
    unsigned session_count;
    uint32_t next_lane_number;   /* sessions take shared lanes in turn */
    unsigned upload_count;       /* sessions in the middle of an upload */
    unsigned gather_count;       /* ... of a large request that is gathered */
    struct timer deadline;       /* of one due not later than the first */
    struct timer tick;           /* idle and stalled clients */
    struct timer long_script;    /* runs while scripts are under way */
    uint64_t script_us;          /* when one was last sent */
    struct learning *learning;   /* commands that have no row, or NULL */
    uint64_t map_asked; /* of a cluster: what pool_map says */
    bool hint_is_open;  /* control was told that this does not do ... */
    bool hint_is_due;   /* ... and shall be told of the next as well */
    enum map_cause hint_cause;
    struct monitoring *monitoring; /* somebody watches it, or NULL */
    struct slow_log *slow_log;     /* NULL until something is slow */
    struct latency *latency;       /* ... */
    struct pause *pause;           /* NULL if there was never one */
};

struct session_env {
    struct loop *loop;
    struct snapshot *snapshot;   /* NULL before the first edition */
    struct session_pool **pools; /* as the settings number them */
    size_t pool_count;
    TAILQ_HEAD(, session_pool) removed; /* their sessions are drained */
    uint64_t let_go;            /* epoch of which on_let_go was told */
    unsigned worker;            /* number of this worker ... */
    unsigned workers;           /* ... of so many */
    bool sweep;                 /* old generations or pools may be done with */
    struct session_list resume; /* may go on: looked at when the turn ends */
    struct held_list held;        /* have kept answers since held_us ... */
    struct held_list held_before; /* ... and in the spell before */
    uint64_t held_us;
    struct request *free_requests;
    unsigned free_request_count;
    struct request_scan *scan;  /* the scanner nobody is in the middle of */
    struct buf out;             /* scratch for local answers */
    uint64_t next_request_id;
    uint64_t last_trail_lane;   /* its number: no other ever has it (trail.h) */
    const struct budget *budget; /* of the process; NULL: not measured */
    bool has_lines;             /* monitors are to be given some */
    bool draining;              /* no new requests: the process stops */
    /* Upward: ask control.  Answered later, or never when it is too late. */
    void (*ask)(struct session_env *env, const struct question *question);
    void *ask_arg;
    /* Upward: what this worker has to say about survey `id`; borrowed. */
    void (*tell)(struct session_env *env, uint64_t id, struct view text);
    /* Upward: a session has ended (the worker counts them). */
    void (*on_session_end)(struct session_env *env);
    /* Upward: no pool or server is left here that the snapshot does not have,
     * so that nothing is counted for one. */
    void (*on_let_go)(struct session_env *env, uint64_t epoch);
    /* Upward, unless NULL: the map of a cluster that was asked for then does not
     * do.  False: it could not be told. */
    bool (*on_hint)(struct session_env *env, size_t pool, enum map_cause cause,
                    uint64_t asked);
    /* Upward, unless NULL: lines for monitors of a pool at other workers; there
     * are none at this one any more.  False: it could not be told. */
    bool (*on_lines)(struct session_env *env, size_t pool, struct view lines);
    bool (*on_unwatched)(struct session_env *env, size_t pool);
    /* Upward, unless NULL: news for a client at another worker (relay.h).  False:
     * it could not be told. */
    bool (*on_relay)(struct session_env *env, unsigned worker,
                     const struct relayed *relayed);
};

/* Without pools: the first edition brings them.  The functions upward are set
 * before that. */
void session_env_init(struct session_env *env, struct loop *loop,
                      unsigned worker, unsigned workers);
/* Closes every session and every lane. */
void session_env_fini(struct session_env *env);

/* Go on by another edition; borrowed for this call. */
void session_env_take(struct session_env *env, const struct edition *edition);

/* The pool with this id, or NULL; removed ones too. */
struct session_pool *session_env_find(struct session_env *env, size_t id);

/* The map of a cluster does not do: have the nodes asked anew.  Told once for
 * each map; what happens until the next has come is told of that.  Nothing
 * happens in a pool of listed servers. */
void session_pool_hint(struct session_pool *pool, enum map_cause cause);

/* Free what is kept for reuse; now and then, so that bursts leave nothing. */
void session_env_trim(struct session_env *env);

/* Finish what is in flight, close sessions as they become quiet. */
void session_env_drain(struct session_env *env);
bool session_env_is_empty(const struct session_env *env);

#endif
