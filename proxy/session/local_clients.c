/*
 * session/local_clients.c - CLIENT LIST, KILL, PAUSE, UNPAUSE, UNBLOCK: all
 * clients of the pool.
 *
 * They are at all workers, so each is asked.
 */
#include "resp/encode.h"
#include "session/client_filter.h"
#include "session/local_priv.h"
#include "session/pause.h"

/* --- the words of a filter ----------------------------------------------- */

/* A condition and its word: NULL, or what is wrong with it. */
struct filter_call {
    const struct local_call *call;
    struct client_filter *filter;
    uint32_t at; /* of the word */
};

typedef enum local_result (*filter_fn)(const struct filter_call *in);

/* What handlers of conditions say when nothing is wrong. */
#define FILTER_GOOD LOCAL_ASK

static struct view
filter_word(const struct filter_call *in)
{
    return local_arg(in->call, in->at);
}

static enum local_result
filter_by_id(const struct filter_call *in)
{
    int64_t id;

    if (!local_integer(filter_word(in), &id) || id < 1)
        return local_error(in->call, "ERR client-id should be greater than 0");
    in->filter->id = (uint64_t)id;
    return FILTER_GOOD;
}

static enum local_result
filter_by_type(const struct filter_call *in)
{
    if (client_type_read(filter_word(in), &in->filter->type))
        return FILTER_GOOD;
    return local_error_word(in->call, "ERR Unknown client type '",
                            filter_word(in), "'");
}

/* No address or name has a line's end in it, and none is empty. */
static struct view
filter_text(const struct filter_call *in)
{
    struct view word = filter_word(in);

    if (word.len == 0 || memchr(word.data, '\n', word.len) != NULL ||
        memchr(word.data, '\0', word.len) != NULL)
        in->filter->is_impossible = true;
    return word;
}

static enum local_result
filter_by_addr(const struct filter_call *in)
{
    in->filter->addr = filter_text(in);
    return FILTER_GOOD;
}

static enum local_result
filter_by_laddr(const struct filter_call *in)
{
    in->filter->laddr = filter_text(in);
    return FILTER_GOOD;
}

/* Every client is the default user, unless servers know others: which ones, only
 * they can tell. */
static enum local_result
filter_by_user(const struct filter_call *in)
{
    in->filter->user = filter_text(in);
    if (in->call->session->pool->settings->auth_by_servers ||
        view_equal(in->filter->user, VIEW(LOCAL_DEFAULT_USER)))
        return FILTER_GOOD;
    return local_error_word(in->call, "ERR No such user '", filter_word(in),
                            "'");
}

static enum local_result
filter_skip_me(const struct filter_call *in)
{
    in->filter->skip_me = local_arg_is(in->call, in->at, "yes");
    if (in->filter->skip_me || local_arg_is(in->call, in->at, "no"))
        return FILTER_GOOD;
    return local_error(in->call, LOCAL_SYNTAX_ERROR);
}

static enum local_result
filter_by_age(const struct filter_call *in)
{
    int64_t age_s;

    if (!local_integer(filter_word(in), &age_s))
        return local_error(in->call,
                           "ERR maxage is not an integer or out of range");
    if (age_s < 1)
        return local_error(in->call, "ERR maxage should be greater than 0");
    in->filter->max_age_s = (uint64_t)age_s;
    return FILTER_GOOD;
}

static filter_fn
filter_find(const struct local_call *call, uint32_t at)
{
    static const struct {
        const char *name;
        filter_fn fn;
    } conditions[] = {
        {"id", filter_by_id},      {"type", filter_by_type},
        {"addr", filter_by_addr},  {"laddr", filter_by_laddr},
        {"user", filter_by_user},  {"skipme", filter_skip_me},
        {"maxage", filter_by_age},
    };

    for (size_t i = 0; i < ARRAY_LEN(conditions); i++) {
        if (local_arg_is(call, at, conditions[i].name))
            return conditions[i].fn;
    }
    return NULL;
}

/* FILTER_GOOD, or an error has been answered. */
static enum local_result
filter_parse(const struct local_call *call, struct client_filter *filter)
{
    struct filter_call in = {call, filter, 0};

    client_filter_init(filter);
    for (uint32_t i = 2; i < call->args->argc; i += 2) {
        filter_fn fn = filter_find(call, i);
        if (fn == NULL || i + 1 == call->args->argc)
            return local_error(call, LOCAL_SYNTAX_ERROR);
        in.at = i + 1;
        enum local_result result = fn(&in);
        if (result != FILTER_GOOD)
            return result;
    }
    return FILTER_GOOD;
}

static enum local_result
clients_ask(const struct local_call *call, enum question_kind kind,
            const struct client_filter *filter)
{
    size_t start = call->out->len;

    client_filter_write(filter, call->out);
    return local_ask_from(call, kind, start);
}

/* --- CLIENT LIST --------------------------------------------------------- */

static enum local_result
list_nobody(const struct local_call *call)
{
    encode_verbatim(call->out, call->session->resp, VIEW(""));
    return LOCAL_REPLY;
}

static enum local_result
list_by_id(const struct local_call *call)
{
    size_t start = call->out->len;
    int64_t id;

    if (call->args->argc - 3 > CLIENT_IDS_MAX)
        return local_error(call,
                           "ERR CLIENT LIST takes at most 1024 ids "
                           "through this proxy");
    for (uint32_t i = 3; i < call->args->argc; i++) {
        if (!local_integer(local_arg(call, i), &id)) {
            call->out->len = start;
            return local_error(call, "ERR Invalid client ID");
        }
        if (id > 0)
            buf_printf(call->out, "%s%lld", call->out->len > start ? " " : "",
                       (long long)id);
    }
    if (call->out->len == start)
        return list_nobody(call);
    return local_ask_from(call, QUESTION_CLIENT_IDS, start);
}

enum local_result
local_client_list(const struct local_call *call)
{
    struct client_filter filter;
    uint32_t argc = call->args->argc;

    client_filter_init(&filter);
    if (argc == 2)
        return clients_ask(call, QUESTION_CLIENT_LIST, &filter);
    if (argc > 3 && local_arg_is(call, 2, "ID"))
        return list_by_id(call);
    if (argc != 4 || !local_arg_is(call, 2, "TYPE"))
        return local_error(call, LOCAL_SYNTAX_ERROR);
    enum local_result result = filter_parse(call, &filter);
    if (result != FILTER_GOOD)
        return result;
    return clients_ask(call, QUESTION_CLIENT_LIST, &filter);
}

/* --- CLIENT KILL --------------------------------------------------------- */

static enum local_result
kill_nobody(const struct local_call *call)
{
    encode_integer(call->out, 0);
    return LOCAL_REPLY;
}

/* The address is all it takes, and who asks is not spared. */
static enum local_result
kill_by_address(const struct local_call *call)
{
    struct client_filter filter;
    struct filter_call in = {call, &filter, 2};

    client_filter_init(&filter);
    filter.skip_me = false;
    (void)!filter_by_addr(&in);
    if (filter.is_impossible)
        return local_error(call, "ERR No such client");
    return clients_ask(call, QUESTION_CLIENT_KILL_ONE, &filter);
}

enum local_result
local_client_kill(const struct local_call *call)
{
    struct client_filter filter;

    if (call->args->argc == 3)
        return kill_by_address(call);
    enum local_result result = filter_parse(call, &filter);
    if (result != FILTER_GOOD)
        return result;
    if (filter.is_impossible)
        return kill_nobody(call);
    return clients_ask(call, QUESTION_CLIENT_KILL, &filter);
}

/* --- CLIENT PAUSE, UNPAUSE, UNBLOCK -------------------------------------- */

enum local_result
local_client_pause(const struct local_call *call)
{
    enum pause_mode mode = PAUSE_ALL;
    size_t start = call->out->len;
    int64_t for_ms;

    if (call->args->argc > 4)
        return local_error(call,
                           "ERR unknown subcommand or wrong number of "
                           "arguments for 'PAUSE'. Try CLIENT HELP.");
    if (call->args->argc == 4 && local_arg_is(call, 3, "WRITE"))
        mode = PAUSE_WRITE;
    else if (call->args->argc == 4 && !local_arg_is(call, 3, "ALL"))
        return local_error(call, "ERR CLIENT PAUSE mode must be WRITE or ALL");
    if (!local_integer(local_arg(call, 2), &for_ms))
        return local_error(call,
                           "ERR timeout is not an integer or out of range");
    if (for_ms < 0)
        return local_error(call, "ERR timeout is negative");
    buf_printf(call->out, "%lld %d", (long long)for_ms, (int)mode);
    return local_ask_from(call, QUESTION_CLIENT_PAUSE, start);
}

enum local_result
local_client_unpause(const struct local_call *call)
{
    return local_ask(call, QUESTION_CLIENT_UNPAUSE, VIEW(""));
}

enum local_result
local_client_unblock(const struct local_call *call)
{
    uint32_t argc = call->args->argc;
    bool is_error = argc == 4 && local_arg_is(call, 3, "ERROR");
    size_t start = call->out->len;
    int64_t id;

    if (argc > 4)
        return local_error(call,
                           "ERR unknown subcommand or wrong number of "
                           "arguments for 'UNBLOCK'. Try CLIENT HELP.");
    if (argc == 4 && !is_error && !local_arg_is(call, 3, "TIMEOUT"))
        return local_error(call,
                           "ERR CLIENT UNBLOCK reason should be TIMEOUT or "
                           "ERROR");
    if (!local_integer(local_arg(call, 2), &id))
        return local_error(call, LOCAL_NOT_AN_INTEGER);
    if (id <= 0) {
        encode_integer(call->out, 0);
        return LOCAL_REPLY;
    }
    buf_printf(call->out, "%lld %s", (long long)id,
               is_error ? "ERROR" : "TIMEOUT");
    return local_ask_from(call, QUESTION_CLIENT_UNBLOCK, start);
}
