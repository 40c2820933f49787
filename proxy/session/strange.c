/*
 * session/strange.c - a request for a command that no row has.
 */
#include "session/strange.h"

#include <string.h>

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

/* A server would tell of "config|get" what it knows of CONFIG GET, but takes it
 * from nobody. */
static bool
is_subcommand(struct view name)
{
    return name.len > 0 && memchr(name.data, '|', name.len) != NULL;
}

const struct command *
strange_command(struct session *session, const struct command_args *args)
{
    const struct command *command = NULL;

    if (is_subcommand(command_arg(args, 0))) {
        answer_unknown(session, args);
        return NULL;
    }
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
