/*
 * session/local_server.c - what the proxy says of itself, as if it were the
 * one server: PING, ECHO, QUIT, TIME, ROLE, LOLWUT, INFO, COMMAND.
 */
#include <time.h>

#include "base/mem.h"
#include "base/version.h"
#include "command/describe.h"
#include "command/refuse.h"
#include "resp/encode.h"
#include "session/learning.h"
#include "session/local_priv.h"
#include "session/subscriber.h"

/* Not to be taken for a message. */
static void
pong_to_listener(const struct local_call *call)
{
    encode_array(call->out, 2);
    encode_bulk_str(call->out, "pong");
    encode_bulk(call->out,
                call->args->argc == 2 ? local_arg(call, 1) : VIEW(""));
}

enum local_result
local_ping(const struct local_call *call)
{
    if (call->args->argc > 2)
        refuse_wrong_arity(call->out, call->command);
    else if (subscriber_is_old_style(call->session))
        pong_to_listener(call);
    else if (call->args->argc == 2)
        encode_bulk(call->out, local_arg(call, 1));
    else
        encode_simple(call->out, "PONG");
    return LOCAL_REPLY;
}

enum local_result
local_echo(const struct local_call *call)
{
    encode_bulk(call->out, local_arg(call, 1));
    return LOCAL_REPLY;
}

enum local_result
local_quit(const struct local_call *call)
{
    encode_simple(call->out, "OK");
    return LOCAL_CLOSE;
}

enum local_result
local_time(const struct local_call *call)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    encode_array(call->out, 2);
    encode_bulk_u64(call->out, (uint64_t)now.tv_sec);
    encode_bulk_u64(call->out, (uint64_t)now.tv_nsec / 1000);
    return LOCAL_REPLY;
}

/* To its clients the proxy is always a primary, without replicas. */
enum local_result
local_role(const struct local_call *call)
{
    encode_array(call->out, 3);
    encode_bulk_str(call->out, "master");
    encode_integer(call->out, 0);
    encode_array(call->out, 0);
    return LOCAL_REPLY;
}

enum local_result
local_lolwut(const struct local_call *call)
{
    int64_t version;

    if (call->args->argc >= 3 && local_arg_is(call, 1, "VERSION") &&
        !local_integer(local_arg(call, 2), &version))
        return local_error(call, LOCAL_NOT_AN_INTEGER);
    encode_verbatim(call->out, call->session->resp,
                    VIEW("Redis ver. " SERVER_VERSION "\n"));
    return LOCAL_REPLY;
}

/* --- INFO ---------------------------------------------------------------- */

static const char *const info_sections[] = {
    "server",       "clients",    "memory",       "persistence", "stats",
    "replication",  "cpu",        "modules",      "errorstats",  "cluster",
    "commandstats", "keyspace",   "latencystats", "sentinel",    "default",
    "all",          "everything",
};

/* The number of this section as a bit; 0 when there is no such section. */
static uint32_t
info_section_bit(struct view word)
{
    for (uint32_t i = 0; i < ARRAY_LEN(info_sections); i++) {
        if (view_equal_nocase(word, view_str(info_sections[i])))
            return UINT32_C(1) << i;
    }
    return 0;
}

static struct view
info_names(uint32_t wanted, struct buf *out)
{
    size_t start = out->len;

    for (uint32_t i = 0; i < ARRAY_LEN(info_sections); i++) {
        if (!(wanted & UINT32_C(1) << i))
            continue;
        if (out->len > start)
            buf_append_char(out, ' ');
        buf_append_str(out, info_sections[i]);
    }
    return buf_view_from(out, start);
}

/* Whoever collects the text sees only names that mean something. */
enum local_result
local_info(const struct local_call *call)
{
    uint32_t wanted = 0;

    for (uint32_t i = 1; i < call->args->argc; i++)
        wanted |= info_section_bit(local_arg(call, i));
    if (wanted == 0 && call->args->argc > 1) {
        encode_verbatim(call->out, call->session->resp, VIEW(""));
        return LOCAL_REPLY;
    }
    return local_ask(call, QUESTION_INFO,
                     wanted == 0 ? VIEW("") : info_names(wanted, call->out));
}

/* --- the rest ------------------------------------------------------------ */

/* Who is one already is not answered, as by a server. */
enum local_result
local_monitor(const struct local_call *call)
{
    if (session_monitor(call->session) != NULL)
        return LOCAL_NO_REPLY;
    return local_ask(call, QUESTION_MONITOR, VIEW(""));
}

enum local_result
local_command(const struct local_call *call)
{
    struct describe_more more;
    const struct learnt **learnt =
        learning_all(call->session->pool, &more.count);

    more.learnt = learnt;
    describe_reply(call->command, call->args, call->session->resp, &more,
                   call->out);
    mem_free(learnt);
    return LOCAL_REPLY;
}
