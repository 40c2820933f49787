/*
 * session/holding_priv.h - what holding.c and holding_go.c share.
 */
#ifndef SESSION_HOLDING_PRIV_H
#define SESSION_HOLDING_PRIV_H

#include "net/loop.h"
#include "route/route.h"
#include "session/private_lane.h"

/* Of a session that has something held; freed when it has no more. */
struct holding {
    struct session *session;
    uint32_t count;     /* attempts */
    struct timer timer; /* of the first that waits */
};

/* Answered, but not told to the client: it has to go again. */
void holding_take_back(struct request *request, struct attempt *attempt);

/* Look again then. */
void holding_wait_until(struct session *session, uint64_t again_us);

#endif
