/*
 * daemon/prober.h - which servers are down: control's verdicts.
 *
 *   workers --incidents--> health (upstream/health.h) --verdict--> workers
 *            control's own PING ----^
 *
 * A server that answers nothing is probed now and then, one under suspicion at
 * once, one that is down again and again, over a connection of control's own
 * (one a server, not counted in connections_per_server).  What workers' counters
 * say was answered counts as an answer.  Verdicts go to every worker, so that
 * all hold the same.
 *
 * A server keeps its health from one snapshot to the next as long as its pool,
 * its name and its address, as it is written, stay; when that leads elsewhere, one
 * that was down is half open, and probed at once.  Owner and thread: control.
 */
#ifndef DAEMON_PROBER_H
#define DAEMON_PROBER_H

#include <stdbool.h>
#include <stddef.h>

/* Other servers of the pool with this number are live: one word each. */
typedef void (*prober_live_fn)(void *arg, size_t number, const bool *live);

/* A connection to a server with this host has failed; not of a UNIX socket. */
typedef void (*prober_failure_fn)(void *arg, const char *host);

struct edition;
struct loop;
struct message;
struct prober;
struct worker;

/* Without servers yet.  `editions`, one a worker, is borrowed, and so is what
 * stands in it whenever the prober is called. */
struct prober *prober_new(struct loop *loop, struct worker **workers,
                          unsigned worker_count, struct edition **editions);
void prober_free(struct prober **proberp);
void prober_on_live(struct prober *prober, prober_live_fn fn, void *arg);
void prober_on_failure(struct prober *prober, prober_failure_fn fn, void *arg);

/* Take out of the distribution whoever is to be, and back (eject.c): when the
 * health of one has changed, and after a reload, which makes all of them live. */
void prober_review(struct prober *prober);

/* The editions are new: watch the servers that they have. */
void prober_take(struct prober *prober);
/* Write the verdicts into an edition of the same snapshot. */
void prober_fill(const struct prober *prober, struct edition *edition);

/* MESSAGE_INCIDENTS: what a worker has met at one server. */
void prober_take_incidents(struct prober *prober,
                           const struct message *message);

/* Is no server of the pool with this number down, but replicas, which others stand
 * in for, and those that are out of its distribution? */
bool prober_pool_is_ready(const struct prober *prober, size_t number);

#endif
