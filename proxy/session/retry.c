/*
 * session/retry.c - what is sent again.
 */
#include "session/retry.h"

#include "session/session.h"

static bool
only_reads(const struct command *command)
{
    return (command->flags & COMMAND_READONLY) != 0;
}

/* Might a later write of this client have run on that shard already? */
static bool
later_write_in_flight(const struct request *request)
{
    const struct request *later = TAILQ_NEXT(request, link);

    for (; later != NULL; later = TAILQ_NEXT(later, link)) {
        if (later->command == NULL || only_reads(later->command))
            continue;
        if (later->job != NULL ||
            (later->shard == request->shard &&
             later->call.state != CALL_WAITING))
            return true;
    }
    return false;
}

/* A new connection has a chance: the old one was no failed attempt. */
static bool
worth_another_try(enum close_reason why)
{
    return why == CLOSE_SERVER_EOF || why == CLOSE_SERVER_ERROR;
}

bool
retry_may_resend(const struct request *request, enum close_reason why,
                 bool sent)
{
    if (request->tries >= RETRY_MAX || !worth_another_try(why))
        return false;
    if (request->call.body_size > request->call.body.len)
        return false; /* passed on as it came: we have it no more */
    if (sent && !(only_reads(request->command) &&
                  request->session->pool->settings->retry_reads))
        return false;
    return !later_write_in_flight(request);
}
