/*
 * session/local_auth.c - who the client is, and in which database: AUTH,
 * RESET, SELECT, ACL WHOAMI.
 *
 * A pool with redis_auth demands that password; its users are `default`, as on
 * a server with requirepass, and redis_user, as whom the servers know us.
 * Without redis_auth the default user needs no password, as on a server.  With
 * auth: servers these are asked (session/identity.h).
 */
#include "resp/encode.h"
#include "session/identity.h"
#include "session/local_priv.h"
#include "session/monitor.h"
#include "session/relay.h"
#include "session/transaction.h"
#include "session/wait.h"

#define NO_PASSWORD_SET                                                   \
    "ERR AUTH <password> called without any password configured for the " \
    "default user. Are you sure your configuration is correct?"

/* The time it takes tells nothing about where the two differ. */
static bool
secret_equal(struct view given, const char *secret)
{
    size_t len = strlen(secret);
    unsigned differ = given.len != len;

    for (size_t i = 0; i < given.len; i++)
        differ |=
            (unsigned char)given.data[i] ^ (unsigned char)secret[i % (len + 1)];
    return differ == 0;
}

static bool
user_is_known(const struct pool_settings *settings, struct view user)
{
    if (view_equal(user, VIEW(LOCAL_DEFAULT_USER)))
        return true;
    return settings->redis_user != NULL &&
        view_equal(user, view_str(settings->redis_user));
}

bool
local_authenticate(struct session *session, struct view user,
                   struct view password)
{
    const struct pool_settings *settings = session->pool->settings;
    bool right = settings->redis_auth == NULL ||
        secret_equal(password, settings->redis_auth);

    if (!user_is_known(settings, user) || !right) {
        cell_inc(&session->pool->stats->errors_noauth);
        return false;
    }
    session->authenticated = true;
    identity_set(session, LOGIN_POOL);
    return true;
}

enum local_result
local_log_in(const struct local_call *call, struct view user,
             struct view password)
{
    call->question->user = user;
    call->question->password = password;
    return LOCAL_LOG_IN;
}

enum local_result
local_auth(const struct local_call *call)
{
    uint32_t argc = call->args->argc;
    struct view user = VIEW(LOCAL_DEFAULT_USER);

    if (argc > 3)
        return local_error(call, LOCAL_SYNTAX_ERROR);
    if (call->session->pool->settings->auth_by_servers)
        return local_log_in(call, user, local_arg(call, argc - 1));
    if (argc == 2 && call->session->pool->settings->redis_auth == NULL)
        return local_error(call, NO_PASSWORD_SET);
    if (argc == 3)
        user = local_arg(call, 1);
    if (!local_authenticate(call->session, user, local_arg(call, argc - 1)))
        return local_error(call, LOCAL_WRONGPASS);
    return local_ok(call);
}

enum local_result
local_select(const struct local_call *call)
{
    const struct pool_settings *settings = call->session->pool->settings;
    int64_t index;

    if (!local_integer(local_arg(call, 1), &index))
        return local_error(call, LOCAL_NOT_AN_INTEGER);
    if (index < INT32_MIN || index > INT32_MAX)
        return local_error(call,
                           "ERR value is out of range, value must between "
                           "-2147483648 and 2147483647");
    /* Clusters with several databases exist, but most have one. */
    if (index != 0 && settings->databases == 1 &&
        (pool_is_cluster(settings) || settings->cluster_emulation))
        return local_error(call, "ERR SELECT is not allowed in cluster mode");
    if (index < 0 || (uint64_t)index >= settings->databases)
        return local_error(call, "ERR DB index is out of range");
    if (call->session->db != (uint32_t)index)
        wait_note_move(call->session);
    call->session->db = (uint32_t)index;
    identity_note_select(call->session);
    return local_ok(call);
}

enum local_result
local_reset(const struct local_call *call)
{
    struct session *session = call->session;

    transaction_abort(session);
    monitor_leave(session);
    relay_reset(session);
    wait_note_move(session);
    session->db = 0;
    session->resp = 2;
    if (!session->reply_skip) /* as servers have it, it may be skipped itself */
        session->reply_off = false;
    session->is_readonly = false;
    session->authenticated = session->pool->settings->redis_auth == NULL;
    identity_set(session, LOGIN_POOL);
    client_set_name(session, VIEW(""));
    encode_simple(call->out, "RESET");
    return LOCAL_REPLY;
}

enum local_result
local_whoami(const struct local_call *call)
{
    encode_bulk(call->out, identity_name(call->session));
    return LOCAL_REPLY;
}
