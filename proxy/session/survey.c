/*
 * session/survey.c - the table of questions, and finding who has asked.
 */
#include "session/survey.h"

#include "resp/encode.h"
#include "session/fanout.h"
#include "session/latency.h"
#include "session/latency_histogram.h"
#include "session/monitor.h"
#include "session/pause.h"
#include "session/relay.h"
#include "session/request.h"
#include "session/session.h"
#include "session/slow_log.h"
#include "session/survey_priv.h"
#include "session/tracker.h"
#include "session/unblock.h"

struct survey_row {
    survey_take_fn take; /* NULL: control answers alone */
    survey_reply_fn reply;
};

/* --- telling ------------------------------------------------------------- */

void
survey_tell(struct session_env *env, const struct survey *survey,
            struct view text)
{
    env->tell(env, survey->id, text);
}

/* --- replies ------------------------------------------------------------- */

static void
reply_text(const struct request *request, struct view text, struct buf *out)
{
    encode_verbatim(out, request->session->resp, text);
}

uint64_t
survey_sum(struct view text)
{
    uint64_t sum = 0, number;

    while (text.len > 0) {
        if (view_to_u64(view_take(&text, '\n'), &number))
            sum += number;
    }
    return sum;
}

static void
reply_sum(const struct request *request UNUSED, struct view text,
          struct buf *out)
{
    encode_integer(out, (int64_t)survey_sum(text));
}

/* The old form of CLIENT KILL names one client. */
static void
reply_killed(const struct request *request UNUSED, struct view text,
             struct buf *out)
{
    if (survey_sum(text) > 0)
        encode_simple(out, "OK");
    else
        encode_error(out, VIEW("ERR No such client"));
}

static void
reply_ok(const struct request *request UNUSED, struct view text UNUSED,
         struct buf *out)
{
    encode_simple(out, "OK");
}

static void
reply_monitor(const struct request *request, struct view text UNUSED,
              struct buf *out)
{
    encode_simple(out, "OK");
    monitor_join(request->session);
}

static const struct survey_row rows[] = {
    [QUESTION_INFO] = {NULL, reply_text},
    [QUESTION_RESETSTAT] = {NULL, NULL},
    [QUESTION_MEMORY_STATS] = {NULL, memory_reply_stats},
    [QUESTION_MEMORY_TEXT] = {NULL, reply_text},
    [QUESTION_CLIENT_IDS] = {clients_survey_list, reply_text},
    [QUESTION_CLIENT_LIST] = {clients_survey_list, reply_text},
    [QUESTION_CLIENT_KILL] = {clients_survey_kill, reply_sum},
    [QUESTION_CLIENT_KILL_ONE] = {clients_survey_kill, reply_killed},
    [QUESTION_CLIENT_PAUSE] = {pause_survey_begin, reply_ok},
    [QUESTION_CLIENT_UNPAUSE] = {pause_survey_end, reply_ok},
    [QUESTION_CLIENT_UNBLOCK] = {unblock_survey, reply_sum},
    [QUESTION_TRACKING_TARGET] = {relay_survey, NULL},
    [QUESTION_MONITOR] = {monitor_survey, reply_monitor},
    [QUESTION_SLOWLOG_GET] = {slow_log_survey_get, slow_log_reply_get},
    [QUESTION_SLOWLOG_LEN] = {slow_log_survey_len, slow_log_reply_len},
    [QUESTION_SLOWLOG_RESET] = {slow_log_survey_reset, reply_ok},
    [QUESTION_LATENCY_LATEST] = {latency_survey_get, latency_reply_latest},
    [QUESTION_LATENCY_HISTORY] = {latency_survey_get, latency_reply_history},
    [QUESTION_LATENCY_RESET] = {latency_survey_reset, latency_reply_reset},
    [QUESTION_LATENCY_DOCTOR] = {latency_survey_get, latency_reply_doctor},
    [QUESTION_LATENCY_GRAPH] = {latency_survey_graph, latency_reply_graph},
    [QUESTION_LATENCY_HISTOGRAM] = {latency_histogram_survey,
                                    latency_histogram_reply},
};

/* --- at each worker ------------------------------------------------------ */

void
survey_tell_count(struct session_env *env, const struct survey *survey,
                  uint64_t count)
{
    struct buf text = {0};

    buf_printf(&text, "%llu\n", (unsigned long long)count);
    survey_tell(env, survey, buf_view(&text));
    buf_fini(&text);
}

void
survey_take(struct session_env *env, const struct survey *survey)
{
    struct session_pool *pool = session_env_find(env, survey->pool);

    if (pool == NULL || rows[survey->kind].take == NULL)
        survey_tell(env, survey, VIEW(""));
    else
        rows[survey->kind].take(pool, survey);
}

/* --- at the worker that asked -------------------------------------------- */

struct session *
session_find(struct session_pool *pool, uint64_t id)
{
    struct session *session;

    TAILQ_FOREACH (session, &pool->sessions, link) {
        if (session->id == id)
            return session;
    }
    return NULL;
}

static struct request *
find_request(struct session *session, uint64_t id)
{
    struct request *request;

    TAILQ_FOREACH (request, &session->queue, link) {
        if (request->id == id && !request->done)
            return request;
    }
    return NULL;
}

/* Its last section is begun and left to us. */
static bool
wants_keyspace(struct view text)
{
    struct view title = VIEW("# Keyspace\r\n");

    return text.len >= title.len &&
        view_equal(view_of(text.data + text.len - title.len, title.len),
                   title);
}

void
survey_answer(struct session_env *env, const struct question *answer)
{
    struct session_pool *pool = session_env_find(env, answer->pool);
    struct session *session =
        pool == NULL ? NULL : session_find(pool, answer->session_id);
    struct request *request =
        session == NULL ? NULL : find_request(session, answer->request_id);
    struct buf reply = {0};

    if (request == NULL)
        return; /* it has gone, or it is too late */
    if (request->job != NULL) {
        fanout_take_own(request, answer->text);
        return;
    }
    if (answer->kind == QUESTION_INFO && wants_keyspace(answer->text)) {
        fanout_keyspace(request, answer->text);
        return;
    }
    if (answer->kind == QUESTION_TRACKING_TARGET) {
        tracker_on_target(request, answer->text);
        return;
    }
    rows[answer->kind].reply(request, answer->text, &reply);
    chain_copy(&request->reply, loop_chunks(env->loop), reply.data, reply.len);
    request_charge(request, reply.len);
    request->reply_bytes = reply.len;
    buf_fini(&reply);
    request_done(request);
}
