/*
 * session/note.c - counting and telling.
 */
#include "session/note.h"

#include "base/log_limit.h"
#include "session/request.h"
#include "session/session.h"

#define TEXT_MAX 256

static const char *
command_name(const struct command *command)
{
    return command == NULL ? "?" : command->name;
}

static void
log_end(const struct session *session, enum close_reason why)
{
    const char *pool = session->pool->settings->name;
    char addr[ADDRESS_TEXT_MAX];

    if (!log_is_on(close_reason_level(why)))
        return;
    address_of_peer(session->stream.io.fd, addr);
    log_limited(close_reason_level(why), pool, close_reason_name(why),
                "client connection ended", "pool=%s id=%llu addr=%s reason=%s",
                pool, (unsigned long long)session->id, addr,
                close_reason_name(why));
}

void
note_end(const struct session *session, enum close_reason why)
{
    struct session_stats *stats = session->pool->stats;

    cell_inc(&stats->ended);
    cell_inc(&stats->closed[why]);
    cell_dec(&stats->client_connections);
    if (why == CLOSE_CLIENT_EOF || why == CLOSE_CLIENT_QUIT)
        cell_inc(&stats->client_eof);
    else
        cell_inc(&stats->client_err);
    if (session->is_heavy)
        cell_dec(&stats->heavy_clients);
    log_end(session, why);
}

void
note_refusal(const struct session *session, const struct command *command,
             struct view text)
{
    char quoted[TEXT_MAX];

    log_debug("request refused", "pool=%s id=%llu command=%s error=%s",
              session->pool->settings->name, (unsigned long long)session->id,
              command_name(command), log_quote(quoted, sizeof(quoted), text));
}

void
note_late(const struct request *request, uint32_t shard, bool sent)
{
    const struct server *server = generation_server(request->generation, shard);
    const char *pool = request->pool->settings->name;

    if (sent)
        cell_inc(&server->stats->server_timedout);
    log_warn_limited(pool, server->name, "request not answered in time",
                     "pool=%s server=%s command=%s id=%llu sent=%d", pool,
                     server->name, command_name(request->command),
                     (unsigned long long)request->session->id, sent);
}

void
note_resend(const struct request *request, enum close_reason why, bool sent)
{
    const struct server *server = request_server(request);

    cell_inc(sent ? &server->stats->resent_reads
                  : &server->stats->resent_unsent);
    log_debug("request sent again",
              "pool=%s server=%s command=%s reason=%s sent=%d",
              request->pool->settings->name, server->name,
              command_name(request->command), close_reason_name(why), sent);
}

void
note_discard(const struct request *request, uint32_t shard)
{
    const struct server *server = generation_server(request->generation, shard);

    cell_inc(&server->stats->discarded_replies);
    cell_inc(request->was_late ? &server->stats->discarded_late
                               : &server->stats->discarded_left);
    log_debug("reply discarded", "pool=%s server=%s command=%s reason=%s",
              request->pool->settings->name, server->name,
              command_name(request->command),
              request->was_late ? "late" : "client_left");
}
