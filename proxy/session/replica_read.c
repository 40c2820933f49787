/*
 * session/replica_read.c - choosing a replica, and doing without it.
 */
#include "session/replica_read.h"

#include "session/holding.h"

bool
replica_read_is_for(const struct command *command)
{
    /* PFCOUNT may write what it has counted; TOUCH is for the eviction at the
     * primary. */
    return (command->flags & COMMAND_READONLY) != 0 &&
        (command->flags & (COMMAND_WRITE | COMMAND_MAY_REPLICATE)) == 0 &&
        command->id != COMMAND_ID_TOUCH;
}

/* --- choosing ---------------------------------------------------------------- */

static bool
can_read_from(uint32_t number, const void *arg)
{
    const struct generation *generation = arg;

    return server_takes_reads(generation_server(generation, number));
}

uint32_t
replica_read_choose(const struct session *session, struct attempt *attempt,
                    uint32_t owner)
{
    const struct generation *generation = session->generation;
    const struct overlay *overlay = &session->pool->pool->overlay;
    uint64_t now_us = loop_now_us(session->pool->env->loop);

    /* A node that became a primary since the map was made has no replicas that
     * we know of; and those of a slot that moves do not know what has gone. */
    if (attempt->by_primary || owner >= generation->shard_count ||
        overlay_is_hot(overlay, attempt->slot, now_us))
        return owner;
    const struct reader *reader =
        readers_choose(generation->readers, owner, (uint32_t)session->id,
                       can_read_from, generation);
    if (reader == NULL)
        return owner;
    if (reader->rank == READER_PRIMARY)
        cell_inc(&session->pool->stats->replica_missing);
    attempt->at_replica = reader->server >= generation->shard_count;
    return reader->server;
}

/* --- doing without it -------------------------------------------------------- */

/* Is it the replica as a whole that cannot answer, or only this command? */
static bool
is_unwell(enum outcome outcome)
{
    return outcome == OUTCOME_LOADING || outcome == OUTCOME_MASTERDOWN ||
        outcome == OUTCOME_CLUSTERDOWN;
}

/* With `replica` another replica may answer what one could not; else, and for
 * what none will, it is the primary's turn. */
static void
go_elsewhere(struct request *request, struct attempt *attempt, uint32_t asked,
             bool is_unwell_itself)
{
    if (is_unwell_itself)
        server_shun(generation_server(request->generation, asked));
    attempt->by_primary = !is_unwell_itself ||
        request->pool->settings->read_from != READ_FROM_REPLICA;
    holding_take_anew(request, attempt);
}

bool
replica_read_take_error(struct request *request, struct attempt *attempt,
                        uint32_t asked, enum outcome outcome)
{
    if (!retry_by_primary(outcome))
        return false;
    cell_inc(&request->pool->stats->replica_refusals);
    if (outcome != OUTCOME_NOSCRIPT)
        session_pool_hint(request->pool,
                          outcome == OUTCOME_MOVED ? MAP_CAUSE_MOVED
                                                   : MAP_CAUSE_DEMOTED);
    /* A script can say anything. */
    go_elsewhere(request, attempt, asked,
                 is_unwell(outcome) && !retry_is_user_code(request->command));
    return true;
}

void
replica_read_take_loss(struct request *request, struct attempt *attempt,
                       uint32_t asked)
{
    cell_inc(&request->pool->stats->replica_losses);
    go_elsewhere(request, attempt, asked, true);
}
