/*
 * session/clients_survey.c - CLIENT LIST and CLIENT KILL at each worker.
 */
#include "session/client_filter.h"
#include "session/session.h"
#include "session/survey_priv.h"

/* The text of a question about ids is none of ours: whoever puts the lines
 * together picks among them. */
static void
read_filter(const struct survey *survey, struct client_filter *filter)
{
    client_filter_init(filter);
    if (survey->kind != QUESTION_CLIENT_IDS)
        client_filter_read(filter, survey->text);
}

void
clients_survey_list(struct session_pool *pool, const struct survey *survey)
{
    struct client_filter filter;
    struct session *session;
    struct buf lines = {0};

    read_filter(survey, &filter);
    TAILQ_FOREACH (session, &pool->sessions, link) {
        if (client_filter_matches(&filter, session))
            session_describe(session, &lines);
    }
    survey_tell(pool->env, survey, buf_view(&lines));
    buf_fini(&lines);
}

/* Who asks for its own end is answered first. */
static void
kill_one(struct session *session, const struct survey *survey)
{
    if (session->id == survey->session_id)
        session_drain(session, CLOSE_CLIENT_KILLED);
    else
        session_close(&session, CLOSE_CLIENT_KILLED);
}

void
clients_survey_kill(struct session_pool *pool, const struct survey *survey)
{
    struct session *session = TAILQ_FIRST(&pool->sessions);
    struct client_filter filter;
    uint64_t count = 0;

    read_filter(survey, &filter);
    while (session != NULL) {
        struct session *next = TAILQ_NEXT(session, link);
        bool is_spared = filter.skip_me && session->id == survey->session_id;
        if (!is_spared && client_filter_matches(&filter, session)) {
            kill_one(session, survey);
            count++;
        }
        session = next;
    }
    survey_tell_count(pool->env, survey, count);
}
