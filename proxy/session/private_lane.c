/*
 * session/private_lane.c - leasing a lane for one request.
 */
#include "session/private_lane.h"

#include "base/mem.h"
#include "session/blocking.h"
#include "session/deadline.h"
#include "session/holding.h"
#include "session/replica_read.h"
#include "session/retry.h"
#include "session/sentence.h"
#include "session/upload.h"

struct private_lane {
    struct lane_lease lease;
    struct server *server;
    struct session *session;
    struct request *request; /* waits for the lane, or is on it */
    bool open_body;
};

static void
submit_now(struct private_lane *private)
{
    struct request *request = private->request;
    struct lane *lane = private->lease.lane;

    request->refs++; /* the call's */
    if (private->open_body) {
        request_stop_deadline(request); /* from now on upload_idle_timeout */
        lane_submit_open(lane, &request->call);
    } else {
        if (request->blocks)
            blocking_begin(request, lane);
        lane_submit(lane, &request->call);
    }
}

static void
lane_unreachable(struct private_lane *private)
{
    struct request *request = private->request;

    private->request = NULL;
    if (!private->open_body &&
        holding_take_loss(request, &request->attempt, request->shard, false))
        return;
    upload_on_lost(private->session);
    session_pool_hint(request->pool, MAP_CAUSE_LOST);
    request_fail_unreachable(request);
}

static void
on_lane(struct lane_lease *lease)
{
    struct private_lane *private =
        CONTAINER_OF(lease, struct private_lane, lease);

    if (lease->lane == NULL)
        lane_unreachable(private);
    else
        submit_now(private);
}

/* The call on it has been or will be told by itself. */
static void
on_gone(struct lane_lease *lease)
{
    (void)lease;
}

static struct private_lane *
private_of(struct session *session)
{
    if (session->private == NULL) {
        session->private = MEM_NEW(struct private_lane);
        session->private->session = session;
        session->private->lease.on_lane = on_lane;
        session->private->lease.on_gone = on_gone;
    }
    return session->private;
}

void
private_lane_submit(struct session *session, struct request *request,
                    bool open_body)
{
    struct private_lane *private = private_of(session);

    private_lane_release(session);
    private->server = request_server(request);
    private->request = request;
    private->open_body = open_body;
    private->lease.key = attempt_lane_key(session, &request->attempt);
    if (retry_is_barred(request->command, private->server)) {
        private->request = NULL;
        upload_on_lost(session);
        request_fail_barred(request);
        return;
    }
    if (open_body && retry_is_held(request->command, private->server)) {
        lane_unreachable(private);
        return;
    }
    server_lease(private->server, &private->lease);
    if (private->lease.is_waiting)
        return;
    if (private->lease.lane != NULL)
        submit_now(private);
    else
        lane_unreachable(private);
}

bool
private_lane_is_of(const struct session *session,
                   const struct request *request)
{
    return session->private->request == request;
}

void
private_lane_release(struct session *session)
{
    struct private_lane *private = session->private;

    if (private == NULL)
        return;
    private->request = NULL;
    blocking_withdraw(session);
    if (private->server != NULL)
        server_end_lease(private->server, &private->lease);
    private->server = NULL;
}

void
private_lane_free(struct session *session)
{
    private_lane_release(session);
    mem_free(session->private);
    session->private = NULL;
}
