/*
 * session/retry.c - what is sent again.
 */
#include "session/retry.h"

#include <string.h>

#include "session/direct.h"
#include "session/holding.h"
#include "session/note.h"
#include "session/session.h"

#define US_PER_MS 1000

bool
retry_only_reads(const struct command *command)
{
    return (command->flags & COMMAND_READONLY) != 0;
}

bool
retry_writes(const struct command *command)
{
    return !retry_only_reads(command) && command->id != COMMAND_ID_WATCH &&
        command->id != COMMAND_ID_UNWATCH &&
        (command->flags & COMMAND_NO_AUTH) == 0;
}

/* Modules whose commands are cut apart are known, and write no redirects. */
bool
retry_is_user_code(const struct command *command)
{
    if (command->class == CLASS_FANOUT || command->class == CLASS_SPLIT)
        return false;
    return (command->flags & COMMAND_MODULE) != 0 ||
        strcmp(command->group, "scripting") == 0;
}

/* --- the table --------------------------------------------------------------- */

static const struct {
    enum retry_action action;
    unsigned first_ms; /* to wait; doubled each time ... */
    unsigned most_ms;  /* ... up to here */
    bool by_primary;   /* if it is the answer of a replica to a read */
} table[OUTCOME_COUNT] = {
    [OUTCOME_OTHER] = {RETRY_PASS_ON, 10, 200, false}, /* a lost connection */
    [OUTCOME_MOVED] = {RETRY_FOLLOW, 20, 200, true},
    [OUTCOME_ASK] = {RETRY_FOLLOW, 20, 200, true},
    [OUTCOME_TRYAGAIN] = {RETRY_WAIT, 10, 200, true},
    [OUTCOME_CLUSTERDOWN] = {RETRY_WAIT, 50, 500, true},
    [OUTCOME_READONLY] = {RETRY_WAIT, 50, 500, false},
    [OUTCOME_REDIRECT] = {RETRY_WAIT, 50, 500, true},
    [OUTCOME_LOADING] = {RETRY_WAIT, 100, 100, true},
    [OUTCOME_MASTERDOWN] = {RETRY_WAIT, 100, 100, true},
    /* Scripts that are loaded at a primary are not at its replicas. */
    [OUTCOME_NOSCRIPT] = {RETRY_PASS_ON, 0, 0, true},
    [OUTCOME_NOREPLICAS] = {RETRY_PASS_ON, 100, 100, false},
    [OUTCOME_UNBLOCKED] = {RETRY_PASS_ON, 50, 500, false},
};

enum retry_action
retry_action(enum outcome outcome)
{
    return table[outcome].action;
}

bool
retry_by_primary(enum outcome outcome)
{
    return table[outcome].by_primary;
}

/* A blocked command has waited at a primary that was made a replica; CLIENT UNBLOCK
 * has other words. */
bool
retry_is_unblocked_by_role(struct view line)
{
    return view_begins(line, VIEW("-UNBLOCKED force unblock "));
}

/* It has no slots to point to.  NOREPLICAS may come from one that is primary no
 * more, and from one that is: the second time it is an answer. */
enum retry_action
retry_action_of_master(enum outcome outcome, unsigned n)
{
    switch (outcome) {
    case OUTCOME_READONLY:
    case OUTCOME_REDIRECT:
    case OUTCOME_LOADING:
    case OUTCOME_MASTERDOWN:
        return RETRY_WAIT;
    case OUTCOME_NOREPLICAS:
        return n == 0 ? RETRY_WAIT : RETRY_PASS_ON;
    default:
        return RETRY_PASS_ON;
    }
}

uint64_t
retry_wait_us(enum outcome outcome, unsigned n)
{
    uint64_t ms = (uint64_t)table[outcome].first_ms << MIN(n, 16u);

    return MIN(ms, (uint64_t)table[outcome].most_ms) * US_PER_MS;
}

/* --- lost connections --------------------------------------------------------- */

bool
retry_may_run_again(const struct request *request, bool sent)
{
    return !sent || (retry_only_reads(request->command) &&
                     request->pool->settings->retry_reads);
}

/* Has it been sent, or will it be before what is sent again now?  What waits on
 * a lane that has been lost goes behind that, as it is still to be told. */
static bool
goes_first(const struct call *call)
{
    return call->state != CALL_WAITING || call->lane == NULL ||
        call->lane->state != LANE_CLOSED;
}

/* Might a later write of this client run on that shard before it? */
static bool
later_write_goes_first(const struct request *request)
{
    const struct request *later = TAILQ_NEXT(request, link);

    for (; later != NULL; later = TAILQ_NEXT(later, link)) {
        if (later->command == NULL || retry_only_reads(later->command))
            continue;
        if (later->job != NULL ||
            (later->shard == request->shard &&
             goes_first(&later->call)))
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
    if (request_is_gone(request))
        return false;
    if (!retry_may_run_again(request, sent))
        return false;
    return direct_is_queueing(request) || !later_write_goes_first(request);
}

void
retry_take_loss(struct request *request, enum close_reason why, bool sent)
{
    if (holding_take_loss(request, &request->attempt, request->shard, sent)) {
        request_undo(request); /* the next answer is a whole one */
    } else if (retry_may_resend(request, why, sent)) {
        note_resend(request, why, sent);
        request->tries++;
        request_undo(request);
        request_submit(request);
    } else if (!sent) {
        request_fail_unreachable(request);
    } else {
        request_fail_lost(request);
    }
}
