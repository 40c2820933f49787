/*
 * session/private_lane.h - a lane that serves this session alone for a while.
 *
 * A session has at most one, for one request: it is asked for when everything
 * before that request has been answered, so that order is kept, and given back
 * when the request is answered.  Used for large requests, by heavy sessions and
 * for blocking commands.
 */
#ifndef SESSION_PRIVATE_LANE_H
#define SESSION_PRIVATE_LANE_H

#include "session/request.h"
#include "session/session.h"

/* Send the request over a private lane of its shard; at once, or when one is
 * free.  `open_body`: more of it will be fed; on_lane (may be NULL) tells when
 * feeding may begin. */
void private_lane_submit(struct session *session, struct request *request,
                         bool open_body);

bool private_lane_is_leased(const struct session *session,
                            const struct request *request) MUST_CHECK;

/* Is the request on it, and is it none that WAIT would go over? */
static inline bool
private_lane_serves(const struct session *session,
                    const struct request *request)
{
    return unlikely(session->private != NULL) &&
        private_lane_is_leased(session, request);
}

/* The request that has it is answered, lost or given up. */
void private_lane_release(struct session *session);

/* Give up and free; the session ends. */
void private_lane_free(struct session *session);

#endif
