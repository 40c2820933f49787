/*
 * session/local_slow.c - SLOWLOG and LATENCY.
 */
#include "resp/encode.h"
#include "session/latency.h"
#include "session/local_priv.h"
#include "session/slow_log.h"

#define GET_COUNT 10 /* that SLOWLOG GET gives when it is not told */

/* --- SLOWLOG ------------------------------------------------------------- */

/* As in redis-server, anything but a number above -2 is out of range. */
static bool
read_count(const struct local_call *call, int64_t *count)
{
    *count = GET_COUNT;
    if (call->args->argc > 2 &&
        (!local_integer(local_arg(call, 2), count) || *count < -1))
        return false;
    if (*count == -1)
        *count = INT64_MAX;
    return true;
}

enum local_result
local_slowlog_get(const struct local_call *call)
{
    uint32_t argc = call->args->argc;
    bool has_details = argc == 4 && local_arg_is(call, 3, "DETAILS");
    size_t start = call->out->len;
    int64_t count;

    if (!slow_log_is_on(call->session->pool))
        return LOCAL_REFUSE;
    if (argc > 3 && !has_details)
        return local_error(call,
                           "ERR unknown subcommand or wrong number of "
                           "arguments for 'GET'. Try SLOWLOG HELP.");
    if (!read_count(call, &count))
        return local_error(
            call, "ERR count should be greater than or equal to -1");
    buf_printf(call->out, "%lld %d %d", (long long)count, has_details,
               call->session->resp);
    return local_ask_from(call, QUESTION_SLOWLOG_GET, start);
}

enum local_result
local_slowlog_len(const struct local_call *call)
{
    if (!slow_log_is_on(call->session->pool))
        return LOCAL_REFUSE;
    return local_ask(call, QUESTION_SLOWLOG_LEN, VIEW(""));
}

enum local_result
local_slowlog_reset(const struct local_call *call)
{
    if (!slow_log_is_on(call->session->pool))
        return LOCAL_REFUSE;
    return local_ask(call, QUESTION_SLOWLOG_RESET, VIEW(""));
}

/* --- LATENCY ------------------------------------------------------------- */

/* Words that nothing has for a name do no harm. */
static enum local_result
ask_of_names(const struct local_call *call, enum question_kind kind)
{
    size_t start = call->out->len;

    for (uint32_t i = 2; i < call->args->argc; i++) {
        buf_append_str(call->out, i > 2 ? " " : "");
        buf_append_view(call->out, local_arg(call, i));
    }
    return local_ask_from(call, kind, start);
}

enum local_result
local_latency_latest(const struct local_call *call)
{
    return ask_of_names(call, QUESTION_LATENCY_LATEST);
}

enum local_result
local_latency_history(const struct local_call *call)
{
    if (local_arg(call, 2).len == 0) {
        encode_array(call->out, 0);
        return LOCAL_REPLY;
    }
    return ask_of_names(call, QUESTION_LATENCY_HISTORY);
}

enum local_result
local_latency_reset(const struct local_call *call)
{
    return ask_of_names(call, QUESTION_LATENCY_RESET);
}

enum local_result
local_latency_doctor(const struct local_call *call)
{
    return ask_of_names(call, QUESTION_LATENCY_DOCTOR);
}

enum local_result
local_latency_graph(const struct local_call *call)
{
    if (latency_is_event(local_arg(call, 2)))
        return ask_of_names(call, QUESTION_LATENCY_GRAPH);
    return local_error_word(call, "ERR No samples available for event '",
                            local_arg(call, 2), "'");
}

enum local_result
local_latency_histogram(const struct local_call *call)
{
    if (call->args->argc == 3 && local_arg(call, 2).len == 0) {
        encode_map(call->out, call->session->resp, 0);
        return LOCAL_REPLY;
    }
    return ask_of_names(call, QUESTION_LATENCY_HISTOGRAM);
}
