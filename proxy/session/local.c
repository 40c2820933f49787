/*
 * session/local.c - from a command to the function that answers it.
 */
#include "session/local.h"

#include "resp/encode.h"
#include "session/deadline.h"
#include "session/identity.h"
#include "session/local_priv.h"

/* Bytes of a client's word that an error repeats. */
#define QUOTED_MAX 128

bool
local_arg_is(const struct local_call *call, uint32_t i, const char *word)
{
    return view_equal_nocase(local_arg(call, i), view_str(word));
}

bool
local_integer(struct view text, int64_t *value)
{
    size_t sign = text.len > 0 && text.data[0] == '-' ? 1 : 0;
    bool zero_first = text.len > sign && text.data[sign] == '0';

    /* "0" may begin with a zero, "-0" and "07" may not. */
    if (zero_first && text.len > 1)
        return false;
    return view_to_i64(text, value);
}

enum local_result
local_ok(const struct local_call *call)
{
    encode_simple(call->out, "OK");
    return LOCAL_REPLY;
}

enum local_result
local_error(const struct local_call *call, const char *text)
{
    encode_error(call->out, view_str(text));
    return LOCAL_REPLY;
}

enum local_result
local_error_word(const struct local_call *call, const char *before,
                 struct view word, const char *after)
{
    struct buf text = {0};

    buf_append_str(&text, before);
    buf_append(&text, word.data,
               strnlen(word.data, MIN(word.len, (size_t)QUOTED_MAX)));
    buf_append_str(&text, after);
    encode_error(call->out, buf_view(&text));
    buf_fini(&text);
    return LOCAL_REPLY;
}

static const local_fn handlers[COMMAND_ID_ALL] = {
    [COMMAND_ID_ACL_WHOAMI] = local_whoami,
    [COMMAND_ID_ASKING] = local_asking,
    [COMMAND_ID_AUTH] = local_auth,
    [COMMAND_ID_CLIENT_CACHING] = local_client_caching,
    [COMMAND_ID_CLIENT_CAPA] = local_client_capa,
    [COMMAND_ID_CLIENT_GETNAME] = local_client_getname,
    [COMMAND_ID_CLIENT_GETREDIR] = local_client_getredir,
    [COMMAND_ID_CLIENT_ID] = local_client_id,
    [COMMAND_ID_CLIENT_INFO] = local_client_info,
    [COMMAND_ID_CLIENT_KILL] = local_client_kill,
    [COMMAND_ID_CLIENT_LIST] = local_client_list,
    [COMMAND_ID_CLIENT_NO_EVICT] = local_client_on_off,
    [COMMAND_ID_CLIENT_NO_TOUCH] = local_client_on_off,
    [COMMAND_ID_CLIENT_PAUSE] = local_client_pause,
    [COMMAND_ID_CLIENT_REPLY] = local_client_reply,
    [COMMAND_ID_CLIENT_SETINFO] = local_client_setinfo,
    [COMMAND_ID_CLIENT_SETNAME] = local_client_setname,
    [COMMAND_ID_CLIENT_TRACKING] = local_client_tracking,
    [COMMAND_ID_CLIENT_TRACKINGINFO] = local_client_trackinginfo,
    [COMMAND_ID_CLIENT_UNBLOCK] = local_client_unblock,
    [COMMAND_ID_CLIENT_UNPAUSE] = local_client_unpause,
    [COMMAND_ID_COMMAND] = local_command,
    [COMMAND_ID_COMMAND_COUNT] = local_command,
    [COMMAND_ID_COMMAND_DOCS] = local_command,
    [COMMAND_ID_COMMAND_GETKEYS] = local_command,
    [COMMAND_ID_COMMAND_GETKEYSANDFLAGS] = local_command,
    [COMMAND_ID_COMMAND_HELP] = local_command,
    [COMMAND_ID_COMMAND_INFO] = local_command,
    [COMMAND_ID_COMMAND_LIST] = local_command,
    [COMMAND_ID_CONFIG_GET] = local_config_get,
    [COMMAND_ID_ECHO] = local_echo,
    [COMMAND_ID_HELLO] = local_hello,
    [COMMAND_ID_INFO] = local_info,
    [COMMAND_ID_LOLWUT] = local_lolwut,
    [COMMAND_ID_LATENCY_DOCTOR] = local_latency_doctor,
    [COMMAND_ID_LATENCY_GRAPH] = local_latency_graph,
    [COMMAND_ID_LATENCY_HISTOGRAM] = local_latency_histogram,
    [COMMAND_ID_LATENCY_HISTORY] = local_latency_history,
    [COMMAND_ID_LATENCY_LATEST] = local_latency_latest,
    [COMMAND_ID_LATENCY_RESET] = local_latency_reset,
    [COMMAND_ID_MEMORY_DOCTOR] = local_memory_doctor,
    [COMMAND_ID_MEMORY_MALLOC_STATS] = local_memory_malloc_stats,
    [COMMAND_ID_MEMORY_PURGE] = local_also_purge,
    [COMMAND_ID_MEMORY_STATS] = local_memory_stats,
    [COMMAND_ID_MONITOR] = local_monitor,
    [COMMAND_ID_PING] = local_ping,
    [COMMAND_ID_QUIT] = local_quit,
    [COMMAND_ID_READONLY] = local_readonly,
    [COMMAND_ID_READWRITE] = local_readwrite,
    [COMMAND_ID_RESET] = local_reset,
    [COMMAND_ID_ROLE] = local_role,
    [COMMAND_ID_SCRIPT_SHOW] = local_script_show,
    [COMMAND_ID_SELECT] = local_select,
    [COMMAND_ID_SLOWLOG_GET] = local_slowlog_get,
    [COMMAND_ID_SLOWLOG_LEN] = local_slowlog_len,
    [COMMAND_ID_SLOWLOG_RESET] = local_slowlog_reset,
    [COMMAND_ID_TIME] = local_time,
};

/* Of CLUSTER each has the same to say first. */
static local_fn
handler_of(const struct command *command)
{
    static const struct view cluster = {"cluster|", 8};

    if (view_equal(view_of(command->name, MIN(command->name_len, cluster.len)),
                   cluster))
        return local_cluster;
    return handlers[command->id];
}

bool
local_is_barrier(const struct command *command)
{
    return command->id == COMMAND_ID_SELECT || command->id == COMMAND_ID_AUTH ||
        command->id == COMMAND_ID_HELLO || command->id == COMMAND_ID_RESET ||
        command->id == COMMAND_ID_CLIENT_REPLY ||
        command->id == COMMAND_ID_CLIENT_TRACKING ||
        command->id == COMMAND_ID_CONFIG_RESETSTAT ||
        command->id == COMMAND_ID_MONITOR;
}

bool
local_is_for(const struct command *command)
{
    return handler_of(command) != NULL;
}

/* CLIENT REPLY is heeded here: what is in `out` afterwards is sent, even when
 * session->reply_off was set before.  For LOCAL_CLOSE it may then be empty. */
static enum local_result
answer(struct session *session, const struct command *command,
       const struct command_args *args, struct buf *out,
       struct question *question)
{
    struct local_call call = {session, command, args, out, question};
    local_fn handler = handler_of(command);
    size_t start = out->len;

    if (handler == NULL)
        return LOCAL_REFUSE;
    enum local_result result = handler(&call);
    /* Looked at afterwards, as servers do: CLIENT REPLY ON and RESET are
     * answered, since they end the silence. */
    if (!session->reply_off || result == LOCAL_REFUSE ||
        result == LOCAL_LOG_IN)
        return result;
    out->len = start;
    return result == LOCAL_CLOSE ? LOCAL_CLOSE : LOCAL_NO_REPLY;
}

/* A monitor may ask for less; and INFO of all asks the shards, too. */
static bool
keeps_others_waiting(const struct session *session,
                     const struct question *question)
{
    return question->kind == QUESTION_MONITOR ||
        (question->kind == QUESTION_INFO &&
         pool_is_followed(session->pool->settings));
}

static void
ask(const struct incoming *in, struct question *question)
{
    struct session *session = in->session;
    struct session_env *env = session->pool->env;
    struct request *request = request_new(session, in->command);

    question->session_id = session->id;
    question->request_id = request->id;
    question->pool = session->pool->id;
    request_start_deadline(request);
    request_weigh(request, in->bytes.len);
    if (keeps_others_waiting(session, question))
        session->barrier = true;
    env->ask(env, question);
}

bool
local_act(const struct incoming *in)
{
    struct session *session = in->session;
    struct buf *out = &session->pool->env->out;
    struct question question = {0};

    out->len = 0;
    switch (answer(session, in->command, &in->args, out, &question)) {
    case LOCAL_REPLY:
        request_answer_now(session, in->command, buf_view(out));
        break;
    case LOCAL_NO_REPLY:
        break;
    case LOCAL_CLOSE:
        request_answer_now(session, in->command, buf_view(out));
        session_drain(session, CLOSE_CLIENT_QUIT);
        break;
    case LOCAL_ASK:
        ask(in, &question);
        break;
    case LOCAL_LOG_IN:
        identity_ask(in, question.user, question.password);
        break;
    case LOCAL_REFUSE:
        return false;
    }
    cell_inc(&session->pool->stats->requests_local);
    return true;
}
