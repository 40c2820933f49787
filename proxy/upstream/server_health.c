/*
 * upstream/server_health.c - what a worker does about a server that is not well.
 */
#include <string.h>

#include "base/log.h"
#include "upstream/pool.h"
#include "upstream/server_priv.h"

/* --- reading from somebody else ---------------------------------------------- */

void
server_shun(struct server *server)
{
    server->shun_until_us = loop_now_us(server->pool->loop) + SERVER_SHUN_US;
}

bool
server_takes_reads(const struct server *server)
{
    return !server_rests(server) &&
        loop_now_us(server->pool->loop) >= server->shun_until_us;
}

/* --- telling control -------------------------------------------------------- */

void
server_report(struct server *server, enum incident what)
{
    uint16_t *count = &server->incidents.of[what];

    if (*count < UINT16_MAX)
        (*count)++;
    server->pool->has_incidents = true;
}

void
server_on_error(struct lane *lane, struct view reply)
{
    static const struct {
        const char *word;
        bool ejects;     /* as twemproxy has it */
        bool is_unready; /* no sign of health, whoever asks */
    } rows[] = {
        {"-OOM ", true, false},
        {"-BUSY ", true, false},
        {"-LOADING ", true, true},
        {"-MASTERDOWN ", false, true},
    };
    struct server *server = lane->server;
    bool may_eject = pool_ejects(server->settings);

    server->complainer = lane;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (!view_begins(reply, view_str(rows[i].word)))
            continue;
        bool is_refusal = may_eject && rows[i].ejects;
        if (is_refusal || rows[i].is_unready)
            cell_inc(&server->stats->failure_replies);
        if (is_refusal)
            server_report(server, INCIDENT_REFUSAL);
    }
}

/* --- letting go --------------------------------------------------------------- */

static struct lane *
find_without_sent(struct server *server)
{
    struct lane *lane;

    TAILQ_FOREACH(lane, &server->lanes, link)
    {
        if (TAILQ_EMPTY(&lane->sent) && lane->lease == NULL)
            break;
    }
    return lane;
}

static struct lane *
find_with_waiting(struct server *server)
{
    struct lane *lane;

    TAILQ_FOREACH(lane, &server->lanes, link)
    {
        if (!TAILQ_EMPTY(&lane->waiting))
            break;
    }
    return lane;
}

/* What was not sent fails now, and lanes that owe nothing close: the first
 * request on one of them would find out that it is dead.  Makers of calls may
 * close lanes when they are told, so each search begins anew. */
static void
server_shed(struct server *server, enum close_reason why)
{
    struct lane *lane;

    while ((lane = find_without_sent(server)) != NULL)
        lane_close(&lane, why);
    while ((lane = find_with_waiting(server)) != NULL)
        lane_fail_waiting(lane, why);
    server_serve_waiters(server);
}

/* --- verdicts ------------------------------------------------------------------ */

static void
set_gentle(struct server *server, bool is_gentle)
{
    struct lane *lane;

    TAILQ_FOREACH(lane, &server->lanes, link)
    {
        lane_set_gentle(lane, is_gentle);
    }
}

void
server_set_verdict(struct server *server, enum health_state state)
{
    bool is_gentle = state == HEALTH_HALF_OPEN;

    if (server->is_down == (state == HEALTH_DOWN) &&
        server->is_gentle == is_gentle)
        return;
    server->is_down = state == HEALTH_DOWN;
    server->is_gentle = is_gentle;
    if (server->is_down) {
        server_shed(server, CLOSE_SERVER_DOWN);
        return;
    }
    server->failures = 0;
    server->is_silent = false;
    set_gentle(server, is_gentle);
}

/* --- masters -------------------------------------------------------------------- */

/* Those that are made meanwhile are where it is now. */
static void
cut(struct server *server)
{
    struct lane *lane;

    for (unsigned left = server->lane_count;
         left > 0 && (lane = TAILQ_FIRST(&server->lanes)) != NULL; left--)
        lane_close(&lane, CLOSE_SERVER_MOVED);
}

void
server_settle(struct server *server)
{
    struct lane *lane;

    if (server->has_moved) {
        server->has_moved = false;
        server->failures = 0;
        server->is_silent = false;
        cut(server);
    }
    while (gate_holds(server->gate) &&
           (lane = find_with_waiting(server)) != NULL)
        lane_fail_waiting(lane, CLOSE_SERVER_MOVED);
    /* Whoever waits is told, or served. */
    server_serve_waiters(server);
}

/* --- silence -------------------------------------------------------------------- */

void
server_on_expired(struct server *server, struct call *call)
{
    if (call->state != CALL_SENT) {
        server_report(server, INCIDENT_EXPIRED);
        return;
    }
    if (call->lane->is_left)
        return; /* a script is to blame; how the server is others tell */
    if (!call->lane->paused)
        server_report(server, INCIDENT_EXPIRED);
    lane_suspect(call->lane);
}

/* What is on other lanes may be answered yet, but not wait for ever. */
static void
suspect_all(struct server *server)
{
    struct lane *lane;

    TAILQ_FOREACH(lane, &server->lanes, link)
    {
        if (!lane->is_suspect && !lane->is_left && !TAILQ_EMPTY(&lane->sent))
            lane_suspect(lane);
    }
}

void
server_on_silence(struct server *server, uint64_t since_us)
{
    if (server->is_silent || server->heard_us > since_us)
        return; /* the others are answered: it is only the one lane */
    server->is_silent = true;
    cell_inc(&server->stats->silences);
    server_report(server, INCIDENT_SILENT);
    server_rest(server);
    if (!server->pool->is_quiet)
        log_warn("server is silent", "pool=%s server=%s pause_ms=%lld",
                 server->settings->name, server->name,
                 (long long)(server->retry_at_us -
                             loop_now_us(server->pool->loop)) / 1000);
    suspect_all(server);
    server_shed(server, CLOSE_SERVER_SILENT);
}

void
server_on_answer_after_silence(struct server *server)
{
    server->is_silent = false;
    server->failures = 0;
    if (!server->pool->is_quiet)
        log_info("server answers again", "pool=%s server=%s",
                 server->settings->name, server->name);
}
