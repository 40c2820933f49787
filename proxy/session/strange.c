/*
 * session/strange.c - a request for a command that no row has.
 */
#include "session/strange.h"

#include "base/log.h"
#include "session/incoming.h"
#include "session/learning.h"

/* What it is nobody could be asked. */
static void
answer_unasked(struct session *session, struct view name)
{
    struct buf *out = &session->pool->env->out;
    char quoted[96];

    out->len = 0;
    log_quote(quoted, sizeof(quoted), name);
    buf_printf(out,
               "-ERR proxy: no server could be asked about command %s, it was "
               "not executed\r\n",
               quoted);
    answer_error(session, NULL, out,
                 &session->pool->stats->errors_unreachable);
}

const struct command *
strange_command(struct session *session, const struct command_args *args)
{
    const struct command *command = NULL;

    switch (learning_find(session, command_arg(args, 0), &command)) {
    case LEARNING_KNOWN:
        return command;
    case LEARNING_UNKNOWN:
        answer_unknown(session, args);
        break;
    case LEARNING_ASKED:
        session->barrier = true;
        break;
    case LEARNING_FAILED:
        answer_unasked(session, command_arg(args, 0));
        break;
    }
    return NULL;
}
