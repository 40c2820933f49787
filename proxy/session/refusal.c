/*
 * session/refusal.c - requests that get no further than the proxy.
 */
#include "base/log.h"
#include "command/refuse.h"
#include "session/incoming.h"
#include "session/note.h"
#include "session/session.h"
#include "session/transaction.h"

static struct buf *
scratch(struct session *session)
{
    struct buf *out = &session->pool->env->out;

    out->len = 0;
    return out;
}

void
answer_error(struct session *session, const struct command *command,
             const struct buf *out, struct cell *count)
{
    struct session_stats *stats = session->pool->stats;

    transaction_spoil(session);
    cell_inc(count);
    cell_inc(&stats->forward_error);
    cell_inc(&session_stats_account(stats, command)->all.rejected);
    note_refusal(session, command, buf_view(out));
    /* Rejected, it is no call of its command. */
    if (!session->reply_off)
        request_answer_now(session, NULL, buf_view(out));
}

void
answer_unknown(struct session *session, const struct command_args *args)
{
    struct buf *out = scratch(session);

    refuse_unknown_command(out, args);
    answer_error(session, NULL, out,
                 &session->pool->stats->errors_unknown_command);
}

void
answer_unknown_subcommand(struct session *session, const struct command *container,
                   struct view sub)
{
    struct buf *out = scratch(session);

    refuse_unknown_subcommand(out, container, sub);
    answer_error(session, container, out,
                 &session->pool->stats->errors_unknown_command);
}

void
wrong_arity(struct session *session, const struct command *command)
{
    struct buf *out = scratch(session);

    if (command->id == COMMAND_ID_EXEC)
        transaction_abort(session);
    refuse_wrong_arity(out, command);
    answer_error(session, command, out, &session->pool->stats->errors_arity);
}

void
refuse(struct session *session, const struct command *command,
       const struct command_args *args)
{
    struct buf *out = scratch(session);

    refuse_command(out, command, args);
    answer_error(session, command, out, &session->pool->stats->errors_refused);
}

void
crossslot(struct session *session, const struct command *command)
{
    struct buf *out = scratch(session);

    refuse_crossslot(out);
    answer_error(session, command, out,
                 &session->pool->stats->errors_crossslot);
}

void
no_shard(struct session *session, const struct command *command,
         struct view key)
{
    struct buf *out = scratch(session);
    char quoted[96];

    log_quote(quoted, sizeof(quoted), key);
    buf_printf(out,
               "-ERR proxy: key %s belongs to no shard of pool %s, command "
               "was not executed\r\n",
               quoted, session->pool->settings->name);
    answer_error(session, command, out,
                 &session->pool->stats->errors_no_shard);
}

/* Whatever EXEC is refused for, servers say that nothing was executed. */
static const char *
exec_prefix(const struct command *command)
{
    return command->id == COMMAND_ID_EXEC
        ? "EXECABORT Transaction discarded because of: "
        : "";
}

void
no_auth(struct session *session, const struct command *command)
{
    struct buf *out = scratch(session);

    buf_printf(out, "-%sNOAUTH Authentication required.\r\n",
               exec_prefix(command));
    answer_error(session, command, out, &session->pool->stats->errors_noauth);
}

void
no_permission(struct session *session, const struct command *command)
{
    struct buf *out = scratch(session);

    if (command->id == COMMAND_ID_EXEC)
        transaction_abort(session);
    buf_printf(out,
               "-%sNOPERM this user has no permissions to run the '%s' "
               "command\r\n",
               exec_prefix(command), command->name);
    answer_error(session, command, out, &session->pool->stats->errors_noperm);
}

bool
allow_keys(struct session *session, const struct command *command,
           uint32_t count)
{
    uint64_t max_keys = session->pool->settings->max_keys;

    if (likely(max_keys == 0 || count <= max_keys))
        return true;
    struct buf *out = scratch(session);
    refuse_keys(out, command, count, max_keys);
    answer_error(session, command, out, &session->pool->stats->errors_limit);
    return false;
}
