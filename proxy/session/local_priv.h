/*
 * session/local_priv.h - what the files of the local commands share.
 *
 * A handler appends one reply to call->out and says so; local.c has the table
 * from commands to handlers.
 */
#ifndef SESSION_LOCAL_PRIV_H
#define SESSION_LOCAL_PRIV_H

#include "session/local.h"

/* A client's name, lib-name or lib-ver.  Servers have no limit of their own;
 * this one keeps 10,000 clients from pinning more than some megabytes. */
#define CLIENT_TEXT_MAX 1024

/* Ids in one CLIENT LIST: each may yield a line of CLIENT_TEXT_MAX times 3. */
#define CLIENT_IDS_MAX 1024

/* What a handler has come to.
 *
 * For LOCAL_ASK local_ask() has filled question->kind and ->text in (the text may
 * point into `out`, which then holds no reply).
 *
 *   QUESTION_INFO          text: names of sections in lower case, each once,
 *                          that redis-server knows; empty: the default ones
 *   QUESTION_CLIENT_IDS    text: ids that are asked for
 *   others                 see session/env.h
 */
enum local_result {
    LOCAL_REPLY,    /* `out` holds the reply */
    LOCAL_NO_REPLY, /* none is due (CLIENT REPLY OFF) */
    LOCAL_CLOSE,    /* `out` holds the reply; then drain and close (QUIT) */
    LOCAL_ASK,      /* *question is to be asked; its answer is the reply */
    LOCAL_LOG_IN,   /* servers are to be asked: question->user and ->password */
    LOCAL_REFUSE    /* not answered here: refuse it as unsupported */
};

struct local_call {
    struct session *session;
    const struct command *command;
    const struct command_args *args;
    struct buf *out;
    struct question *question;
};

typedef enum local_result (*local_fn)(const struct local_call *call);

/* --- local.c: ways to answer --------------------------------------------- */

static inline struct view
local_arg(const struct local_call *call, uint32_t i)
{
    return command_arg(call->args, i);
}

/* All workers are to be asked. */
static inline enum local_result
local_ask(const struct local_call *call, enum question_kind kind,
          struct view text)
{
    call->question->kind = kind;
    call->question->text = text;
    return LOCAL_ASK;
}

/* The same; the text is what stands in call->out from `start` on. */
static inline enum local_result
local_ask_from(const struct local_call *call, enum question_kind kind,
               size_t start)
{
    return local_ask(call, kind, buf_view_from(call->out, start));
}

/* Is word i this one? Letters compare without case. */
bool local_arg_is(const struct local_call *call, uint32_t i,
                  const char *word) MUST_CHECK;

/* Integers as servers read them: one spelling each, so no leading zero. */
bool local_integer(struct view text, int64_t *value) MUST_CHECK;

enum local_result local_ok(const struct local_call *call);
/* `text` with its code: "ERR syntax error". */
enum local_result local_error(const struct local_call *call, const char *text);
/* With a word of the client in the middle: up to a NUL, as servers repeat
 * words, and not for ever. */
enum local_result local_error_word(const struct local_call *call,
                                   const char *before, struct view word,
                                   const char *after);

#define LOCAL_SYNTAX_ERROR "ERR syntax error"
#define LOCAL_NOT_AN_INTEGER "ERR value is not an integer or out of range"

/* --- local_client.c: names ----------------------------------------------- */

/* NULL when this may be a client's name, else the error. */
const char *client_name_error(struct view name) MUST_CHECK;
/* An empty name takes the old one away. */
void client_set_name(struct session *session, struct view name);

/* --- local_auth.c -------------------------------------------------------- */

#define LOCAL_DEFAULT_USER "default"
#define LOCAL_WRONGPASS \
    "WRONGPASS invalid username-password pair or user is disabled."

/* Remember that the client is who it says; false (counted) if it is not. */
bool local_authenticate(struct session *session, struct view user,
                        struct view password) MUST_CHECK;

/* With auth: servers: as whom it wants to be known. */
enum local_result local_log_in(const struct local_call *call, struct view user,
                               struct view password);

/* --- local_hello.c ------------------------------------------------------- */

/* The answer to HELLO whose AUTH servers have taken. */
void local_hello_known(struct session *session, const struct command *command,
                       const struct command_args *args, struct buf *out);

/* --- handlers ------------------------------------------------------------ */

#define LOCAL_HANDLER(name) \
    enum local_result local_##name(const struct local_call *call)

/* local_auth.c */
LOCAL_HANDLER(auth);
LOCAL_HANDLER(select);
LOCAL_HANDLER(reset);
LOCAL_HANDLER(whoami);

/* local_hello.c */
LOCAL_HANDLER(hello);

/* local_client.c */
LOCAL_HANDLER(client_getname);
LOCAL_HANDLER(client_setname);
LOCAL_HANDLER(client_setinfo);
LOCAL_HANDLER(client_id);
LOCAL_HANDLER(client_info);
LOCAL_HANDLER(client_reply);
LOCAL_HANDLER(client_on_off);
LOCAL_HANDLER(client_capa);

/* local_tracking.c */
LOCAL_HANDLER(client_caching);
LOCAL_HANDLER(client_getredir);
LOCAL_HANDLER(client_tracking);
LOCAL_HANDLER(client_trackinginfo);

/* local_clients.c */
LOCAL_HANDLER(client_list);
LOCAL_HANDLER(client_kill);
LOCAL_HANDLER(client_pause);
LOCAL_HANDLER(client_unpause);
LOCAL_HANDLER(client_unblock);

/* local_slow.c */
LOCAL_HANDLER(slowlog_get);
LOCAL_HANDLER(slowlog_len);
LOCAL_HANDLER(slowlog_reset);
LOCAL_HANDLER(latency_latest);
LOCAL_HANDLER(latency_history);
LOCAL_HANDLER(latency_reset);
LOCAL_HANDLER(latency_doctor);
LOCAL_HANDLER(latency_graph);
LOCAL_HANDLER(latency_histogram);

/* local_config.c */
LOCAL_HANDLER(config_get);

/* local_memory.c */
LOCAL_HANDLER(memory_stats);
LOCAL_HANDLER(memory_doctor);
LOCAL_HANDLER(memory_malloc_stats);
LOCAL_HANDLER(also_purge);

/* local_script.c */
LOCAL_HANDLER(script_show);

/* local_server.c */
LOCAL_HANDLER(ping);
LOCAL_HANDLER(echo);
LOCAL_HANDLER(quit);
LOCAL_HANDLER(time);
LOCAL_HANDLER(role);
LOCAL_HANDLER(lolwut);
LOCAL_HANDLER(info);
LOCAL_HANDLER(monitor);
LOCAL_HANDLER(command);

/* local_cluster.c */
LOCAL_HANDLER(cluster);
LOCAL_HANDLER(asking);
LOCAL_HANDLER(readonly);
LOCAL_HANDLER(readwrite);

#undef LOCAL_HANDLER

#endif
