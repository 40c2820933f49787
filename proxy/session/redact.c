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

/* MIGRATE host port key db timeout AUTH2 user password KEYS key ... */
static bool
is_secret_of_migrate(const struct command_args *args, uint32_t at)
{
    uint32_t i = 6;

    while (i < args->argc && i < at) {
        struct view word = command_arg(args, i);
        uint32_t secrets = 0;
        if (view_equal_nocase(word, VIEW("KEYS")))
            return false;
        if (view_equal_nocase(word, VIEW("AUTH")))
            secrets = 1;
        else if (view_equal_nocase(word, VIEW("AUTH2")))
            secrets = 2;
        if (at <= i + secrets)
            return true;
        i += secrets + 1;
    }
    return false;
}

/* CONFIG SET name value name value */
static bool
is_secret_of_config(const struct command_args *args, uint32_t at)
{
    static const char *const names[] = {
        "requirepass",  "masterauth",        "masteruser",
        "primaryauth",  "primaryuser",       "tls-key-file-pass",
        "tls-client-key-file-pass",
    };

    if (at < 3 || at % 2 == 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (view_equal_nocase(command_arg(args, at - 1), view_str(names[i])))
            return true;
    }
    return false;
}

static bool
is_secret(const struct command *command, const struct command_args *args,
          uint32_t i)
{
    switch ((int)command->id) {
    case COMMAND_ID_AUTH:
        return i > 0;
    case COMMAND_ID_ACL_SETUSER:
        return i > 1;
    case COMMAND_ID_HELLO:
        return is_secret_of_hello(args, i);
    case COMMAND_ID_CONFIG_SET:
        return is_secret_of_config(args, i);
    case COMMAND_ID_MIGRATE:
        return is_secret_of_migrate(args, i);
    default:
        return false;
    }
}

struct view
redact_word(const struct command *command, const struct command_args *args,
            uint32_t i)
{
    return unlikely(is_secret(command, args, i)) ? VIEW("(redacted)")
                                                 : command_arg(args, i);
}
