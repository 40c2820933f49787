/*
 * session/strange.c - commands that no row has, and subcommands.
 */
#include "session/strange.h"

#include <string.h>

#include "base/log.h"
#include "command/describe.h"
#include "session/incoming.h"
#include "session/learning.h"

/* Whoever gives more names to COMMAND INFO or DOCS hears of what is known. */
#define NAMES_ASKED_FOR 16

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

/* Is a server to be asked about this name, and has been, or will be? */
static bool
is_asked(struct session *session, struct view name, bool is_docs)
{
    const struct command *command;

    if (describe_knows(name) || is_subcommand(name))
        return false;
    return learning_find(session, name, &command) == LEARNING_ASKED ||
        (is_docs && learning_find_docs(session, name) == LEARNING_ASKED);
}

/* Does COMMAND INFO or DOCS name something that a server has to be asked for first? */
static bool
must_ask(struct session *session, const struct command *command,
         const struct command_args *args)
{
    bool is_docs = command->id == COMMAND_ID_COMMAND_DOCS;

    if ((!is_docs && command->id != COMMAND_ID_COMMAND_INFO) ||
        args->argc > 2 + NAMES_ASKED_FOR)
        return false;
    for (uint32_t i = 2; i < args->argc; i++) {
        if (!is_asked(session, command_arg(args, i), is_docs))
            continue;
        session->barrier = true;
        return true;
    }
    return false;
}

const struct command *
strange_subcommand(struct session *session, const struct command *container,
                   const struct command_args *args)
{
    struct view name = command_arg(args, 1);
    const struct command *command = command_find_sub(container, name);

    if (command == NULL) {
        answer_unknown_subcommand(session, container, name);
        return NULL;
    }
    if (must_ask(session, command, args))
        return NULL;
    return command;
}
