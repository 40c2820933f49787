/*
 * tests/replay/steps_questions.c - what a session asks of all workers.
 */
#include "steps_priv.h"

#include "session/monitor.h"
#include "session/survey.h"

void
step_answer_question(struct world *world, const struct args *args)
{
    struct question answer = world->question;
    struct buf text = {0};

    if (!world->is_asked)
        world_fail(world, "nothing was asked");
    talk_expand(&text, args->at[0]);
    answer.text = buf_view(&text);
    survey_answer(&world->env, &answer);
    buf_fini(&text);
}

/* Ours is the only worker; it tells now or later. */
void
step_ask_workers(struct world *world, const struct args *args)
{
    const struct question *question = &world->question;
    struct survey survey = {
        .kind = question->kind,
        .pool = question->pool,
        .session_id = question->session_id,
        .text = buf_view(&world->question_text),
    };

    (void)args;
    if (!world->is_asked)
        world_fail(world, "nothing was asked");
    if (survey.kind == QUESTION_MONITOR)
        monitor_set_places(&world->env, survey.pool, MONITORS_HERE);
    survey_take(&world->env, &survey);
}

void
step_expect_question(struct world *world, const struct args *args)
{
    bool is_info = view_equal(args->at[0], VIEW("info"));

    if (!world->is_asked)
        world_fail(world, "nothing was asked");
    if (is_info != (world->question.kind == QUESTION_INFO))
        world_fail(world, "something else was asked");
}
