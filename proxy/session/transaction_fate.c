/*
 * session/transaction_fate.c - which commands may stand in a transaction.
 */
#include "session/fanout.h"
#include "session/local.h"
#include "session/server_command.h"
#include "session/transaction_priv.h"

/* Of a database: is it the one that the client has, by the same number? */
static bool
stays_in_database(const struct incoming *in)
{
    char number[16];

    snprintf(number, sizeof(number), "%u", in->session->db);
    return in->session->pool->settings->redis_db == 0 &&
        view_equal(command_arg(&in->args, 1), view_str(number));
}

/* Of what the proxy answers outside of transactions: can the server do it
 * as well? */
static enum fate
fate_of_local(const struct incoming *in, bool is_single)
{
    switch ((int)in->command->id) {
    case COMMAND_ID_PING:
    case COMMAND_ID_ECHO:
    case COMMAND_ID_TIME:
    case COMMAND_ID_LOLWUT:
    case COMMAND_ID_COMMAND:
    case COMMAND_ID_COMMAND_COUNT:
    case COMMAND_ID_COMMAND_DOCS:
    case COMMAND_ID_COMMAND_GETKEYS:
    case COMMAND_ID_COMMAND_GETKEYSANDFLAGS:
    case COMMAND_ID_COMMAND_HELP:
    case COMMAND_ID_COMMAND_INFO:
    case COMMAND_ID_COMMAND_LIST:
        return FATE_QUEUE;
    case COMMAND_ID_INFO:
        return is_single ? FATE_QUEUE : FATE_FORBIDDEN;
    case COMMAND_ID_SELECT:
        return stays_in_database(in) ? FATE_QUEUE : FATE_FORBIDDEN;
    default:
        return FATE_FORBIDDEN;
    }
}

/* Of what depends on one connection: does it mean something here? */
static enum fate
fate_of_pinned(const struct command *command)
{
    switch ((int)command->id) {
    case COMMAND_ID_UNWATCH:
    case COMMAND_ID_WAIT:
    case COMMAND_ID_WAITAOF:
        return FATE_QUEUE;
    default:
        return FATE_FORBIDDEN;
    }
}

enum fate
transaction_fate(const struct incoming *in)
{
    const struct command *command = in->command;
    const struct session *session = in->session;
    bool is_single = session->generation->shard_count == 1;

    if (server_command_is(session, command)) {
        if ((command->flags & COMMAND_NO_MULTI) != 0)
            return FATE_FORBIDDEN;
        if (is_single)
            return FATE_QUEUE;
    }
    if (command->class != CLASS_REFUSE &&
        strcmp(command->group, "cluster") == 0)
        return FATE_FORBIDDEN;
    switch ((enum command_class)command->class) {
    case CLASS_ROUTE:
        return FATE_QUEUE;
    case CLASS_ROUTE_PIN:
        return (command->flags & COMMAND_BLOCKING) != 0 ? FATE_QUEUE
                                                        : FATE_FORBIDDEN;
    case CLASS_SPLIT:
        return FATE_QUEUE;
    case CLASS_ANY:
        /* The indexes of modules live on one server each. */
        return is_single || (command->flags & COMMAND_MODULE) == 0
            ? FATE_QUEUE
            : FATE_REFUSE;
    case CLASS_FANOUT:
    case CLASS_CURSOR:
        /* While a transaction runs no shard runs anything else. */
        return is_single || command->id == COMMAND_ID_FUNCTION_STATS
            ? FATE_QUEUE
            : FATE_REFUSE;
    case CLASS_LOCAL:
        return fate_of_local(in, is_single);
    case CLASS_PIN:
        return fate_of_pinned(command);
    case CLASS_REFUSE:
        return local_is_for(command) ? FATE_FORBIDDEN : FATE_REFUSE;
    }
    return FATE_REFUSE;
}

/* The proxy answers it, and without a barrier. */
static bool
is_of_the_proxy(const struct command *command)
{
    switch ((int)command->id) {
    case COMMAND_ID_CLIENT_GETNAME:
    case COMMAND_ID_CLIENT_ID:
    case COMMAND_ID_CLIENT_INFO:
    case COMMAND_ID_CLIENT_LIST:
    case COMMAND_ID_CLIENT_NO_EVICT:
    case COMMAND_ID_CLIENT_NO_TOUCH:
    case COMMAND_ID_CLIENT_PAUSE:
    case COMMAND_ID_CLIENT_SETINFO:
    case COMMAND_ID_CLIENT_SETNAME:
    case COMMAND_ID_CLIENT_UNPAUSE:
    case COMMAND_ID_CONFIG_GET:
    case COMMAND_ID_INFO:
    case COMMAND_ID_ROLE:
        return true;
    default:
        return false;
    }
}

bool
transaction_goes_alone(const struct incoming *in)
{
    struct session *session = in->session;

    if (!transaction_may_split(session) ||
        server_command_is(session, in->command))
        return false;
    return fanout_is_for(session, in->command) ||
        is_of_the_proxy(in->command) ||
        in->command->id == COMMAND_ID_PUBLISH ||
        in->command->id == COMMAND_ID_SPUBLISH;
}
