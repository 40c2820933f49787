/*
 * session/back_pressure.c - the lane that waits until a client has taken some of
 * what it has got.
 */
#include "session/request.h"
#include "session/session.h"

void
session_pause_lane(struct session *session, struct request *request,
                   struct lane *lane)
{
    if (session->pausing != NULL)
        return;
    session->pausing = request;
    request->unsent = stream_unsent(&session->stream);
    request->paused = lane;
    TAILQ_INSERT_TAIL(&session->pool->pausing, session, pausing_link);
    lane_pause(lane);
}

struct lane *
session_unpause(struct session *session)
{
    struct request *request = session->pausing;

    if (request == NULL)
        return NULL;
    struct lane *lane = request->paused;
    session->pausing = NULL;
    request->paused = NULL;
    TAILQ_REMOVE(&session->pool->pausing, session, pausing_link);
    return lane;
}

void
session_resume_lane(struct session *session)
{
    struct lane *lane = session_unpause(session);

    if (lane != NULL)
        lane_resume(lane);
}
