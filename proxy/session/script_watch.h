/*
 * session/script_watch.h - what scripts and functions run at the servers, for
 * monitors.
 *
 *   server --MONITOR--> +... [0 127.0.0.1:5] "get" "k"      dropped
 *                       +... [0 lua] "set" "k" "v"   --->   monitors here
 *
 * Only with monitor_scripts, and only at workers that have monitors: a listening
 * lane to each shard (session/listening.h).  Who asks for MONITOR is answered when
 * each of them has said yes, or cannot be listened to.  A lane that is lost is made
 * anew; what was run meanwhile is not seen.
 *
 * Owner: struct monitoring (monitor.c).  One thread.
 */
#ifndef SESSION_SCRIPT_WATCH_H
#define SESSION_SCRIPT_WATCH_H

#include "session/survey.h"

struct script_watch;

struct script_watch *script_watch_new(struct session_pool *pool);
/* Whoever waits is told. */
void script_watch_free(struct script_watch **watchp);

/* The pool may have other shards: listen to these. */
void script_watch_follow(struct script_watch *watch);
/* Tell it once all are listened to; its text is empty. */
void script_watch_survey(struct script_watch *watch,
                         const struct survey *survey);
/* Now and then. */
void script_watch_tick(struct script_watch *watch, uint64_t now_us);

#endif
