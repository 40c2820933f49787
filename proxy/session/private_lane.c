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
#include "session/trail.h"
#include "session/upload.h"
#include "session/wait.h"

struct private_lane {
    struct lane_lease lease;
    struct server *server;
    struct session *session;
    struct request *request; /* waits for the lane, or is on it */
    bool open_body;
    bool is_of_trail; /* one with which the client tracks, no lease */
    bool is_of_wait;  /* one that its session has since it waited, no lease */
};

static void
submit_now(struct private_lane *private, struct lane *lane)
{
    struct request *request = private->request;

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
        submit_now(private, lease->lane);
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

/* A lane that the session has already.  False: it has none there. */
static bool
submit_on_trail(struct private_lane *private)
{
    struct request *request = private->request;
    struct lane *lane = trail_lane(request, private->server,
                                    private->lease.key, &request->call);

    if (lane == NULL)
        return false;
    private->is_of_trail = true;
    submit_now(private, lane);
    return true;
}

/* So that WAIT asks where it has written. */
static bool
submit_on_own(struct private_lane *private)
{
    struct lane *lane =
        wait_lane(private->session, private->server, private->lease.key);

    if (lane == NULL)
        return false;
    private->is_of_wait = true;
    submit_now(private, lane);
    return true;
}

static void
submit_over_lease(struct private_lane *private)
{
    server_lease(private->server, &private->lease);
    if (private->lease.lane == NULL && !private->lease.is_waiting) {
        lane_unreachable(private);
        return;
    }
    trail_note_detour(private->session, private->server);
    if (!private->lease.is_waiting)
        submit_now(private, private->lease.lane);
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
    if (!submit_on_trail(private) && !submit_on_own(private))
        submit_over_lease(private);
}

bool
private_lane_is_leased(const struct session *session,
                       const struct request *request)
{
    return session->private->request == request &&
        !session->private->is_of_wait;
}

void
private_lane_release(struct session *session)
{
    struct private_lane *private = session->private;

    if (private == NULL)
        return;
    private->request = NULL;
    blocking_withdraw(session);
    if (private->is_of_trail)
        trail_release(session, private->server);
    else if (private->is_of_wait)
        wait_release_lane(session, private->server, private->lease.key);
    else if (private->server != NULL)
        server_end_lease(private->server, &private->lease);
    private->server = NULL;
    private->is_of_trail = private->is_of_wait = false;
}

void
private_lane_free(struct session *session)
{
    private_lane_release(session);
    mem_free(session->private);
    session->private = NULL;
}
