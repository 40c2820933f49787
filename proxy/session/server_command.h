/*
 * session/server_command.h - what a pool's server_commands send to the servers.
 *
 *   CONFIG SET -> a: CONFIG SET, b: CONFIG SET  -> +OK when both say so
 *   DEBUG OBJECT key -> the shard of the key
 *
 * Commands that the proxy would answer for itself or refuse, as they came: by
 * their keys if they have any, else to the only shard or to all.  What all
 * shards say as it is, or the first one's answer; an error of one is the answer.
 */
#ifndef SESSION_SERVER_COMMAND_H
#define SESSION_SERVER_COMMAND_H

#include "session/incoming.h"
#include "session/session.h"

static inline bool
server_command_is(const struct session *session, const struct command *command)
{
    const struct access *access = session->pool->settings->server_commands;

    return unlikely(access != NULL) && access_allows(access, command);
}

/* Does it go to all shards of a pool of several?  Its answer would be that of
 * one, so what the proxy can say of itself it says. */
bool server_command_is_for_all(const struct session *session,
                               const struct command *command) MUST_CHECK;

/* Where its key is among the words; 0: it has none, or its row says. */
uint32_t server_command_key(const struct incoming *in) MUST_CHECK;

#endif
