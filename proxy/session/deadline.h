/*
 * session/deadline.h - how long a request waits for its answer.
 */
#ifndef SESSION_DEADLINE_H
#define SESSION_DEADLINE_H

#include "net/loop.h"
#include "session/request.h"

/* The first of the pool's requests, or the one behind this, whose time runs.  They
 * come client by client, and the older one of a client first; none may be answered
 * in between. */
struct request *request_next_waiting(struct session_pool *pool,
                                     struct request *request);

/* Its time begins to run, from request->start_us. */
void request_start_deadline(struct request *request);
void request_stop_deadline(struct request *request);

/* Its time is up: answer with an error. */
void request_expire(struct request *request);

/* A piece of its reply has come: its time begins anew. */
void request_note_progress(struct request *request);

/* Its bytes move into a chunk of their own. */
void request_compact(struct request *request);
/* Those that have waited for a second hold their bytes in chunks of their own
 * from then on, so that a small one does not pin what it came in. */
void request_compact_old(struct session_pool *pool, uint64_t now_us);

/* Timer of pool->deadline: answer what is too old with an error. */
void request_on_deadline(struct timer *timer, void *arg);

#endif
