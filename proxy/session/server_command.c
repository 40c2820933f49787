/*
 * session/server_command.c - what a pool's server_commands send to the servers.
 */
#include "session/server_command.h"

static bool
is_single(const struct session *session)
{
    return session->generation->shard_count == 1;
}

bool
server_command_is_for_all(const struct session *session,
                          const struct command *command)
{
    return server_command_is(session, command) && !is_single(session) &&
        command->keyspec[0] == '\0' &&
        (command->class == CLASS_REFUSE || command->class == CLASS_FANOUT ||
         command->id == COMMAND_ID_CONFIG_GET ||
         command->id == COMMAND_ID_INFO || command->id == COMMAND_ID_PING);
}

/* The subcommands of DEBUG that look at keys; no row tells. */
static const char *const debug_words[] = {
    "OBJECT",   "SDSLEN",       "ZIPLIST",      "LISTPACK",
    "QUICKLIST", "HTSTATS-KEY", "DIGEST-VALUE",
};

uint32_t
server_command_key(const struct incoming *in)
{
    if (in->command->id != COMMAND_ID_DEBUG || in->args.argc < 3)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(debug_words); i++) {
        if (view_equal_nocase(command_arg(&in->args, 1),
                              view_str(debug_words[i])))
            return 2;
    }
    return 0;
}
