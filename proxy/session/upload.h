/*
 * session/upload.h - a large request, passed on while it still arrives.
 *
 *   stream.in -> request_scan_skip() -> call body on a private lane
 *
 * Begins when a request is not whole at large_request bytes, its key is here
 * and stands before what is large, and everything before it is answered.  The
 * session reads nothing else until it is through.  When the lane is lost, or
 * the request is over a limit, the rest is read and dropped: the client gets
 * its error and the connection stays.
 */
#ifndef SESSION_UPLOAD_H
#define SESSION_UPLOAD_H

#include "session/session.h"

/* The session is in the middle of a request that is large.  True: it is passed
 * on (or dropped) from now on, or will be when earlier ones are answered.  Of
 * one that has left nothing is: the rest will never come. */
bool upload_try(struct session *session) MUST_CHECK;

/* The slow part of upload_refuse_whole(). */
bool upload_refuse_long(struct session *session,
                        const struct request_scan *scan) MUST_CHECK;

/* The request is here whole: would it have been refused had it come in pieces?
 * Then it is answered so; its bytes are still to be consumed. */
static inline bool
upload_refuse_whole(struct session *session, const struct request_scan *scan)
{
    return unlikely(scan->size >
                    session->pool->settings->request_limit_bytes) &&
        upload_refuse_long(session, scan);
}

/* More of it has arrived. */
void upload_on_input(struct session *session);

/* The lane is there, or takes more again. */
void upload_on_drain(struct session *session);

/* The request was answered or lost before it was whole. */
void upload_cut_off(struct session *session);
static inline void
upload_on_lost(struct session *session)
{
    if (unlikely(session->upload != NULL))
        upload_cut_off(session);
}

/* The session ends. */
void upload_abort(struct session *session);

#endif
