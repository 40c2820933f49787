/*
 * upstream/server.h - a server, as one worker sees it.
 *
 * Makes lanes on demand and owns them.  Shared lanes are found by key and
 * number; private ones are leased and come back.  After a failed connection
 * the server rests (reconnect_min doubling to reconnect_max, with jitter), and
 * requests are refused at once meanwhile.
 *
 * Control decides whether the server is down (upstream/health.h) and tells every
 * worker; then all requests are refused at once.  By itself a worker only stops
 * using a server that has left a request unanswered and then everything else,
 * too ("silent"): that rests like one that refuses, and must answer a PING on
 * the next connection before it is given any request.  What goes wrong is
 * noted for control, see pool->has_incidents.
 *
 * Connections are begun at a bounded pace (connects_per_second), after a burst of
 * a quarter of a second's worth; who comes too early waits in line as well.
 *
 * All lanes together stay below the worker's share of connections_per_server.
 * At the cap idle lanes of other keys are closed first, private ones before
 * shared ones; then callers wait in line: calls for shared lanes "parked", and
 * those who want a lane of their own.  Their deadlines are their makers'.
 *
 * Owner: the generations that have it.
 */
#ifndef UPSTREAM_SERVER_H
#define UPSTREAM_SERVER_H

#include "config/settings.h"
#include "net/address_list.h"
#include "upstream/gate.h"
#include "upstream/health.h"
#include "upstream/lane.h"
#include "upstream/server_stats.h"

#define SERVER_SHUN_US 1000000

struct parked_call;
struct pool;
struct server;
struct snapshot;

TAILQ_HEAD(server_list, server);

/* Shared lanes of one key. */
struct lane_group {
    struct lane_key key;
    struct lane_group *next;
    struct lane *lanes[]; /* settings->server_connections of them, or NULL */
};

/* Someone who wants a private lane, or has it; or a listening one, which is
 * made for its holder and closed by it.  Embedded in its maker. */
struct lane_lease {
    TAILQ_ENTRY(lane_lease) link;
    struct lane_key key;
    struct lane *lane; /* NULL: none yet, or no longer */
    bool is_waiting;
    struct lane *taken;    /* it waits for this one to become idle, or NULL */
    unsigned taken_number; /* which is that of the shared lane */
    bool listens; /* a LANE_LISTENING is wanted */
    bool was_refused; /* the server did not take its user: server->refusal */
    /* Called after server_lease() said "later": lease->lane is there, or NULL
     * as the server cannot be reached. */
    void (*on_lane)(struct lane_lease *lease);
    /* The lane was closed under its holder; its calls are told apart. */
    void (*on_gone)(struct lane_lease *lease);
    /* Of a listening lane: it is READY; something has come.  Of a private one: what
     * is no answer; may be NULL. */
    void (*on_ready)(struct lane_lease *lease);
    void (*on_frame)(struct lane_lease *lease,
                     const struct reply_piece *piece);
};

/* Where a server stands in a snapshot, and what it counts with. */
struct server_place {
    struct snapshot *snapshot;
    size_t pool; /* number */
    uint32_t shard;
    struct server_stats *stats;
};

struct server {
    TAILQ_ENTRY(server) link; /* of the pool's */
    struct pool *pool;
    struct snapshot *snapshot; /* the newest that has it ... */
    const struct pool_settings *settings; /* ... and what stands there */
    uint32_t shard;
    uint64_t mark; /* one bit; more than 64 servers have some in common */
    const char *name;
    const struct address_text *at; /* as written */
    struct address_list *addresses; /* a ref; where that leads */
    uint32_t first_address; /* which new lanes try first ... */
    bool is_first_good;     /* ... since one was connected to it */
    struct stream_options options;
    struct server_stats *stats;
    uint32_t refs;          /* generations that have it ... */
    uint32_t users;         /* ... and are in use */
    bool claimed;           /* by the generation that is being made */
    struct lane_group *groups; /* of the pool itself, and of who only asks */
    struct lane_group **user_groups; /* of others (server_groups.c), or NULL */
    struct lane_list lanes; /* all of them */
    struct lane_list idle;  /* private, not leased */
    TAILQ_HEAD(, lane_lease) waiters;
    TAILQ_HEAD(, parked_call) parked;
    unsigned lane_count;
    unsigned private_count; /* of these, listening ones included */
    unsigned lane_max;
    unsigned failures;      /* connections in a row that came to nothing */
    uint64_t retry_at_us;
    uint64_t connect_interval_us; /* the worker's share of a second */
    uint64_t next_connect_us;     /* were they begun at that pace */
    struct timer connect_timer;   /* some wait for their turn to connect ... */
    uint64_t serve_at_us;         /* ... until then */
    uint64_t heard_us;      /* when bytes of it last came */
    bool is_down;           /* control says so */
    bool is_gentle;         /* half open: new lanes begin gently */
    bool is_silent;         /* this worker has found it so */
    char *refusal;          /* what it last said to one client's lane, or NULL */
    struct lane *complainer; /* over which it last answered with an error, or NULL */
    uint64_t shun_until_us; /* reads go elsewhere until then */
    enum gate gate;         /* may writes be sent to it? */
    bool is_newly_held;     /* it has turned to one that holds, ... */
    bool is_promoting;      /* ... to GATE_PROMOTING, and nobody has looked */
    bool has_moved;         /* its lanes are where it was before */
    struct incident_counts incidents; /* that control has not been told */
};

/* In its pool's list, with no place yet. */
struct server *server_new(struct pool *pool);
/* One generation less has it; freed with the last, without lanes by then. */
void server_unref(struct server *server);

/* Has it the name and the address, as they are written, of the place?  Of masters
 * that Sentinels name only the name counts. */
bool server_is_at(const struct server *server,
                  const struct server_place *place) MUST_CHECK;
/* Have they the same name and address, in different generations? */
bool server_is_twin(const struct server *server,
                    const struct server *other) MUST_CHECK;
/* Can its lanes stay: the same name and address, which leads where they are, and
 * connections are opened and greeted in the same way? */
bool server_is_same(const struct server *server,
                    const struct server_place *place) MUST_CHECK;
void server_set_place(struct server *server, const struct server_place *place);

/* Its address leads there from now on: new lanes go by it.  Those that wait
 * since nobody knew are served, or told. */
void server_set_addresses(struct server *server, struct address_list *list);
/* Its name does not resolve, and has not before. */
static inline bool
server_has_no_address(const struct server *server)
{
    return server->addresses->count == 0 && !server->addresses->is_pending;
}
/* A lane has been connected to this address, or could not be. */
void server_note_address(struct server *server, const struct address *address,
                         bool is_good);

/* After the place of servers was set: lanes of a master that is somewhere else
 * now are cut, calls that wait for one that is held are given back. */
void server_settle(struct server *server);

/* Closes every lane, failing its calls. */
void server_close(struct server *server, enum close_reason why);

/* Is it down, or has this worker found it silent?  Then lanes that sessions have
 * for themselves may still be there, but are of no use. */
static inline bool
server_is_off(const struct server *server)
{
    return server->is_down || server->is_silent;
}

/* The slow part of server_submit(). */
bool server_submit_slow(struct server *server, struct lane_key key,
                        unsigned number, struct call *call) MUST_CHECK;

/* Queue a call on the shared lane `number` (taken modulo server_connections) of
 * a key, connecting it if need be; at the cap it is parked, which is one way of
 * CALL_WAITING.  False: the server rests after a failure. */
static inline bool
server_submit(struct server *server, struct lane_key key, unsigned number,
              struct call *call)
{
    const struct lane_group *group = server->groups;
    size_t count = server->settings->server_connections;

    if (likely(group != NULL && lane_key_equal(group->key, key) &&
               !server_is_off(server) &&
               TAILQ_EMPTY(&server->parked))) {
        struct lane *lane = group->lanes[count == 1 ? 0 : number % count];
        if (likely(lane != NULL)) {
            lane_submit(lane, call);
            return true;
        }
    }
    return server_submit_slow(server, key, number, call);
}
/* Leave a shared lane to the calls that are on it: new ones get another, and it
 * is closed when the last has its answer.  Who has calls there must see them
 * answered first.  False: there may be no more lanes. */
bool server_leave_lane(struct lane *lane) MUST_CHECK;
/* Take back a call that has not been sent, wherever it waits.  False: too late,
 * or it was not submitted. */
bool server_withdraw(struct server *server, struct call *call) MUST_CHECK;

/* As a replica it has just failed a read, so others had better answer for
 * SERVER_SHUN_US; may it be asked? */
void server_shun(struct server *server);
bool server_takes_reads(const struct server *server) MUST_CHECK;

/* Connect the shared lanes of a key ahead of time. */
void server_preconnect(struct server *server, struct lane_key key);

/* A lane for one caller alone: lease->lane now, or later if lease->is_waiting.
 * Neither means: the server cannot be reached. */
void server_lease(struct server *server, struct lane_lease *lease);
/* The shared lane `number` of the lease's key itself, as soon as nobody else's
 * calls are unanswered on it: lease->lane now, or later, as above.  on_gone tells
 * that it was closed before.  False: there is none, or no room for another in its
 * place. */
bool server_take_shared(struct server *server, unsigned number,
                        struct lane_lease *lease) MUST_CHECK;
/* Stop waiting, or give a lane back; it must be idle, or it is closed. */
void server_end_lease(struct server *server, struct lane_lease *lease);
/* Stop waiting, or close a lane that nobody else is to have. */
void server_drop_lease(struct server *server, struct lane_lease *lease,
                       enum close_reason why);

/* Nobody is known by this login any more: its lanes are closed, those in use when
 * they are idle. */
void server_end_login(struct server *server, uint16_t user);

/* The verdict of control. */
void server_set_verdict(struct server *server, enum health_state state);

/* A call was sent to it and has expired; it may have lost its lane since.  If that
 * is suspect already it is closed, which ends the call now. */
void server_on_expired(struct server *server, struct call *call);
/* A request was answered with an error over this lane.  Some of these are no sign
 * of health, so that probes go on; where servers are ejected, some count as
 * failures. */
void server_on_error(struct lane *lane, struct view reply);
/* Note it for control. */
void server_report(struct server *server, enum incident what);

/* Called by lanes. */
void server_on_silence(struct server *server, uint64_t since_us);
void server_on_lane_idle(struct lane *lane);
void server_on_lane_ready(struct lane *lane);
void server_on_lane_closed(struct lane *lane, enum close_reason why);

void server_on_answer_after_silence(struct server *server);

/* Bytes of the server have come; on the path of every reply. */
static inline void
server_note_heard(struct server *server, uint64_t now_us)
{
    server->heard_us = now_us;
    if (unlikely(server->is_silent))
        server_on_answer_after_silence(server);
}

/* Close lanes that were not used for server_idle_timeout. */
void server_close_idle(struct server *server, uint64_t now_us);

#endif
