/*
 * session/late_writes.h - writes that a failover may lose.
 *
 * A Sentinel has just told a replica to be the primary.  What the old one answers
 * from here on the new one may not have: it is counted and logged, so that a hold
 * that came too late can be found afterwards.
 */
#ifndef SESSION_LATE_WRITES_H
#define SESSION_LATE_WRITES_H

struct session_pool;

/* After the pool has taken an edition. */
void late_writes_look(struct session_pool *pool);

#endif
