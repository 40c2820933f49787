/*
 * session/databases.h - commands that name a database by its number: MOVE, and
 * COPY with DB.
 *
 * A client's databases are those from redis_db on, and as many as `databases`
 * says.  So the number is checked here, as others than the pool's clients may have
 * the next one, and written anew where the server's is another.
 */
#ifndef SESSION_DATABASES_H
#define SESSION_DATABASES_H

#include "session/incoming.h"

static inline bool
databases_are_named(const struct command *command)
{
    return command->id == COMMAND_ID_MOVE || command->id == COMMAND_ID_COPY;
}

/* Act on such a command, if its database is one of the client's. */
void databases_act(const struct incoming *in,
                   void (*act)(const struct incoming *));

#endif
