/*
 * session/local_client.c - CLIENT: what the proxy knows of its clients.
 *
 * None of this reaches a server, whose connections many clients share.
 */
#include "base/mem.h"
#include "resp/encode.h"
#include "session/local_priv.h"

#define NAME_ERROR \
    "ERR Client names cannot contain spaces, newlines or special characters."

/* --- names --------------------------------------------------------------- */

void
client_info_free(struct client_info **infop)
{
    struct client_info *info = *infop;

    *infop = NULL;
    if (info == NULL)
        return;
    mem_free(info->name);
    mem_free(info->lib_name);
    mem_free(info->lib_ver);
    mem_free(info->peer);
    mem_free(info);
}

struct client_info *
client_info_of(struct session *session)
{
    if (session->info == NULL)
        session->info = MEM_NEW(struct client_info);
    return session->info;
}

/* An empty value means that there is none. */
static void
client_text_set(char **textp, struct view value)
{
    mem_free(*textp);
    *textp = value.len == 0 ? NULL : mem_view_dup(value);
}

/* They stand between spaces in a line of CLIENT LIST. */
static bool
text_is_printable(struct view text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '!' || text.data[i] > '~')
            return false;
    }
    return true;
}

const char *
client_name_error(struct view name)
{
    if (name.len > CLIENT_TEXT_MAX)
        return "ERR Client names cannot be longer than 1024 bytes.";
    return text_is_printable(name) ? NULL : NAME_ERROR;
}

void
client_set_name(struct session *session, struct view name)
{
    if (name.len > 0 || session->info != NULL)
        client_text_set(&client_info_of(session)->name, name);
}

enum local_result
local_client_setname(const struct local_call *call)
{
    struct view name = local_arg(call, 2);
    const char *error = client_name_error(name);

    if (error != NULL)
        return local_error(call, error);
    client_set_name(call->session, name);
    return local_ok(call);
}

enum local_result
local_client_getname(const struct local_call *call)
{
    const struct client_info *info = call->session->info;

    if (info == NULL || info->name == NULL)
        encode_null(call->out, call->session->resp);
    else
        encode_bulk_str(call->out, info->name);
    return LOCAL_REPLY;
}

enum local_result
local_client_setinfo(const struct local_call *call)
{
    struct view option = local_arg(call, 2);
    struct view value = local_arg(call, 3);
    bool is_name = local_arg_is(call, 2, "lib-name");

    if (!is_name && !local_arg_is(call, 2, "lib-ver"))
        return local_error_word(call, "ERR Unrecognized option '", option, "'");
    if (value.len > CLIENT_TEXT_MAX)
        return local_error_word(call, "ERR ", option,
                                " cannot be longer than 1024 bytes.");
    if (!text_is_printable(value))
        return local_error_word(call, "ERR ", option,
                                " cannot contain spaces, newlines or special "
                                "characters.");
    struct client_info *info = client_info_of(call->session);
    client_text_set(is_name ? &info->lib_name : &info->lib_ver, value);
    return local_ok(call);
}

/* --- who is here --------------------------------------------------------- */

enum local_result
local_client_id(const struct local_call *call)
{
    encode_integer(call->out, (int64_t)call->session->id);
    return LOCAL_REPLY;
}

enum local_result
local_client_info(const struct local_call *call)
{
    struct buf line = {0};

    session_describe(call->session, &line);
    encode_verbatim(call->out, call->session->resp, buf_view(&line));
    buf_fini(&line);
    return LOCAL_REPLY;
}

/* --- how it is served ---------------------------------------------------- */

enum local_result
local_client_reply(const struct local_call *call)
{
    struct session *session = call->session;

    if (local_arg_is(call, 2, "ON")) {
        session->reply_off = false;
        return local_ok(call);
    }
    if (local_arg_is(call, 2, "OFF")) {
        session->reply_off = true;
        return LOCAL_NO_REPLY;
    }
    if (local_arg_is(call, 2, "SKIP")) {
        /* Who is silent for good skips nothing. */
        session->reply_skip |= !session->reply_off;
        return LOCAL_NO_REPLY;
    }
    return local_error(call, LOCAL_SYNTAX_ERROR);
}

/* NO-EVICT and NO-TOUCH, which would concern a connection to a server: there
 * is nothing to do, and no client notices. */
enum local_result
local_client_on_off(const struct local_call *call)
{
    if (!local_arg_is(call, 2, "ON") && !local_arg_is(call, 2, "OFF"))
        return local_error(call, LOCAL_SYNTAX_ERROR);
    return local_ok(call);
}

/* Servers ignore capabilities that they do not know. */
enum local_result
local_client_capa(const struct local_call *call)
{
    return local_ok(call);
}
