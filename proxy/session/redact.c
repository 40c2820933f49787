/*
 * session/redact.c - where passwords stand.
 */
#include "session/redact.h"

/* HELLO 3 AUTH user password SETNAME name */
static bool
is_secret_of_hello(const struct command_args *args, uint32_t at)
{
    uint32_t i = 2;

    while (i < args->argc && i < at) {
        struct view word = command_arg(args, i);
        if (view_equal_nocase(word, VIEW("AUTH"))) {
            if (at <= i + 2)
                return true;
            i += 3;
        } else {
            i += view_equal_nocase(word, VIEW("SETNAME")) ? 2 : 1;
        }
    }
    return false;
}

struct view
redact_word(const struct command *command, const struct command_args *args,
            uint32_t i)
{
    bool is_secret = (command->id == COMMAND_ID_AUTH && i > 0) ||
        (command->id == COMMAND_ID_HELLO && is_secret_of_hello(args, i));

    return unlikely(is_secret) ? VIEW("(redacted)") : command_arg(args, i);
}
