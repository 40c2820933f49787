/*
 * session/monitor.h - MONITOR: what the clients of a pool ask for, shown to one
 * of them.
 *
 *   a client's request ----> lines of the turn ----> monitors at this worker
 *                                  |
 *                                  +--> control ---> monitors at others
 *
 * A request is shown in the words that it came in, when it was let through: what
 * is refused before it is executed is not.  What MULTI has queued is shown
 * with EXEC.  While nobody monitors a pool it costs its requests one test of
 * pool->attention.
 *
 * With monitor_scripts what scripts run at the servers is shown as well
 * (script_watch.h).
 *
 * A monitor that does not take its lines is closed at client_output_limit.
 *
 * Control knows at which workers a pool has monitors, and tells all of them.  A
 * worker whose last one has left says so within a second.
 */
#ifndef SESSION_MONITOR_H
#define SESSION_MONITOR_H

#include "session/incoming.h"
#include "session/session.h"
#include "session/survey.h"

/* Where a pool has monitors, as control tells. */
enum {
    MONITORS_HERE = 1, /* at this worker, or they are about to be */
    MONITORS_ELSEWHERE = 2
};

struct monitor;
struct monitoring;

/* One request on its way, while somebody watches. */
struct sighting {
    size_t mark;       /* of the lines, before it */
    uint64_t refusals; /* the pool's, before it */
    bool was_queueing;
};

/* Before and after a request is acted upon. */
void monitor_begin(struct sighting *sighting, const struct incoming *in);
void monitor_end(const struct sighting *sighting, const struct incoming *in);
/* A large request is passed on as it comes: its first words are here. */
void monitor_note_upload(struct session *session,
                         const struct command *command,
                         const struct command_args *args);

/* As a replica, which it is to a server, a monitor may not ask for this. */
bool monitor_forbids(const struct incoming *in) MUST_CHECK;

/* It is one from now on, and is so no longer. */
void monitor_join(struct session *session);
void monitor_leave(struct session *session);

/* Told by control: bits of the above; and what others have seen. */
void monitor_set_places(struct session_env *env, size_t pool_id,
                        unsigned places);
void monitor_take_lines(struct session_env *env, size_t pool_id,
                        struct view lines);

/* A survey of MONITOR: this worker sees what there is to be seen. */
void monitor_survey(struct session_pool *pool, const struct survey *survey);
/* The pool has other settings, or other shards. */
void monitor_follow(struct session_pool *pool);

/* The turn ends: its lines go out. */
void monitor_flush_all(struct session_env *env);
/* Once a second. */
void monitor_tick(struct session_pool *pool);
void monitoring_free(struct session_pool *pool);

#endif
