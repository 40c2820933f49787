/*
 * session/local_hello.c - HELLO [version [AUTH user password] [SETNAME name]]
 *
 * The order of checks is that of servers: version, then the options from left
 * to right, then the password, then whether the client is authenticated.  What
 * was asked for takes effect only when nothing is wrong.
 */
#include "base/version.h"
#include "resp/encode.h"
#include "session/local_priv.h"
#include "session/trail.h"
#include "session/wait.h"

#define HELLO_NOAUTH                                                       \
    "NOAUTH HELLO must be called with the client already authenticated, "  \
    "otherwise the HELLO AUTH <user> <pass> option can be used to "        \
    "authenticate the client and select the RESP protocol version at the " \
    "same time"

struct hello {
    int64_t version; /* 0: as it is */
    bool has_auth;
    bool has_name;
    struct view user, password, name;
};

/* Each function below that returns false has answered an error. */

static bool
hello_read_version(const struct local_call *call, struct hello *hello)
{
    if (call->args->argc < 2)
        return true;
    if (!local_integer(local_arg(call, 1), &hello->version)) {
        local_error(call,
                    "ERR Protocol version is not an integer or out of "
                    "range");
        return false;
    }
    if (hello->version < 2 || hello->version > 3) {
        local_error(call, "NOPROTO unsupported protocol version");
        return false;
    }
    return true;
}

static bool
hello_take_name(const struct local_call *call, struct hello *hello,
                struct view name)
{
    const char *error = client_name_error(name);

    if (error != NULL) {
        local_error(call, error);
        return false;
    }
    hello->has_name = true;
    hello->name = name;
    return true;
}

/* Read the option at word *i and leave *i behind it. */
static bool
hello_read_option(const struct local_call *call, struct hello *hello,
                  uint32_t *i)
{
    uint32_t at = *i;
    uint32_t more = call->args->argc - 1 - at;

    if (more >= 2 && local_arg_is(call, at, "AUTH")) {
        hello->has_auth = true;
        hello->user = local_arg(call, at + 1);
        hello->password = local_arg(call, at + 2);
        *i = at + 3;
        return true;
    }
    if (more >= 1 && local_arg_is(call, at, "SETNAME")) {
        *i = at + 2;
        return hello_take_name(call, hello, local_arg(call, at + 1));
    }
    local_error_word(call, "ERR Syntax error in HELLO option '",
                     local_arg(call, at), "'");
    return false;
}

static bool
hello_read_options(const struct local_call *call, struct hello *hello)
{
    uint32_t i = 2;

    while (i < call->args->argc) {
        if (!hello_read_option(call, hello, &i))
            return false;
    }
    return true;
}

static bool
hello_authenticate(const struct local_call *call, const struct hello *hello)
{
    struct session *session = call->session;

    if (hello->has_auth &&
        !local_authenticate(session, hello->user, hello->password)) {
        local_error(call, LOCAL_WRONGPASS);
        return false;
    }
    if (!session->authenticated) {
        cell_inc(&session->pool->stats->errors_noauth);
        local_error(call, HELLO_NOAUTH);
        return false;
    }
    return true;
}

static void
hello_encode(const struct session *session, struct buf *out)
{
    encode_map(out, session->resp, 7);
    encode_bulk_str(out, "server");
    encode_bulk_str(out, "redis");
    encode_bulk_str(out, "version");
    encode_bulk_str(out, SERVER_VERSION);
    encode_bulk_str(out, "proto");
    encode_integer(out, session->resp);
    encode_bulk_str(out, "id");
    encode_integer(out, (int64_t)session->id);
    encode_bulk_str(out, "mode");
    encode_bulk_str(out, session->pool->settings->cluster_emulation
                             ? "cluster"
                             : "standalone");
    encode_bulk_str(out, "role");
    encode_bulk_str(out, "master");
    encode_bulk_str(out, "modules");
    encode_array(out, 0);
}

/* Nothing is wrong with it. */
static void
hello_take_effect(const struct local_call *call, const struct hello *hello)
{
    if (hello->has_name)
        client_set_name(call->session, hello->name);
    if (hello->version != 0 && hello->version != call->session->resp) {
        wait_note_move(call->session);
        call->session->resp = (uint8_t)hello->version;
        trail_note_version(call->session);
    }
    hello_encode(call->session, call->out);
}

void
local_hello_known(struct session *session, const struct command *command,
                  const struct command_args *args, struct buf *out)
{
    struct local_call call = {session, command, args, out, NULL};
    struct hello hello = {0};

    if (hello_read_version(&call, &hello) && hello_read_options(&call, &hello))
        hello_take_effect(&call, &hello);
}

enum local_result
local_hello(const struct local_call *call)
{
    struct hello hello = {0};

    if (!hello_read_version(call, &hello) || !hello_read_options(call, &hello))
        return LOCAL_REPLY;
    if (hello.has_auth && call->session->pool->settings->auth_by_servers)
        return local_log_in(call, hello.user, hello.password);
    if (hello_authenticate(call, &hello))
        hello_take_effect(call, &hello);
    return LOCAL_REPLY;
}
