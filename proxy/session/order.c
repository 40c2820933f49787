/*
 * session/order.c - what has to wait until everything before it is answered.
 */
#include "session/order.h"

#include "session/blocking.h"
#include "session/carrying.h"
#include "session/fanout.h"
#include "session/key_watch.h"
#include "session/local.h"
#include "session/long_script.h"
#include "session/session.h"
#include "session/transaction.h"
#include "session/subscriber.h"
#include "session/wait.h"

/* It takes the lanes for scripts only with nothing unanswered; who brings a library
 * and calls it at once shall not hold up others for that. */
static bool
is_behind_its_library(const struct incoming *in)
{
    const struct request *last =
        TAILQ_LAST(&in->session->queue, request_list);

    return unlikely(long_script_is(in->command)) && last->command != NULL &&
        last->command->id == COMMAND_ID_FUNCTION_LOAD;
}

/* A slot of it is on the move, and a command in front may be sent about. */
static bool
is_on_a_hot_slot(const struct incoming *in)
{
    const struct session *session = in->session;
    const struct overlay *overlay = &session->pool->pool->overlay;
    uint64_t now_us = loop_now_us(session->pool->env->loop);
    const struct command *command = in->command;

    if (!overlay_is_warm(overlay, now_us))
        return false;
    if (command->id == COMMAND_ID_EXEC)
        return true;
    if (command->class != CLASS_ROUTE || command->first_key <= 0 ||
        command->first_key != command->last_key)
        return command->class == CLASS_ROUTE || command->class == CLASS_SPLIT;
    struct view key = command_arg(&in->args, (uint32_t)command->first_key);
    return overlay_is_hot(overlay,
                          route_slot(session->generation->route, key), now_us);
}

bool
order_must_wait(const struct incoming *in)
{
    const struct session *session = in->session;
    const struct pool_settings *settings = session->pool->settings;

    if (TAILQ_EMPTY(&session->queue))
        return false;
    if (local_is_barrier(in->command) || subscriber_is_for(in->command) ||
        key_watch_is_barrier(session, in->command) ||
        transaction_is_barrier(session, in->command) || blocking_is(in) ||
        wait_is(in) || carrying_is_barrier(settings, in->command) ||
        is_behind_its_library(in))
        return true;
    if (likely(!pool_is_followed(settings)))
        return false;
    /* All keys are its, and what is in front may be held. */
    if (fanout_is_for(session, in->command) ||
        in->command->id == COMMAND_ID_INFO)
        return true;
    return pool_is_cluster(settings) && is_on_a_hot_slot(in);
}
