/*
 * session/holding.c - holding, the rule of order, sending again.
 */
#include "session/holding.h"

#include "base/mem.h"
#include "command/outcome.h"
#include "command/redirect.h"
#include "session/blocking.h"
#include "session/deadline.h"
#include "session/direct.h"
#include "session/doubt.h"
#include "session/holding_priv.h"
#include "session/replica_read.h"
#include "session/retry.h"
#include "session/sentence.h"
#include "session/session.h"

/* --- the timer -------------------------------------------------------------- */

static void
on_again(struct timer *timer, void *arg)
{
    struct holding *holding = arg;

    (void)timer;
    session_resume_later(holding->session);
}

static struct holding *
holding_of(struct session *session)
{
    if (session->holding == NULL) {
        struct holding *holding = MEM_NEW(struct holding);
        holding->session = session;
        timer_init(&holding->timer, session->pool->env->loop, on_again,
                   holding);
        session->holding = holding;
    }
    return session->holding;
}

void
holding_free(struct session *session)
{
    struct holding *holding = session->holding;

    if (holding == NULL)
        return;
    timer_stop(&holding->timer);
    mem_free(holding);
    session->holding = NULL;
}

/* --- taking ------------------------------------------------------------------ */

static uint64_t
now_of(const struct request *request)
{
    return loop_now_us(request->pool->env->loop);
}

static void
hold(struct request *request, struct attempt *attempt, enum hold how)
{
    struct session *session = request->session;

    ASSERT(attempt->hold == HOLD_NONE && how != HOLD_NONE);
    attempt->hold = (uint8_t)how;
    attempt->since_us = now_of(request);
    holding_of(session)->count++;
    if (session->private != NULL && request->job == NULL)
        private_lane_release(session);
    if (request->blocks)
        blocking_suspend(request);
    if (unlikely(request->own_lane == OWN_LANE_DIRECT))
        direct_suspend(session);
    session_resume_later(session);
}

void
holding_take_anew(struct request *request, struct attempt *attempt)
{
    hold(request, attempt, HOLD_ROUTE);
}

void
holding_forget(struct request *request)
{
    if (--request->session->holding->count == 0)
        holding_free(request->session);
}

void
holding_drop(struct request *request, struct attempt *attempt)
{
    if (attempt->hold == HOLD_NONE)
        return;
    attempt->hold = HOLD_NONE;
    holding_forget(request);
}

void
holding_take_back(struct request *request, struct attempt *attempt)
{
    request_start_deadline(request);
    hold(request, attempt, HOLD_ROUTE);
}

void
holding_wait_until(struct session *session, uint64_t again_us)
{
    uint64_t now_us = loop_now_us(session->pool->env->loop);
    uint64_t wait_us = again_us > now_us ? again_us - now_us : 0;

    timer_start(&session->holding->timer, (int64_t)((wait_us + 999) / 1000));
}

static void
hold_for_a_while(struct request *request, struct attempt *attempt)
{
    attempt->again_us =
        now_of(request) + retry_wait_us(attempt->outcome, attempt->waits);
    if (attempt->waits < UINT8_MAX)
        attempt->waits++;
    hold(request, attempt, HOLD_WAIT);
}

/* The number in the current roster of whom a redirect names, or its count. */
static uint32_t
find_target(const struct request *request, const struct redirect *redirect,
            uint32_t asked)
{
    const struct roster *before = request->generation->roster;
    struct view host = redirect->host;

    if (host.len == 0)
        host = view_str(before->entries[asked].address.host);
    return roster_find_address(request->pool->pool->current->roster, host,
                               redirect->port);
}

/* What a redirect teaches everybody; false when it names a node that is not
 * known. */
static bool
learn_redirect(struct request *request, const struct attempt *attempt,
               const struct redirect *redirect, uint32_t target)
{
    struct session_stats *stats = request->pool->stats;
    struct pool *pool = request->pool->pool;
    bool is_moved = attempt->outcome == OUTCOME_MOVED;
    bool is_listed = target < pool->current->server_count;

    cell_inc(is_moved ? &stats->redirects_moved : &stats->redirects_ask);
    if (!is_moved)
        overlay_heat(&pool->overlay, redirect->slot, now_of(request));
    if (is_moved || !is_listed)
        session_pool_hint(request->pool, MAP_CAUSE_MOVED);
    if (!is_listed)
        cell_inc(&stats->redirects_unlisted);
    else if (is_moved)
        overlay_correct(&pool->overlay, redirect->slot, target,
                        loop_clock_us(pool->loop));
    return is_listed;
}

static void
follow(struct request *request, struct attempt *attempt, uint32_t target)
{
    if (attempt->outcome == OUTCOME_MOVED) {
        hold(request, attempt, HOLD_ROUTE);
        return;
    }
    attempt->target = target;
    attempt->map = request->pool->pool->current->snapshot->epoch;
    hold(request, attempt, HOLD_ASK);
}

static bool
take_redirect(struct request *request, struct attempt *attempt,
              uint32_t asked, struct view line)
{
    struct redirect redirect;

    if (!redirect_parse(&redirect, line) || redirect.slot != attempt->slot)
        return false; /* not about this command */
    uint32_t target = find_target(request, &redirect, asked);
    if (++attempt->hops > RETRY_HOPS_MAX) {
        cell_inc(&request->pool->stats->redirects_too_many);
        hold_for_a_while(request, attempt);
    } else if (learn_redirect(request, attempt, &redirect, target)) {
        follow(request, attempt, target);
    } else {
        hold_for_a_while(request, attempt);
    }
    return true;
}

static void
learn_obstacle(struct request *request, const struct attempt *attempt)
{
    struct pool *pool = request->pool->pool;

    switch ((enum outcome)attempt->outcome) {
    case OUTCOME_TRYAGAIN:
        cell_inc(&request->pool->stats->redirects_tryagain);
        overlay_heat(&pool->overlay, attempt->slot, now_of(request));
        break;
    case OUTCOME_CLUSTERDOWN:
        cell_inc(&request->pool->stats->redirects_clusterdown);
        session_pool_hint(request->pool, MAP_CAUSE_DOWN);
        break;
    default:
        cell_inc(&request->pool->stats->redirects_not_ready);
        session_pool_hint(request->pool, MAP_CAUSE_DEMOTED);
    }
}

/* It cannot go again, but what was said to it is true. */
static void
learn_only(struct request *request, const struct attempt *attempt,
           uint32_t asked, struct view line)
{
    struct redirect redirect;

    if (retry_action((enum outcome)attempt->outcome) != RETRY_FOLLOW)
        learn_obstacle(request, attempt);
    else if (redirect_parse(&redirect, line) &&
             redirect.slot == attempt->slot)
        (void)learn_redirect(request, attempt, &redirect,
                             find_target(request, &redirect, asked));
}

/* A redirect of another slot is surely not the node's. */
static bool
is_about_slot(const struct attempt *attempt, struct view line)
{
    struct redirect redirect;

    return retry_action((enum outcome)attempt->outcome) != RETRY_FOLLOW ||
        (redirect_parse(&redirect, line) && redirect.slot == attempt->slot);
}

void
holding_take_doubtful(struct request *request, struct attempt *attempt,
                      const struct reply_piece *piece)
{
    request->reply_type = piece->type;
    request->reply_bytes = piece->len;
    chain_push(&request->reply, piece->chunk, piece->off, piece->len);
    request_charge(request, piece->len);
    hold(request, attempt, HOLD_DOUBT);
}

static bool
is_redirect(const struct attempt *attempt)
{
    return retry_action((enum outcome)attempt->outcome) == RETRY_FOLLOW;
}

/* A client must not see a redirect that may be the node's: it would look for the
 * keys elsewhere.  It cannot be followed either, as it may be the script's. */
static void
leave_open(struct request *request, struct attempt *attempt)
{
    session_pool_hint(request->pool, MAP_CAUSE_MOVED);
    if (request_is_gone(request))
        return;
    if (retry_may_run_again(request, true)) {
        hold_for_a_while(request, attempt);
        return;
    }
    cell_inc(&request->pool->stats->errors_lost);
    request_fail(request, request_text_doubtful(request, attempt));
}

/* A script can say anything, and its effects would come twice: what it has said
 * is kept until the node has been asked. */
static bool
take_doubtful(struct request *request, struct attempt *attempt,
              const struct reply_piece *piece, struct view line)
{
    if (request->job != NULL || !is_about_slot(attempt, line))
        return false;
    switch (doubt_ask(request)) {
    case DOUBT_NONE:
        return false;
    case DOUBT_ASKED:
        holding_take_doubtful(request, attempt, piece);
        return true;
    case DOUBT_UNASKED:
        break;
    }
    if (!is_redirect(attempt))
        return false;
    leave_open(request, attempt);
    return true;
}

/* The node refuses the keys, so nothing was executed. */
static void
take_refusal(struct request *request, struct attempt *attempt,
             struct view line)
{
    enum retry_action action = retry_action((enum outcome)attempt->outcome);

    request_undo(request);
    if (action == RETRY_FOLLOW &&
        take_redirect(request, attempt, request->shard, line))
        return;
    if (action == RETRY_WAIT)
        learn_obstacle(request, attempt);
    hold_for_a_while(request, attempt);
}

void
holding_settle(struct request *request, struct view line)
{
    struct attempt *attempt = &request->attempt;
    enum outcome outcome = outcome_of(line);

    ASSERT(attempt->hold == HOLD_DOUBT);
    holding_drop(request, attempt);
    if (line.len == 0 && is_redirect(attempt)) {
        request_undo(request);
        leave_open(request, attempt);
        return;
    }
    if (retry_action(outcome) == RETRY_PASS_ON) {
        request_done(request);
        return;
    }
    attempt->outcome = (uint8_t)outcome;
    take_refusal(request, attempt, line);
}

void
holding_end_doubt(struct request *request)
{
    struct attempt *attempt = &request->attempt;

    holding_drop(request, attempt);
    if (!is_redirect(attempt)) {
        request_done(request); /* by the script's answer, as it may be one */
        return;
    }
    request_undo(request);
    request_fail(request, request_text_doubtful(request, attempt));
}

/* Who waits is moved when its master is one no more, and before that when we have
 * asked for it. */
static enum retry_action
action_of_master(const struct request *request, const struct attempt *attempt,
                 struct view line)
{
    enum outcome outcome = outcome_of(line);

    if (outcome == OUTCOME_UNBLOCKED && request->blocks &&
        (retry_is_unblocked_by_role(line) ||
         blocking_is_moving(request->session)))
        return RETRY_WAIT;
    return retry_action_of_master(outcome, attempt->waits);
}

bool
holding_take_reply(struct request *request, struct attempt *attempt,
                   uint32_t asked, const struct reply_piece *piece)
{
    const struct pool_settings *settings = request->pool->settings;
    struct view line = view_of(piece->chunk->data + piece->off, piece->len);
    enum outcome outcome = outcome_of(line);
    enum retry_action action = pool_is_named(settings)
        ? action_of_master(request, attempt, line)
        : retry_action(outcome);

    if (!piece->last || piece->size != piece->len || request->begun)
        return false;
    if (attempt->at_replica)
        return replica_read_take_error(request, attempt, asked, outcome);
    if (action == RETRY_PASS_ON)
        return false;
    attempt->outcome = (uint8_t)outcome;
    if (retry_is_user_code(request->command) &&
        request->own_lane != OWN_LANE_DIRECT) {
        if (pool_is_named(settings))
            session_pool_hint(request->pool, MAP_CAUSE_DEMOTED);
        return take_doubtful(request, attempt, piece, line);
    }
    if (request_is_gone(request)) {
        learn_only(request, attempt, asked, line);
        return true;
    }
    if (action == RETRY_FOLLOW)
        return take_redirect(request, attempt, asked, line);
    learn_obstacle(request, attempt);
    hold_for_a_while(request, attempt);
    return true;
}

bool
holding_take_loss(struct request *request, struct attempt *attempt,
                  uint32_t asked, bool sent)
{
    if (!pool_is_followed(request->pool->settings) || request->begun)
        return false;
    session_pool_hint(request->pool, MAP_CAUSE_LOST);
    if (request_is_gone(request) || !retry_may_run_again(request, sent))
        return false;
    attempt->outcome = OUTCOME_OTHER;
    if (attempt->at_replica) {
        replica_read_take_loss(request, attempt, asked);
        return true;
    }
    attempt->by_primary = false; /* without it replicas may do */
    hold_for_a_while(request, attempt);
    return true;
}

void
holding_take_unreachable(struct request *request)
{
    if (!holding_take_loss(request, &request->attempt, request->shard, false))
        request_fail_unreachable(request);
}

/* Control knows it already. */
void
holding_take_held(struct request *request, struct attempt *attempt)
{
    attempt->outcome = OUTCOME_OTHER;
    hold_for_a_while(request, attempt);
}

void
holding_take_patience(struct request *request, struct attempt *attempt)
{
    attempt->outcome = OUTCOME_CLUSTERDOWN;
    hold_for_a_while(request, attempt);
}

void
holding_take_unserved(struct request *request, struct attempt *attempt)
{
    session_pool_hint(request->pool, MAP_CAUSE_UNSERVED);
    holding_take_patience(request, attempt);
}
